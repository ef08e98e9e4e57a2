/**
 * `cargo xtask screenshots`: every state that the page reaches, in both themes and two sizes, as PNG
 * files below `docs/screenshots`. To be looked at, not compared.
 */
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { test, type Page } from '@playwright/test';
import { Person, type PersonOptions } from './support/browser.ts';
import { ask, editFields, editText, invite, join as joinTable, meaningReady, openCodex, openEntry, openTable, ready, readText, recordAndOpen, setField, network, TAINTED_WELLS_QUESTION } from './support/codex.ts';
import { root } from './support/paths.ts';
import { Relay } from './support/relay.ts';

const SIZES: Record<string, PersonOptions> = {
  desktop: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};
const out = resolve(root, 'docs/screenshots');
/** Shows a state of the desktop page in every theme and size. The page is the same; only the window changes. */
async function shoot(page: Page, state: string): Promise<void> {
  for (const [size, { viewport }] of Object.entries(SIZES)) {
    if (viewport !== undefined) await page.setViewportSize(viewport);
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await page.waitForTimeout(150);
      await page.screenshot({ path: resolve(out, `${state}-${theme}-${size}.png`), animations: 'disabled' });
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
}

test('screenshots', async () => {
  await mkdir(out, { recursive: true });
  const relay = await Relay.start();
  const keeper = await Person.arrive(relay.origin, 'webtransport');
  const player = await Person.arrive(relay.origin, 'webtransport');
  try {
    const page = await keeper.openTab();
    await ready(page);
    await meaningReady(page);
    await shoot(page, 'codex');
    await ask(page, TAINTED_WELLS_QUESTION);
    await shoot(page, 'recall');
    await ask(page, 'zzyzx').catch(() => undefined);
    await shoot(page, 'recall-nothing');
    await page.getByTestId('search-clear').click();
    await page.getByTestId('new-entry').click();
    await shoot(page, 'composer');
    await page.keyboard.press('Escape');
    await openTable(page, 'Wendeline');
    const link = await invite(page);
    await shoot(page, 'table');
    const guest = await player.openInvitation(link);
    await shoot(guest, 'invitation');
    await joinTable(guest, 'Barnaby');
    const id = await recordAndOpen(page, { title: 'The drowned bell', body: 'It rings before storms.\n\n> Nobody has found the rope.', when: 'Third of Thaw', threads: 'bells' });
    await openEntry(guest, id);
    await shoot(guest, 'entry');
    await editText(guest);
    await editText(page);
    await page.keyboard.type(' The abbess counts the strokes.', { delay: 20 });
    await shoot(guest, 'writing');
    await readText(page);
    await readText(guest);
    await page.getByTestId('entry-history').click();
    await shoot(page, 'history');
    await page.getByTestId('entry-history').click();
    const form = await editFields(page);
    await form.getByTestId('field-title').fill('The drowned bell of Mallow');
    await setField(guest, 'title', 'The bell under the water');
    await form.getByTestId('fields-save').click();
    await page.getByTestId('revise-conflict').waitFor();
    await shoot(page, 'refused');
    await page.getByTestId('keep-theirs').click();
    await relay.stop();
    await network(page, 'offline');
    await network(guest, 'offline');
    await setField(page, 'status', 'ringing');
    await setField(guest, 'status', 'silent');
    await shoot(page, 'offline');
    await relay.start();
    await page.getByTestId('contested-field').waitFor();
    await shoot(page, 'contested');
    await openCodex(page);
    await page.getByTestId('campaign-picker').click();
    await page.getByTestId('new-campaign').click();
    await page.getByTestId('campaign-name').fill('The Glass Orchard');
    await page.getByTestId('campaign-create').click();
    await page.getByTestId('empty-campaign').waitFor();
    await shoot(page, 'empty');
  } finally {
    await keeper.leave();
    await player.leave();
    await relay.end();
  }
});
