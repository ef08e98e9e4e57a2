/**
 * The suite `table`: an entry is recorded in one browser and shown in the other; a newcomer catches
 * up with a codex of many entries. Over WebTransport and over WebSocket.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type Page } from '@playwright/test';
import { Person, type Transport } from '../support/browser.ts';
import { invite, join as joinTable, openCodex, openTable, ready, record } from '../support/codex.ts';
import { Relay } from '../support/relay.ts';
import { quantile, quick, row } from './rows.ts';
import { lore, seededCodex } from './seeded.ts';

const RECORDS = quick ? 20 : 100;
const CATCH_UP = quick ? 2_000 : 10_000;

/** Notes, in each page, the time at which a text first stands in it. */
async function watch(page: Page, text: string): Promise<() => Promise<number>> {
  await page.evaluate((wanted) => {
    const found = new Promise<number>((resolve) => {
      const look = () => {
        if (!document.body.innerText.includes(wanted)) return false;
        observer.disconnect();
        resolve(performance.timeOrigin + performance.now());
        return true;
      };
      const observer = new MutationObserver(look);
      observer.observe(document.body, { childList: true, subtree: true, characterData: true });
      look();
    });
    Object.assign(window, { found });
  }, text);
  return () => page.evaluate(() => (window as unknown as { found: Promise<number> }).found);
}

async function visible(transport: Transport): Promise<void> {
  const relay = await Relay.start();
  const keeper = await Person.arrive(relay.origin, transport);
  const player = await Person.arrive(relay.origin, transport);
  try {
    const page = await keeper.openTab();
    await ready(page);
    await openTable(page, 'Wendeline');
    const guest = await player.openInvitation(await invite(page));
    await joinTable(guest, 'Barnaby');
    await openCodex(page);
    await openCodex(guest);
    const here: number[] = [];
    const there: number[] = [];
    for (let index = 0; index < RECORDS; index += 1) {
      const title = `Measured ${transport} ${index}`;
      const shownHere = await watch(page, title);
      const shownThere = await watch(guest, title);
      await page.evaluate(() =>
        addEventListener('submit', () => Object.assign(window, { sent: performance.timeOrigin + performance.now() }), {
          capture: true,
          once: true,
        }),
      );
      await record(page, { title });
      const sent = await page.evaluate(() => (window as unknown as { sent: number }).sent);
      here.push((await shownHere()) - sent);
      there.push((await shownThere()) - sent);
    }
    const case_ = `browser-${transport}`;
    row('table', case_, 'visible_ms_p50', 'ms', quantile(there, 0.5), there);
    row('table', case_, 'visible_ms_p99', 'ms', quantile(there, 0.99), there);
    row('table', case_, 'own_page_ms_p50', 'ms', quantile(here, 0.5), here);
  } finally {
    await keeper.leave();
    await player.leave();
    await relay.end();
  }
}

async function catchUp(transport: Transport): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lore-bench-'));
  const relay = await Relay.start();
  const codex = seededCodex(CATCH_UP, folder);
  lore(codex, 'open-table', '--relay', relay.origin);
  const { link } = lore<{ link: string }>(codex, 'invite');
  const reader = await Person.arrive(relay.origin, transport);
  try {
    const page = await reader.openInvitation(link);
    await page.getByTestId('join-name').fill('Newcomer');
    const begun = performance.now();
    await page.getByTestId('join-submit').click();
    await page.getByTestId('entry-card').first().waitFor();
    const first = performance.now() - begun;
    await page.waitForFunction(
      (count) => (document.querySelector('[data-testid="list-count"]')?.textContent ?? '').replace(/\D/g, '') === String(count),
      CATCH_UP,
      { timeout: 600_000 },
    );
    const all = performance.now() - begun;
    const case_ = `browser-${transport}-${CATCH_UP}`;
    row('table', case_, 'catch_up_first_ms', 'ms', first);
    row('table', case_, 'catch_up_ms', 'ms', all);
  } finally {
    await reader.leave();
    await relay.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const transport of ['webtransport', 'websocket'] as const) {
  test(`browser-${transport}: shown on the other side`, () => visible(transport));
  test(`browser-${transport}: a newcomer catches up`, () => catchUp(transport));
}
