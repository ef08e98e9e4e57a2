import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Entry, Patch, WriteResult } from '../src/engine/api.ts';

const call = vi.fn<(method: string, params: { entry: string; expected: string; patch: Patch }) => Promise<WriteResult>>();
vi.mock('../src/state/session.ts', () => ({
  engine: { call: (...args: Parameters<typeof call>) => call(...args) },
  describeError: (error: Error) => error.message,
}));
vi.mock('../src/state/entries.ts', () => ({ patchList: () => undefined }));
const { applyOnTop, beginEdit, changeField, dropEdit, fieldDrafts, patchOf, saveEdit, splitThreads } = await import('../src/state/drafts.ts');

const person = { id: 'a', name: 'Maren', agent: false, self: true };
const entry = (change: Partial<Entry> = {}): Entry => ({
  id: 'e1', campaign: 'c', audience: 'table', revision: 'r1', kind: 'npc', title: 'The bell', body: '', threads: ['ring', 'debts'],
  aliases: [], when: null, status: 'open', derivedFrom: [], createdAt: 0, createdBy: person, updatedAt: 0, updatedBy: person,
  contested: [], delivery: { state: 'here', seenBy: [] }, ...change,
});
const draft = () => {
  const found = fieldDrafts.value.get('e1');
  if (found === undefined) throw new Error('no edit is under way');
  return found;
};

beforeEach(() => {
  call.mockReset();
  dropEdit('e1');
  beginEdit(entry());
});

describe('an edit of fields', () => {
  test('sends only what the person changed', () => {
    changeField('e1', 'title', '  The drowned bell ');
    changeField('e1', 'status', ' ');
    changeField('e1', 'threads', 'ring, , bells, bells');
    expect(patchOf(draft())).toEqual({ title: 'The drowned bell', status: null, addThreads: ['bells'], removeThreads: ['debts'] });
  });

  test('that changed nothing asks nothing of the engine', async () => {
    changeField('e1', 'threads', 'debts, ring');
    expect(await saveEdit('e1')).toBe(true);
    expect(call).not.toHaveBeenCalled();
    expect(fieldDrafts.value.has('e1')).toBe(false);
  });

  test('without a title stays, and says so', async () => {
    changeField('e1', 'title', '   ');
    expect(await saveEdit('e1')).toBe(false);
    expect(draft().error).toMatch(/title/);
    expect(call).not.toHaveBeenCalled();
  });

  test('that is refused keeps the words, and goes on top of what is there when asked to', async () => {
    changeField('e1', 'title', 'Mine');
    call.mockResolvedValueOnce({ outcome: 'stale', current: entry({ revision: 'r2', title: 'Theirs' }) });
    expect(await saveEdit('e1')).toBe(false);
    expect(draft().values.title).toBe('Mine');
    expect(draft().refused?.title).toBe('Theirs');

    call.mockResolvedValueOnce({ outcome: 'done', entry: entry({ revision: 'r3', title: 'Mine' }) });
    expect(await applyOnTop('e1')).toBe(true);
    expect(call.mock.calls.map(([, { expected, patch }]) => [expected, patch])).toEqual([['r1', { title: 'Mine' }], ['r2', { title: 'Mine' }]]);
    expect(fieldDrafts.value.has('e1')).toBe(false);
  });

  test('keeps what was typed while it was being saved', async () => {
    let answer: (result: WriteResult) => void = () => undefined;
    call.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
    changeField('e1', 'title', 'Mine');
    const saved = saveEdit('e1');
    changeField('e1', 'status', 'kept');
    answer({ outcome: 'stale', current: entry({ revision: 'r2' }) });
    await saved;
    expect(draft().values).toMatchObject({ title: 'Mine', status: 'kept' });
  });

  test('goes on over the new state when more was typed before the save came back', async () => {
    let answer: (result: WriteResult) => void = () => undefined;
    call.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
    changeField('e1', 'title', 'Mine');
    const saved = saveEdit('e1');
    changeField('e1', 'status', 'kept');
    answer({ outcome: 'done', entry: entry({ revision: 'r2', title: 'Mine' }) });
    expect(await saved).toBe(true);
    expect(draft().base.revision).toBe('r2');
    expect(patchOf(draft())).toEqual({ status: 'kept' });
  });

  test('that fails says why and can be saved again', async () => {
    changeField('e1', 'title', 'Mine');
    call.mockRejectedValueOnce(new Error('the disk is full'));
    expect(await saveEdit('e1')).toBe(false);
    expect(draft()).toMatchObject({ state: 'editing', error: 'the disk is full' });
  });

  test('of an entry that was forgotten keeps the words to be copied', async () => {
    changeField('e1', 'title', 'Mine');
    call.mockResolvedValueOnce({ outcome: 'forgotten' });
    await saveEdit('e1');
    expect(draft()).toMatchObject({ forgotten: true, values: { title: 'Mine' } });
  });

  test('that is under way is not begun anew by another click', () => {
    changeField('e1', 'title', 'Mine');
    beginEdit(entry({ title: 'Theirs' }));
    expect(draft().values.title).toBe('Mine');
  });
});

test('threads are split at commas, trimmed, and named once', () => {
  expect(splitThreads(' a ,b,, a,')).toEqual(['a', 'b']);
});
