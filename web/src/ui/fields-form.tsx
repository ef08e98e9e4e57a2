/** The plain fields of an entry, edited in place on a card or above the text. */
import { useEffect, useRef } from 'preact/hooks';
import type { Entry } from '../engine/api.ts';
import {
  applyOnTop,
  changeField,
  dropEdit,
  patchOf,
  saveEdit,
  splitThreads,
  valuesOf,
  type FieldDraft,
  type FieldKey,
} from '../state/drafts.ts';
import { announcement } from '../state/panels.ts';
import { attempt, facets } from '../state/session.ts';
import { KINDS, kindName } from '../text/words.ts';
import { AuthorName, Time } from './bits.tsx';
import { SignGlyph } from './glyphs.tsx';
import { focusIsLost } from './return.ts';

const LABELS: Record<FieldKey, string> = {
  title: 'Title',
  kind: 'Kind',
  when: 'When, in the world',
  status: 'Status',
  threads: 'Threads',
};
const FIELDS = Object.keys(LABELS) as FieldKey[];

function shown(field: FieldKey, values: Record<FieldKey, string>): string {
  const value = field === 'threads' ? splitThreads(values.threads).join(', ') : values[field].trim();
  if (value === '') return 'Nothing';
  return field === 'kind' ? kindName(value) : value;
}

/** The kinds to offer: the usual ones and the table's own. */
export function kindChoices(present: string): string[] {
  const own = facets.value?.kinds.map((one) => one.kind).filter((kind) => kind !== 'campaign') ?? [];
  return [...new Set([...KINDS, ...own, present])];
}

/** What changed underneath, beside the person's own words, and what to do about it. */
function Refused({ id, draft, current }: { id: string; draft: FieldDraft; current: Entry }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    announcement.value = 'Not saved: the entry changed while you were editing. Your words are kept.';
    box.current?.focus();
  }, [current.revision]);
  const before = valuesOf(draft.base);
  const now = valuesOf(current);
  const mine = patchOf(draft);
  const isMine = (field: FieldKey): boolean =>
    field === 'threads' ? mine.addThreads !== undefined || mine.removeThreads !== undefined : mine[field] !== undefined;
  const rows = FIELDS.filter((field) => isMine(field) || before[field] !== now[field]);
  return (
    <div class="refused" role="alert" tabIndex={-1} ref={box} data-testid="revise-conflict">
      <p class="refused-title">
        <SignGlyph sign="split" size={17} /> Not saved yet: this entry changed while you were editing
      </p>
      <p class="refused-by">
        <AuthorName author={current.updatedBy} /> changed it <Time at={current.updatedAt} />. Your words are kept here.
      </p>
      <table class="compare">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">When you began</th>
            <th scope="col">There now</th>
            <th scope="col">Yours</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((field) => (
            <tr key={field}>
              <th scope="row">{LABELS[field]}</th>
              <td data-label="When you began">{shown(field, before)}</td>
              <td data-label="There now" data-changed={before[field] !== now[field] || undefined}>{shown(field, now)}</td>
              <td data-label="Yours" data-changed={isMine(field) || undefined}>
                {isMine(field) ? shown(field, draft.values) : 'Not touched'}
              </td>
            </tr>
          ))}
          {draft.base.body !== current.body && (
            <tr>
              <th scope="row">Text</th>
              <td colSpan={3}>The text changed too. Your edit does not touch it.</td>
            </tr>
          )}
        </tbody>
      </table>
      <div class="actions">
        <button type="button" class="button button-primary" data-testid="apply-on-top" disabled={draft.state === 'saving'} onClick={() => {
          const goOn = behind(box.current);
          attempt(applyOnTop(id).then((done) => done && goOn()));
        }}>
          Apply mine on top
        </button>
        <button type="button" class="button" data-testid="keep-theirs" onClick={() => {
          const goOn = behind(box.current);
          dropEdit(id);
          goOn();
        }}>
          Keep what is there
        </button>
      </div>
    </div>
  );
}

/** Lets the keyboard go on where the form was, once it has gone; to be asked while it is there. */
function behind(form: HTMLElement | null): () => void {
  const card = form?.closest<HTMLElement>('[data-entry]');
  return () => {
    requestAnimationFrame(() => {
      if (focusIsLost()) card?.querySelector<HTMLElement>('[data-testid=card-title], [data-testid=edit-fields]')?.focus();
    });
  };
}

export function FieldsForm({ id, draft }: { id: string; draft: FieldDraft }) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const field = form.current?.elements.namedItem(draft.focus);
    if (field instanceof HTMLInputElement) {
      field.focus();
      field.select();
    } else if (field instanceof HTMLElement) field.focus();
  }, []);

  const text = (field: Exclude<FieldKey, 'kind'>, hint?: string) => (
    <label class={`field field-${field}`}>
      <span>{LABELS[field]}</span>
      <input
        name={field}
        value={draft.values[field]}
        placeholder={hint}
        maxLength={field === 'threads' ? 600 : 200}
        autocomplete="off"
        data-testid={`field-${field}`}
        onInput={(event) => changeField(id, field, event.currentTarget.value)}
      />
    </label>
  );

  if (draft.forgotten) {
    return (
      <div class="refused" role="alert" data-testid="revise-forgotten">
        <p class="refused-title">This entry was forgotten while you were editing</p>
        <p>It cannot come back. You had written: {FIELDS.map((field) => shown(field, draft.values)).join(' · ')}</p>
        <div class="actions">
          <button type="button" class="button" onClick={() => dropEdit(id)}>
            Close
          </button>
        </div>
      </div>
    );
  }
  return (
    <form
      ref={form}
      class="fields"
      data-testid="fields-form"
      aria-label={`Fields of ${draft.base.title}`}
      onSubmit={(event) => {
        event.preventDefault();
        const goOn = behind(event.currentTarget);
        attempt((draft.refused === null ? saveEdit(id) : applyOnTop(id)).then((done) => done && goOn()));
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        const goOn = behind(event.currentTarget);
        dropEdit(id);
        goOn();
      }}
    >
      {text('title')}
      <div class="fields-row">
        <label class="field field-kind">
          <span>{LABELS.kind}</span>
          <select name="kind" value={draft.values.kind} data-testid="field-kind" onChange={(event) => changeField(id, 'kind', event.currentTarget.value)}>
            {kindChoices(draft.values.kind).map((kind) => (
              <option key={kind} value={kind}>
                {kindName(kind)}
              </option>
            ))}
          </select>
        </label>
        {text('when', 'Third of Thaw')}
        {text('status', 'open, kept, broken…')}
      </div>
      {text('threads', 'the ring, debts')}
      {draft.error !== null && (
        <p class="form-error" role="alert" data-testid="form-error">
          {draft.error}
        </p>
      )}
      {draft.refused === null ? (
        <div class="actions">
          <button type="submit" class="button button-primary" data-testid="fields-save" disabled={draft.state === 'saving'}>
            {draft.state === 'saving' ? 'Saving…' : 'Save'}
          </button>
          <button type="button" class="button" data-testid="fields-cancel" onClick={(event) => {
            const goOn = behind(event.currentTarget);
            dropEdit(id);
            goOn();
          }}>
            Cancel
          </button>
        </div>
      ) : (
        <Refused id={id} draft={draft} current={draft.refused} />
      )}
    </form>
  );
}
