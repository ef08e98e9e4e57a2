/** Concurrent values of one field: shown side by side, settled with one click, taken back with one more. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Contested, Entry, PlainField } from '../engine/api.ts';
import { settled, type Settlement } from '../state/drafts.ts';
import { list, patchList } from '../state/entries.ts';
import { announcement } from '../state/panels.ts';
import { campaignId, describeError, engine } from '../state/session.ts';
import { FIELD_NAMES, fieldValue, kindName } from '../text/words.ts';
import { AuthorName, Time } from './bits.tsx';
import { kindChoices } from './fields-form.tsx';
import { SignGlyph } from './glyphs.tsx';
import { focusIsLost } from './return.ts';

function valueOf(entry: Entry, field: PlainField): string | null {
  return entry[field];
}

/** Settles over the newest revision: others' unrelated changes do not stand in the way. */
async function settle(entry: Entry, field: PlainField, value: string | null): Promise<string | null> {
  let current = entry;
  // Each refusal brings the newer state; a third means that others are busy in this very entry.
  for (let tries = 0; tries < 3; tries += 1) {
    const result = await engine.call('settle', { entry: entry.id, expected: current.revision, field, value });
    if (result.outcome === 'forgotten') return 'This entry was forgotten meanwhile.';
    if (result.outcome === 'done') {
      patchList(result.entry);
      const before = valueOf(entry, field);
      // Where the shown value was kept, what one may have meant is the other one.
      const other = entry.contested.find((one) => one.field === field)?.candidates.find((one) => one.value !== value);
      const instead = before === value ? (other?.value ?? null) : before;
      settled.value = { campaign: entry.campaign, entry: entry.id, field, before, chosen: value, instead, revision: result.entry.revision };
      announcement.value = `${FIELD_NAMES[field]} settled`;
      return null;
    }
    if (!result.current.contested.some((one) => one.field === field)) return 'Someone else has just settled this.';
    current = result.current;
  }
  return 'Others are changing this entry right now. Try again in a moment.';
}

async function takeBack(undo: Settlement): Promise<string | null> {
  const patch = undo.field === 'kind' || undo.field === 'title' ? { [undo.field]: undo.instead ?? '' } : { [undo.field]: undo.instead };
  const result = await engine.call('revise', { entry: undo.entry, expected: undo.revision, patch });
  if (result.outcome === 'done') {
    patchList(result.entry);
    settled.value = null;
    return null;
  }
  settled.value = null;
  return 'The entry has changed since. Its history still holds both values.';
}

/** On a card: plainly, that something waits to be settled. */
export function ContestedBadge({ entry, open, onToggle }: { entry: Entry; open: boolean; onToggle: () => void }) {
  if (entry.contested.length === 0) return null;
  const fields = entry.contested.map((one) => FIELD_NAMES[one.field].toLowerCase()).join(', ');
  return (
    <button type="button" class="contested-badge" data-testid="contested" aria-expanded={open} onClick={onToggle}>
      <SignGlyph sign="split" size={14} /> Contested: {fields}
    </button>
  );
}

function Choice({ entry, contested }: { entry: Entry; contested: Contested }) {
  const [third, setThird] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const { field, candidates } = contested;
  const pick = (value: string | null) => {
    setBusy(true);
    settle(entry, field, value)
      .then(setError, (problem: unknown) => setError(describeError(problem)))
      .finally(() => setBusy(false));
  };
  return (
    <fieldset class="contest" disabled={busy} data-testid="contested-field" data-field={field}>
      <legend>{FIELD_NAMES[field]}: changed in two places at once. Which one holds?</legend>
      <div class="contest-sides">
        {candidates.map((candidate) => (
          <div class="contest-side" key={`${candidate.by.id}:${candidate.value ?? ''}`} data-testid="candidate">
            <p class="contest-value">{fieldValue(field, candidate.value)}</p>
            <p class="contest-by">
              <AuthorName author={candidate.by} /> <Time at={candidate.at} />
            </p>
            <button type="button" class="button" data-testid="settle" aria-label={`Keep this: ${fieldValue(field, candidate.value)}`} onClick={() => pick(candidate.value)}>
              Keep this
            </button>
          </div>
        ))}
      </div>
      {third === null ? (
        <button type="button" class="link" data-testid="write-third" onClick={() => setThird('')}>
          Write another
        </button>
      ) : (
        <div class="contest-third">
          {field === 'kind' ? (
            <select aria-label="Another kind" value={third} onChange={(event) => setThird(event.currentTarget.value)}>
              <option value="">Choose a kind</option>
              {kindChoices(entry.kind).map((kind) => (
                <option key={kind} value={kind}>
                  {kindName(kind)}
                </option>
              ))}
            </select>
          ) : (
            <input
              ref={(input) => input?.focus()}
              aria-label={`Another ${FIELD_NAMES[field].toLowerCase()}`}
              data-testid="third-value"
              maxLength={200}
              value={third}
              onInput={(event) => setThird(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && third.trim() !== '') pick(third.trim());
              }}
            />
          )}
          <button type="button" class="button" data-testid="settle-third" disabled={third.trim() === ''} onClick={() => pick(third.trim())}>
            Settle on this
          </button>
        </div>
      )}
      {error !== null && (
        <p class="form-error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

/**
 * Above a list from which the settled entry has just gone, as from the list of what is contested:
 * the undo stays within reach.
 */
export function SettledElsewhere() {
  const undo = settled.value?.campaign === campaignId.value ? settled.value : null;
  const [error, setError] = useState<string | null>(null);
  if (undo === null && error === null) return null;
  if (undo !== null) for (const entry of list.value.rows.values()) if (entry.id === undo.entry) return null;
  return (
    <div class="notice">
      {undo !== null && <Settled undo={undo} onError={setError} />}
      {error !== null && (
        <p class="form-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

function Settled({ undo, onError }: { undo: Settlement; onError: (error: string | null) => void }) {
  const words = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    // The button that was pressed has gone: the keyboard goes on at the undo.
    const frame = requestAnimationFrame(() => {
      if (focusIsLost()) words.current?.querySelector('button')?.focus();
    });
    return () => cancelAnimationFrame(frame);
  }, []);
  return (
    <p class="settled" role="status" data-testid="settled" ref={words}>
      <SignGlyph sign="check" size={16} /> {FIELD_NAMES[undo.field]} settled on “{fieldValue(undo.field, undo.chosen)}”.{' '}
      {undo.instead !== undo.chosen && (
        <button
          type="button"
          class="link"
          data-testid="settle-undo"
          onClick={() => {
            takeBack(undo).then(onError, (problem: unknown) => onError(describeError(problem)));
          }}
        >
          {undo.instead === undo.before ? 'Undo' : `Take “${fieldValue(undo.field, undo.instead)}” instead`}
        </button>
      )}{' '}
      <button type="button" class="link" onClick={() => (settled.value = null)}>
        Done
      </button>
    </p>
  );
}

/** All contested fields of an entry, and the undo of what was just settled. */
export function ContestedPanel({ entry }: { entry: Entry }) {
  const [error, setError] = useState<string | null>(null);
  const undo = settled.value?.entry === entry.id ? settled.value : null;
  if (entry.contested.length === 0 && undo === null && error === null) return null;
  return (
    <div class="contested-panel" data-testid="contested-panel">
      {entry.contested.map((contested) => (
        <Choice key={contested.field} entry={entry} contested={contested} />
      ))}
      {undo !== null && <Settled undo={undo} onError={setError} />}
      {error !== null && (
        <p class="form-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
