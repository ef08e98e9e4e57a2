/** One open entry: read, and edited in the same place. */
import type { FunctionComponent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Entry, WriteResult } from '../engine/api.ts';
import type { BodyEditorProps } from '../editor/body-editor.tsx';
import { beginEdit, dropEdit, fieldDrafts } from '../state/drafts.ts';
import { noteTitles } from '../state/entries.ts';
import { announcement, drawer, editing, toggleDrawer } from '../state/panels.ts';
import { closeEntry, goEntry } from '../state/route.ts';
import { campaignId, chooseCampaign, describeError, engine, members, onChanged, onNames, attempt } from '../state/session.ts';
import { kindName } from '../text/words.ts';
import { AuthorName, DeliveryMark, IconButton, Quiet, SealBadge, Time } from './bits.tsx';
import { Threads } from './card.tsx';
import { ContestedPanel } from './contested.tsx';
import { Dialog } from './dialog.tsx';
import { FieldsForm } from './fields-form.tsx';
import { KindGlyph, SignGlyph } from './glyphs.tsx';
import { Markdown } from './markdown.tsx';
import { focusIsLost } from './return.ts';

let BodyEditor: FunctionComponent<BodyEditorProps> | null = null;

/** Fetches the editor's code: when editing starts, or a little before. */
export function loadEditor(): Promise<void> {
  return import('../editor/body-editor.tsx').then((module) => {
    BodyEditor = module.BodyEditor;
  });
}

type Loaded = Entry | 'gone' | null;

/** The entry as it is now, followed through every change. */
function useEntry(id: string): [Loaded, (entry: Entry) => void] {
  const [entry, setEntry] = useState<Loaded>(null);
  useEffect(() => {
    let live = true;
    const load = () => {
      attempt(
        engine.call('get', { entry: id }).then((found) => {
          if (!live) return;
          if (found === null) {
            setEntry('gone');
            return;
          }
          noteTitles([found]);
          setEntry(found);
          if (found.campaign !== campaignId.peek()) {
            chooseCampaign(found.campaign);
            goEntry(id);
          }
        }),
      );
    };
    load();
    const end = onChanged((event) => {
      if (event.forgotten.includes(id)) setEntry('gone');
      // Without entries: the relay acknowledged something, and the delivery mark may say more.
      else if (event.entries.length === 0 || event.entries.includes(id)) load();
    });
    const endNames = onNames(load);
    return () => {
      live = false;
      end();
      endNames();
    };
  }, [id]);
  return [entry, setEntry];
}

function Forget({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const forget = async () => {
    setBusy(true);
    let expected = entry.revision;
    try {
      let result: WriteResult = await engine.call('forget', { entry: entry.id, expected });
      if (result.outcome === 'stale') {
        // Forgetting wins over every edit, so a newer state changes nothing about what was asked.
        expected = result.current.revision;
        result = await engine.call('forget', { entry: entry.id, expected });
      }
      if (result.outcome === 'stale') {
        setError('Others are changing this entry right now. Try again in a moment.');
        setBusy(false);
        return;
      }
      announcement.value = `Forgotten: ${entry.title}`;
      onClose();
      closeEntry();
    } catch (problem) {
      setError(describeError(problem));
      setBusy(false);
    }
  };
  return (
    <Dialog label="Forget this entry?" testId="forget-dialog" onClose={onClose}>
      <div class="stack">
        <p>
          “{entry.title}” goes away for everyone at the table, with its text and its history. Edits that someone makes meanwhile go
          with it, and it cannot come back.
        </p>
        <p class="hint">What others have read or copied, they still know.</p>
        {error !== null && (
          <p class="form-error" role="alert">
            {error}
          </p>
        )}
        <div class="actions">
          <button type="button" class="button button-primary" data-testid="forget-confirm" disabled={busy} onClick={() => void forget()}>
            {busy ? 'Forgetting…' : 'Forget it'}
          </button>
          <button type="button" class="button" autofocus onClick={onClose}>
            Keep it
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function Facts({ entry }: { entry: Entry }) {
  const draft = fieldDrafts.value.get(entry.id);
  if (draft !== undefined) {
    return (
      <>
        <h1 class="sr-only">{entry.title}</h1>
        <FieldsForm id={entry.id} draft={draft} />
      </>
    );
  }
  return (
    <>
      <h1 class="entry-title" data-testid="entry-title">
        {entry.title}
      </h1>
      {entry.aliases.length > 0 && <p class="entry-aliases">also {entry.aliases.join(', ')}</p>}
      <dl class="facts">
        {entry.when !== null && (
          <div>
            <dt>When</dt>
            <dd>
              <button type="button" class="fact" data-testid="entry-when" title="Change when" onClick={() => beginEdit(entry, 'when')}>
                {entry.when}
              </button>
            </dd>
          </div>
        )}
        {entry.status !== null && (
          <div>
            <dt>Status</dt>
            <dd>
              <button type="button" class="fact" data-testid="entry-status" title="Change the status" onClick={() => beginEdit(entry, 'status')}>
                {entry.status}
              </button>
            </dd>
          </div>
        )}
        <div>
          <dt>Written</dt>
          <dd>
            <AuthorName author={entry.createdBy} />, <Time at={entry.createdAt} />
          </dd>
        </div>
        {entry.updatedAt !== entry.createdAt && (
          <div>
            <dt>Changed</dt>
            <dd>
              <AuthorName author={entry.updatedBy} />, <Time at={entry.updatedAt} />
            </dd>
          </div>
        )}
      </dl>
      <Threads threads={entry.threads} />
    </>
  );
}

function Others({ entry }: { entry: Entry }) {
  const here = members.value.filter((member) => member.here && !member.author.self && member.editing?.entry === entry.id);
  if (here.length === 0) return null;
  return (
    <p class="others" role="status" data-testid="others-editing">
      {here.map((member, index) => (
        <>
          {index > 0 && ', '}
          <AuthorName author={member.author} />
        </>
      ))}{' '}
      {here.length === 1 ? 'is' : 'are'} in this entry now
    </p>
  );
}

/** Entries that name this one, by any of its names. */
function Mentions({ entry }: { entry: Entry }) {
  const [found, setFound] = useState<Entry[]>([]);
  const names = [entry.title, ...entry.aliases].map((name) => name.toLocaleLowerCase());
  useEffect(() => {
    attempt(
      engine.call('recall', { campaign: entry.campaign, queries: [entry.title], limit: 40 }).then(({ hits }) => {
        setFound(
          hits
            .map((hit) => hit.entry)
            .filter((other) => other.id !== entry.id && names.some((name) => other.body.toLocaleLowerCase().includes(name))),
        );
      }),
    );
  }, [entry.id, entry.title]);
  if (found.length === 0) return null;
  return (
    <section class="mentions" aria-labelledby="mentions-title">
      <h2 id="mentions-title">Named in</h2>
      <ul>
        {found.map((other) => (
          <li key={other.id}>
            <button type="button" class="mention" data-testid="mention" onClick={() => goEntry(other.id)}>
              <KindGlyph kind={other.kind} size={17} /> {other.title}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function EntryView({ id }: { id: string }) {
  const [entry] = useEntry(id);
  const [forgetting, setForgetting] = useState(false);
  const [, setEditorReady] = useState(BodyEditor !== null);
  const article = useRef<HTMLElement>(null);
  const isOpen = entry !== null && entry !== 'gone';
  const campaign = isOpen ? entry.campaign : null;

  // The reader comes in at the top, with the keyboard.
  useEffect(() => {
    if (isOpen) article.current?.focus({ preventScroll: true });
    article.current?.closest('.centre')?.scrollTo(0, 0);
  }, [id, isOpen]);
  useEffect(() => () => void (editing.value = false), [id]);
  useEffect(() => {
    // The editor took the focus with it: reading goes on.
    if (!editing.value && isOpen && focusIsLost()) article.current?.querySelector<HTMLElement>('[data-testid=edit-text]')?.focus({ preventScroll: true });
  }, [editing.value]);
  useEffect(() => {
    if (!editing.value) {
      if (campaign !== null) attempt(engine.call('presence', { campaign, entry: null, caret: null }));
      return;
    }
    attempt(loadEditor().then(() => setEditorReady(true)));
  }, [editing.value, campaign]);

  if (entry === null) return <div class="loading" aria-hidden="true" />;
  if (entry === 'gone') {
    const draft = fieldDrafts.value.get(id);
    return (
      <section class="column">
        <Quiet title="This entry was forgotten" testId="entry-gone">
          {draft !== undefined && <p>You were writing: {Object.values(draft.values).filter(Boolean).join(' · ')}</p>}
          <button
            type="button"
            class="button"
            onClick={() => {
              dropEdit(id);
              closeEntry();
            }}
          >
            Back to the codex
          </button>
        </Quiet>
      </section>
    );
  }
  const draft = fieldDrafts.value.get(id);
  return (
    <article class="column entry" ref={article} tabIndex={-1} data-testid="entry-view" data-entry={entry.id} aria-label={entry.title}>
      <div class="entry-bar">
        <button type="button" class="back" data-testid="entry-back" onClick={closeEntry}>
          <SignGlyph sign="back" size={16} /> Codex
        </button>
        <span class="entry-tools">
          <DeliveryMark delivery={entry.delivery} saving={draft?.state === 'saving'} />
          <IconButton sign="history" label="History" keys="h" testId="entry-history" pressed={drawer.value === 'history'} onClick={() => toggleDrawer('history')} />
          <IconButton sign="bin" label="Forget this entry" testId="entry-forget" onClick={() => setForgetting(true)} />
        </span>
      </div>
      <p class="entry-kind">
        <button type="button" class="fact" data-testid="entry-kind" title="Change the kind" onClick={() => beginEdit(entry, 'kind')}>
          <KindGlyph kind={entry.kind} size={18} /> {kindName(entry.kind)}
        </button>
        <SealBadge audience={entry.audience} />
        {draft === undefined && (
          <button type="button" class="link" data-testid="edit-fields" onClick={() => beginEdit(entry)}>
            Edit the fields
          </button>
        )}
      </p>
      <Facts entry={entry} />
      <ContestedPanel entry={entry} />
      <div class="entry-text">
        <div class="entry-text-bar">
          <Others entry={entry} />
          <button
            type="button"
            class="button"
            data-testid="edit-text"
            aria-pressed={editing.value}
            onPointerEnter={() => void loadEditor()}
            onClick={() => (editing.value = !editing.value)}
          >
            <SignGlyph sign={editing.value ? 'check' : 'edit'} size={16} /> {editing.value ? 'Done' : 'Edit'} <kbd>{editing.value ? 'Esc' : 'e'}</kbd>
          </button>
        </div>
        {editing.value && BodyEditor !== null ? (
          <BodyEditor entry={entry} />
        ) : entry.body.trim() === '' ? (
          <button type="button" class="entry-blank" onClick={() => (editing.value = true)}>
            Nothing is written here yet. Write.
          </button>
        ) : (
          <Markdown text={entry.body} />
        )}
      </div>
      <Mentions entry={entry} />
      {forgetting && <Forget entry={entry} onClose={() => setForgetting(false)} />}
    </article>
  );
}
