/**
 * Field edits that are under way: what the person typed, over which revision, and what the engine
 * said. They live here, not in a form, so that scrolling away or a change from the table never
 * takes anyone's words.
 */
import { signal } from '@preact/signals';
import type { Entry, Patch, PlainField, WriteResult } from '../engine/api.ts';
import { patchList } from './entries.ts';
import { describeError, engine } from './session.ts';

/** The plain fields as a form holds them. */
export interface FieldValues {
  kind: string;
  title: string;
  when: string;
  status: string;
  /** One line, separated by commas. */
  threads: string;
}

export type FieldKey = keyof FieldValues;

export interface FieldDraft {
  /** What the person saw when the edit began: the precondition of the write. */
  base: Entry;
  values: FieldValues;
  /** The field to put the caret in. */
  focus: FieldKey;
  state: 'editing' | 'saving';
  /** Set when the write was refused: what is there now. */
  refused: Entry | null;
  forgotten: boolean;
  error: string | null;
}

/** Entry id → edit under way. */
export const fieldDrafts = signal<ReadonlyMap<string, FieldDraft>>(new Map());

const put = (id: string, draft: FieldDraft | null): void => {
  const next = new Map(fieldDrafts.value);
  if (draft === null) next.delete(id);
  else next.set(id, draft);
  fieldDrafts.value = next;
};

export function valuesOf(entry: Entry): FieldValues {
  return {
    kind: entry.kind,
    title: entry.title,
    when: entry.when ?? '',
    status: entry.status ?? '',
    threads: entry.threads.join(', '),
  };
}

export function splitThreads(text: string): string[] {
  return [...new Set(text.split(',').map((one) => one.trim()).filter((one) => one !== ''))];
}

export function beginEdit(entry: Entry, focus: FieldKey = 'title'): void {
  if (fieldDrafts.value.has(entry.id)) return;
  put(entry.id, { base: entry, values: valuesOf(entry), focus, state: 'editing', refused: null, forgotten: false, error: null });
}

export function changeField(id: string, field: FieldKey, value: string): void {
  const draft = fieldDrafts.value.get(id);
  if (draft !== undefined) put(id, { ...draft, values: { ...draft.values, [field]: value }, error: null });
}

export function dropEdit(id: string): void {
  put(id, null);
}

const emptyToNull = (text: string): string | null => (text.trim() === '' ? null : text.trim());

/** Only what the person changed, so that it can be put on top of any later state. */
export function patchOf({ base, values }: FieldDraft): Patch {
  const patch: Patch = {};
  const before = valuesOf(base);
  if (values.kind !== before.kind) patch.kind = values.kind;
  if (values.title.trim() !== before.title) patch.title = values.title.trim();
  if (values.when.trim() !== before.when) patch.when = emptyToNull(values.when);
  if (values.status.trim() !== before.status) patch.status = emptyToNull(values.status);
  const threads = splitThreads(values.threads);
  const added = threads.filter((one) => !base.threads.includes(one));
  const removed = base.threads.filter((one) => !threads.includes(one));
  if (added.length > 0) patch.addThreads = added;
  if (removed.length > 0) patch.removeThreads = removed;
  return patch;
}

/** Saves an edit over `expected`, by default the revision that the person saw. */
export async function saveEdit(id: string, expected?: string): Promise<boolean> {
  const draft = fieldDrafts.value.get(id);
  if (draft === undefined || draft.state === 'saving') return false;
  const patch = patchOf(draft);
  if (Object.keys(patch).length === 0) {
    dropEdit(id);
    return true;
  }
  if (patch.title === '') {
    put(id, { ...draft, error: 'An entry needs a title.' });
    return false;
  }
  put(id, { ...draft, state: 'saving', error: null });
  let result: WriteResult;
  try {
    result = await engine.call('revise', { entry: id, expected: expected ?? draft.base.revision, patch });
  } catch (error) {
    const now = fieldDrafts.value.get(id) ?? draft;
    put(id, { ...now, state: 'editing', error: describeError(error) });
    return false;
  }
  const now = fieldDrafts.value.get(id) ?? draft;
  switch (result.outcome) {
    case 'done':
      patchList(result.entry);
      // What was typed while the engine was writing is an edit of what is there now.
      if (now.values === draft.values) dropEdit(id);
      else put(id, { ...now, base: result.entry, state: 'editing', refused: null });
      return true;
    case 'stale':
      put(id, { ...now, state: 'editing', refused: result.current });
      return false;
    case 'forgotten':
      put(id, { ...now, state: 'editing', forgotten: true });
      return false;
  }
}

/** "Apply mine on top": the same change again, over the state that was just shown. */
export function applyOnTop(id: string): Promise<boolean> {
  const refused = fieldDrafts.value.get(id)?.refused;
  return refused == null ? Promise.resolve(false) : saveEdit(id, refused.revision);
}

/** A settled field that can still be taken back. */
export interface Settlement {
  campaign: string;
  entry: string;
  field: PlainField;
  before: string | null;
  chosen: string | null;
  /** What the field is set to when it is taken back. */
  instead: string | null;
  revision: string;
}
export const settled = signal<Settlement | null>(null);
