/** One entry as a card. */
import { useState } from 'preact/hooks';
import type { Entry } from '../engine/api.ts';
import { beginEdit, fieldDrafts, settled } from '../state/drafts.ts';
import { goCodex, goEntry } from '../state/route.ts';
import { clearQuestion, question } from '../state/search.ts';
import { firstLines } from '../text/excerpt.ts';
import { kindName } from '../text/words.ts';
import { AuthorName, DeliveryMark, IconButton, SealBadge, Time } from './bits.tsx';
import { ContestedBadge, ContestedPanel } from './contested.tsx';
import { FieldsForm } from './fields-form.tsx';
import { KindGlyph } from './glyphs.tsx';

interface CardProps {
  entry: Entry;
  /** Position among `size` in the feed, from 1. */
  position?: number;
  size?: number;
  /** Above the title: relevance and why, in results. */
  lead?: preact.ComponentChildren;
  /** Instead of the first lines. */
  excerpt?: preact.ComponentChildren;
}

export function Threads({ threads }: { threads: readonly string[] }) {
  if (threads.length === 0) return null;
  return (
    <ul class="threads" aria-label="Threads">
      {threads.map((thread) => (
        <li key={thread}>
          <button
            type="button"
            class="thread"
            data-testid="thread"
            onClick={(event) => {
              event.stopPropagation();
              if (question.value !== '') clearQuestion();
              goCodex({ thread });
            }}
          >
            {thread}
          </button>
        </li>
      ))}
    </ul>
  );
}

export function Card({ entry, position, size, lead, excerpt }: CardProps) {
  const draft = fieldDrafts.value.get(entry.id);
  const [contestedOpen, setContestedOpen] = useState(false);
  const titleId = `title-${entry.id}`;
  return (
    <article
      class="card"
      data-testid="entry-card"
      data-entry={entry.id}
      aria-labelledby={titleId}
      aria-posinset={position}
      aria-setsize={size}
      onClick={(event) => {
        // The whole card opens the entry, except where something else answers or text is selected.
        if ((event.target as Element).closest('button, a, input, select, textarea, .delivery, form') !== null) return;
        if (getSelection()?.isCollapsed === false) return;
        goEntry(entry.id);
      }}
    >
      {lead}
      <header class="card-head">
        <span class="card-kind">
          <KindGlyph kind={entry.kind} size={17} />
          {kindName(entry.kind)}
        </span>
        {entry.status !== null && <span class="card-status">{entry.status}</span>}
        <SealBadge audience={entry.audience} />
        <ContestedBadge entry={entry} open={contestedOpen} onToggle={() => setContestedOpen(!contestedOpen)} />
        <span class="card-tools">
          <IconButton sign="edit" label={`Edit the fields of ${entry.title}`} testId="card-edit" onClick={() => beginEdit(entry)} />
          <DeliveryMark delivery={entry.delivery} saving={draft?.state === 'saving'} />
        </span>
      </header>
      {draft === undefined ? (
        <h2 class="card-title" id={titleId}>
          <button type="button" data-testid="card-title" onClick={() => goEntry(entry.id)}>
            {entry.title}
          </button>
        </h2>
      ) : (
        <>
          <h2 class="sr-only" id={titleId}>
            {entry.title}
          </h2>
          <FieldsForm id={entry.id} draft={draft} />
        </>
      )}
      {(contestedOpen || settled.value?.entry === entry.id) && <ContestedPanel entry={entry} />}
      {excerpt ?? (entry.body !== '' && <p class="card-text">{firstLines(entry.body)}</p>)}
      <footer class="card-foot">
        <Threads threads={entry.threads} />
        <p class="card-facts">
          {entry.when !== null && <span class="card-when">{entry.when}</span>}
          <Time at={entry.updatedAt} />
          <AuthorName author={entry.updatedBy} />
        </p>
      </footer>
    </article>
  );
}
