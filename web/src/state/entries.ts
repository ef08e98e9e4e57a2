/**
 * The shown list of entries as a sparse, paged window over what may be ten thousand of them, and a
 * small cache of entries that some view holds open.
 */
import { batch, effect, signal } from '@preact/signals';
import type { Entry, ListQuery } from '../engine/api.ts';
import { route } from './route.ts';
import { attempt, campaignId, engine, onChanged, onNames } from './session.ts';

const PAGE = 40;
/** Changes that arrive letter by letter redraw the list at most this often. */
const REFRESH_EVERY_MS = 150;

export interface EntryList {
  /** `null` until the first page is there. */
  total: number | null;
  /** Sparse: an index not yet fetched holds nothing. */
  rows: ReadonlyMap<number, Entry>;
}

const EMPTY: EntryList = { total: null, rows: new Map() };
export const list = signal<EntryList>(EMPTY);

/** Titles seen so far, for links between entries: folded title or alias → entry. */
const titles = new Map<string, { id: string; title: string; kind: string }>();
const fold = (text: string): string => text.trim().toLocaleLowerCase();

let query: ListQuery | null = null;
let generation = 0;
const asked = new Set<number>();
let wanted = { first: 0, last: 0 };

export function noteTitles(entries: readonly Entry[]): void {
  for (const { id, title, kind, aliases } of entries) {
    titles.set(fold(title), { id, title, kind });
    for (const alias of aliases) titles.set(fold(alias), { id, title, kind });
  }
}

export function knownTitles(): Iterable<{ id: string; title: string; kind: string }> {
  return new Map([...titles.values()].map((known) => [known.id, known])).values();
}

async function fetchPage(page: number): Promise<void> {
  if (query === null) return;
  const mine = generation;
  const found = await engine.call('list', { ...query, offset: page * PAGE, limit: PAGE });
  if (mine !== generation) return;
  noteTitles(found.entries);
  const rows = new Map(list.value.rows);
  for (let index = 0; index < PAGE; index += 1) {
    const entry = found.entries[index];
    if (entry === undefined) rows.delete(page * PAGE + index);
    else rows.set(page * PAGE + index, entry);
  }
  for (const index of rows.keys()) if (index >= found.total) rows.delete(index);
  list.value = { total: found.total, rows };
}

/** Says which rows are on the screen; fetches the pages that they need. */
export function wantRows(first: number, last: number): void {
  wanted = { first, last };
  for (let page = Math.floor(first / PAGE); page <= Math.floor(last / PAGE); page += 1) {
    if (asked.has(page)) continue;
    asked.add(page);
    attempt(fetchPage(page));
  }
}

/** Asks again for what is on the screen, keeping what is shown until the answer is there. */
function refetch(): void {
  asked.clear();
  wantRows(wanted.first, wanted.last);
}

let refreshDue: ReturnType<typeof setTimeout> | null = null;
let refreshedAt = -REFRESH_EVERY_MS;

/** Starts to follow the route, the campaign and the changes. Called once, by `main.tsx`. */
export function startEntries(): void {
  effect(() => {
    const campaign = campaignId.value;
    const now = route.value;
    if (campaign === null) return;
    // An open entry leaves the list behind it as it was.
    if (now.view !== 'codex' && query?.campaign === campaign) return;
    const next: ListQuery = { campaign, ...(now.view === 'codex' ? now.filter : {}) };
    if (JSON.stringify(next) === JSON.stringify(query)) return;
    if (query?.campaign !== campaign) titles.clear();
    query = next;
    generation += 1;
    asked.clear();
    batch(() => {
      list.value = EMPTY;
    });
    wantRows(0, PAGE - 1);
  });
  const refetchSoon = () => {
    // The first change after a pause shows at once; those that crowd behind it share the next.
    const wait = Math.max(0, refreshedAt + REFRESH_EVERY_MS - performance.now());
    refreshDue ??= setTimeout(() => {
      refreshDue = null;
      refreshedAt = performance.now();
      refetch();
    }, wait);
  };
  onChanged((event) => {
    if (event.campaign === query?.campaign) refetchSoon();
  });
  onNames(refetchSoon);
}

/** Puts an entry that a write returned in the list's place, before the change event arrives. */
export function patchList(entry: Entry): void {
  noteTitles([entry]);
  for (const [index, row] of list.value.rows) {
    if (row.id !== entry.id) continue;
    const rows = new Map(list.value.rows);
    rows.set(index, entry);
    list.value = { ...list.value, rows };
    return;
  }
}

/** The entry that bears this title or alias, in the open campaign. */
export async function findByTitle(title: string): Promise<string | null> {
  const wantedTitle = fold(title);
  const known = titles.get(wantedTitle);
  if (known !== undefined) return known.id;
  const campaign = campaignId.value;
  if (campaign === null) return null;
  const { hits } = await engine.call('recall', { campaign, queries: [title], limit: 20 });
  noteTitles(hits.map((hit) => hit.entry));
  return titles.get(wantedTitle)?.id ?? null;
}
