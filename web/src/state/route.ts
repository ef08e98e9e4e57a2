/**
 * Where the page is, kept in the address after `#` so that Back works and nothing about it is ever
 * sent to a server.
 */
import { signal } from '@preact/signals';
import { settingsQuery } from '../settings.ts';

/** What the list shows. */
export interface Filter {
  kind?: string;
  thread?: string;
  contested?: true;
}

export type Route = { view: 'codex'; filter: Filter } | { view: 'entry'; entry: string };

export function parseRoute(hash: string): Route {
  const [head = '', tail = ''] = hash.replace(/^#\/?/, '').split('/', 2);
  let value: string;
  try {
    value = decodeURIComponent(tail);
  } catch {
    value = '';
  }
  if (head === 'entry' && value !== '') return { view: 'entry', entry: value };
  if (head === 'kind' && value !== '') return { view: 'codex', filter: { kind: value } };
  if (head === 'thread' && value !== '') return { view: 'codex', filter: { thread: value } };
  if (head === 'contested') return { view: 'codex', filter: { contested: true } };
  return { view: 'codex', filter: {} };
}

export function formatRoute(route: Route): string {
  if (route.view === 'entry') return `#/entry/${encodeURIComponent(route.entry)}`;
  const { kind, thread, contested } = route.filter;
  if (kind !== undefined) return `#/kind/${encodeURIComponent(kind)}`;
  if (thread !== undefined) return `#/thread/${encodeURIComponent(thread)}`;
  return contested ? '#/contested' : '#/';
}

export const route = signal<Route>(parseRoute(location.hash));

window.addEventListener('popstate', () => {
  route.value = parseRoute(location.hash);
});

/** Goes to a place and adds it to the history; `replace` takes the present place's step instead. */
export function go(to: Route, replace = false): void {
  const address = formatRoute(to);
  if (address === formatRoute(route.value)) return;
  // A reload in this place keeps the settings that the page was opened with.
  const whole = `/${settingsQuery(location.search)}${address}`;
  if (replace) history.replaceState(null, '', whole);
  else history.pushState(null, '', whole);
  route.value = to;
}

export const goCodex = (filter: Filter = {}): void => go({ view: 'codex', filter });
export const goEntry = (entry: string): void => go({ view: 'entry', entry });

/** Leaves the open entry: back where the person came from, or to the whole codex. */
let lastCodex: Route = { view: 'codex', filter: {} };
route.subscribe((now) => {
  if (now.view === 'codex') lastCodex = now;
});
export const closeEntry = (): void => go(lastCodex);
