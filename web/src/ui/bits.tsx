/** Small pieces that many views share. */
import type { ComponentChildren } from 'preact';
import type { Audience, Author, Delivery } from '../engine/api.ts';
import { ago, exactly, isoTime } from '../text/time.ts';
import { authorName, deliveryWords } from '../text/words.ts';
import { SignGlyph, type Sign } from './glyphs.tsx';

/** Who wrote it; an agent is always told apart, by sign and by word. */
export function AuthorName({ author }: { author: Author }) {
  return (
    <span class="author" data-testid="author" data-agent={author.agent || undefined}>
      {author.agent && <SignGlyph sign="agent" size={14} />}
      {authorName(author)}
      {author.agent && <span class="author-agent">agent</span>}
    </span>
  );
}

/** The wax seal of what only the keeper's circle can read; what all may read bears none. */
export function SealBadge({ audience }: { audience: Audience }) {
  if (audience !== 'keeper') return null;
  return (
    <span class="seal" data-testid="seal" title="Sealed for the keeper and co-keepers: no one else at the table can read it">
      <SignGlyph sign="seal" size={15} /> Keeper only
    </span>
  );
}

export function Time({ at }: { at: number }) {
  return (
    <time dateTime={isoTime(at)} title={exactly(at)}>
      {ago(at)}
    </time>
  );
}

/** Where the newest change of this entry has got to: a small sign, its words on hover and focus. */
export function DeliveryMark({ delivery, saving = false }: { delivery: Delivery; saving?: boolean }) {
  const words = saving ? 'Being saved' : deliveryWords(delivery);
  const sign: Sign =
    delivery.state === 'received' ? 'table'
    : delivery.seenBy.length > 0 ? 'seen'
    : delivery.state === 'relay' ? 'relay'
    : 'device';
  return (
    <span
      class="delivery"
      tabIndex={0}
      role="img"
      aria-label={words}
      data-testid="delivery"
      data-state={saving ? 'saving' : delivery.state}
    >
      {saving ? <span class="spinner" /> : <SignGlyph sign={sign} size={15} />}
      <span class="delivery-words" aria-hidden="true">
        {words}
      </span>
    </span>
  );
}

interface IconButtonProps {
  sign: Sign;
  label: string;
  onClick: () => void;
  testId?: string;
  pressed?: boolean;
  keys?: string;
}

/** A button that shows a sign only; its words are its name and its tooltip. */
export function IconButton({ sign, label, onClick, testId, pressed, keys }: IconButtonProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={keys === undefined ? label : `${label} (${keys})`}
      data-testid={testId}
      aria-pressed={pressed}
      onClick={onClick}
    >
      <SignGlyph sign={sign} />
    </button>
  );
}

/** A state that the page explains instead of showing nothing. */
export function Quiet({ title, children, testId }: { title: string; children?: ComponentChildren; testId?: string }) {
  return (
    <div class="quiet" data-testid={testId}>
      <p class="quiet-title">{title}</p>
      {children}
    </div>
  );
}
