import { beforeEach, describe, expect, test, vi } from 'vitest';

// The module reads the page's address as it loads.
const page = { hash: '', search: '', pathname: '/' };
const steps: string[] = [];
vi.stubGlobal('location', page);
vi.stubGlobal('window', { addEventListener: () => undefined });
vi.stubGlobal('history', {
  pushState: (_: unknown, __: string, to: string) => steps.push(`push ${to}`),
  replaceState: (_: unknown, __: string, to: string) => steps.push(`replace ${to}`),
});
const { closeEntry, formatRoute, go, goCodex, goEntry, parseRoute } = await import('../src/state/route.ts');
const { settingsQuery } = await import('../src/settings.ts');

beforeEach(() => {
  page.search = '';
  goCodex();
  steps.length = 0;
});

describe('places in the page', () => {
  test.each([
    { view: 'codex' as const, filter: {} },
    { view: 'codex' as const, filter: { kind: 'npc' } },
    { view: 'codex' as const, filter: { thread: 'a/b & c # d %20' } },
    { view: 'codex' as const, filter: { contested: true as const } },
    { view: 'entry' as const, entry: '01M8QH915Y0K155FQ0AZ49QBYR' },
  ])('survive the address: %j', (route) => {
    expect(parseRoute(formatRoute(route))).toEqual(route);
  });

  test.each(['', '#', '#/', '#/nowhere', '#/kind/', '#/entry/', '#/thread/%E0%A4%A', '#/kind/%'])(
    'an address that means nothing is the whole codex: %j',
    (hash) => {
      expect(parseRoute(hash)).toEqual({ view: 'codex', filter: {} });
    },
  );

  test('going to where one is adds no step', () => {
    goEntry('a');
    goEntry('a');
    expect(steps).toEqual(['push /#/entry/a']);
  });

  test('leaving an entry goes back to the list that it was opened from', () => {
    goCodex({ kind: 'place' });
    goEntry('a');
    goEntry('b');
    closeEntry();
    expect(steps.at(-1)).toBe('push /#/kind/place');
  });

  test('a step that replaces the present one is told apart', () => {
    go({ view: 'entry', entry: 'a' }, true);
    expect(steps).toEqual(['replace /#/entry/a']);
  });

  test('settings stay in the address; what others put there does not', () => {
    page.search = '?fbclid=x&transport=websocket&utm_source=y';
    goEntry('a');
    expect(steps).toEqual(['push /?transport=websocket#/entry/a']);
    expect(settingsQuery('?fbclid=x')).toBe('');
  });
});
