/**
 * Pictures of every state of the page, in both themes and two sizes, against a real relay.
 *
 *     node web/scripts/screenshots.mjs <origin of the relay> <folder> [state …]
 *
 * Two browsers play a keeper and a player at one table and stop at each state. Files are named
 * `<state>-<theme>-<size>.png`. Named states alone are written; the play is the same. With AXE=1
 * every state is also checked for accessibility, and what is wrong is printed.
 *
 * The browser's driver comes from `tests/browser`, where the page's tests keep it. CHROMIUM says
 * where the browser is, if it is not `/usr/bin/chromium`.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const [origin, folder, ...only] = process.argv.slice(2);
if (origin === undefined || folder === undefined) {
  console.error('usage: node screenshots.mjs <origin> <folder> [state …]');
  process.exit(2);
}
const { chromium } = createRequire(new URL('../../tests/browser/package.json', import.meta.url))('playwright-core');

const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };
const THEMES = ['light', 'dark'];
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run', '--disable-renderer-backgrounding'];
/** The longest wait for the page; meanings take the longest on a slow machine. */
const PATIENCE_MS = 120_000;

const axeSource =
  process.env.AXE === undefined ? null : await readFile(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
let faults = 0;

async function check(page, name) {
  if (axeSource === null) return;
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  for (const { id, impact, nodes } of violations) {
    faults += 1;
    console.log(`${name}: ${impact} ${id}`);
    for (const node of nodes.slice(0, 4)) {
      console.log(`    ${node.html.slice(0, 140)}\n      ${[...node.any, ...node.all].map((one) => one.message).join('; ').slice(0, 240)}`);
    }
  }
}

const wanted = (state) => only.length === 0 || only.includes(state);

async function shoot(page, state, before = async () => {}) {
  if (!wanted(state)) return;
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await before(size);
      await page.waitForTimeout(120);
      const name = `${state}-${theme}-${size}`;
      await page.screenshot({ path: resolve(folder, `${name}.png`), animations: 'disabled', caret: 'initial' });
      await check(page, name);
    }
  }
  await page.setViewportSize(SIZES.desktop);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  console.log(state);
}

async function arrive(browser, address) {
  const context = await browser.newContext({ viewport: SIZES.desktop, colorScheme: 'light', reducedMotion: 'reduce', locale: 'en-GB' });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(`error in the page: ${error.message}`));
  await page.goto(address);
  return page;
}

const at = (page, id) => page.getByTestId(id);
const gone = (page, id) => at(page, id).waitFor({ state: 'hidden' });
const visit = (page, hash) => page.evaluate((to) => void (location.hash = to), hash);
const network = (page, state) => page.locator(`[data-testid=status-line][data-network=${state}]`).waitFor();

async function setField(page, field, value) {
  await at(page, 'edit-fields').click();
  await at(page, `field-${field}`).fill(value);
  await at(page, 'fields-save').click();
  await gone(page, 'fields-form');
}

async function openByTitle(page, title) {
  await page.keyboard.press('Control+k');
  await at(page, 'palette-input').fill(title);
  await at(page, 'palette-option').filter({ hasText: title }).first().click();
  await at(page, 'entry-title').filter({ hasText: title }).waitFor();
}

async function play(browser) {
  const keeper = await arrive(browser, origin);
  await at(keeper, 'entry-card').first().waitFor();
  await shoot(keeper, 'codex-learning');
  await gone(keeper, 'embedding-note');
  await shoot(keeper, 'codex');

  await at(keeper, 'suggestion').first().click();
  await at(keeper, 'results').waitFor();
  await shoot(keeper, 'results');
  await at(keeper, 'search-clear').click();

  await openByTitle(keeper, 'Aldous, toll gate');
  await keeper.getByTestId('mention').first().waitFor();
  await shoot(keeper, 'entry');
  await openByTitle(keeper, 'What the ring opens');
  await shoot(keeper, 'entry-sealed');
  await visit(keeper, '#/contested');
  await at(keeper, 'contested').first().click();
  await at(keeper, 'contested-field').waitFor();
  await shoot(keeper, 'contested-card');

  await visit(keeper, '#/');
  await at(keeper, 'new-entry').click();
  await at(keeper, 'composer-title').fill('The drowned bell');
  await at(keeper, 'composer-body').fill('It rings before storms.\n\n> Nobody has found the rope.');
  await at(keeper, 'composer-audience-keeper').check({ force: true });
  await shoot(keeper, 'composer');
  await at(keeper, 'composer-audience-table').check({ force: true });
  await at(keeper, 'composer-save-open').click();
  await at(keeper, 'entry-title').filter({ hasText: 'The drowned bell' }).waitFor();
  const id = await at(keeper, 'entry-view').getAttribute('data-entry');

  await keeper.keyboard.press('Control+k');
  await at(keeper, 'palette-input').fill('bell');
  await shoot(keeper, 'palette');
  await keeper.keyboard.press('Escape');
  await keeper.keyboard.press('?');
  await at(keeper, 'help').waitFor();
  await shoot(keeper, 'help');
  await keeper.keyboard.press('Escape');
  await at(keeper, 'about').click();
  await shoot(keeper, 'privacy');
  await keeper.keyboard.press('Escape');
  await visit(keeper, '#/');
  await keeper.setViewportSize(SIZES.phone);
  await at(keeper, 'open-rail').click();
  await at(keeper, 'rail-sheet').waitFor();
  await shoot(keeper, 'rail-sheet');
  await keeper.keyboard.press('Escape');
  await keeper.setViewportSize(SIZES.desktop);

  await at(keeper, 'open-table').click();
  await shoot(keeper, 'table-closed');
  await at(keeper, 'change-name').click();
  await at(keeper, 'my-name').fill('Maren');
  await at(keeper, 'my-name-save').click();
  await at(keeper, 'open-campaign-table').click();
  await network(keeper, 'live');
  await at(keeper, 'invite').click();
  const link = await at(keeper, 'invite-link').inputValue();

  const player = await arrive(browser, link);
  await at(player, 'join-name').fill('Noor');
  await shoot(player, 'invitation');
  await player.context().setOffline(true);
  await at(player, 'join-submit').click();
  await at(player, 'joining').waitFor();
  await shoot(player, 'joining');
  await player.context().setOffline(false);
  await at(player, 'entry-card').first().waitFor();
  await at(keeper, 'member').filter({ hasText: 'Noor' }).waitFor();
  await visit(player, `#/entry/${id}`);
  await at(player, 'edit-text').click();
  await keeper.locator('.member-editing').first().waitFor();
  await shoot(keeper, 'table');
  await keeper.keyboard.press('Escape');

  await visit(keeper, `#/entry/${id}`);
  await at(keeper, 'edit-text').click();
  await at(keeper, 'body-editor').press('Control+End');
  await keeper.keyboard.type(' The abbess counts its strokes.');
  await player.getByText('counts its strokes').waitFor();
  await at(player, 'other-caret').waitFor();
  await shoot(player, 'writing');
  await at(keeper, 'edit-text').click();
  await at(player, 'edit-text').click();

  await at(keeper, 'entry-history').click();
  await at(keeper, 'version').first().click();
  await at(keeper, 'past-state').waitFor();
  await shoot(keeper, 'history');
  await at(keeper, 'entry-history').click();

  await at(keeper, 'edit-fields').click();
  await at(keeper, 'field-title').fill('The drowned bell of Mallow');
  await setField(player, 'title', 'The bell under the water');
  await keeper.waitForTimeout(1000);
  await at(keeper, 'fields-save').click();
  await at(keeper, 'revise-conflict').waitFor();
  await shoot(keeper, 'refused', (size) => (size === 'phone' ? at(keeper, 'revise-conflict').scrollIntoViewIfNeeded() : undefined));
  await at(keeper, 'apply-on-top').click();
  await gone(keeper, 'fields-form');
  await at(player, 'entry-title').filter({ hasText: 'Mallow' }).waitFor();

  await keeper.context().setOffline(true);
  await player.context().setOffline(true);
  await network(keeper, 'offline');
  await network(player, 'offline');
  await setField(keeper, 'status', 'ringing');
  await setField(player, 'status', 'silent');
  await keeper.locator('[data-testid=status-line][data-waiting="1"]').waitFor();
  await shoot(keeper, 'offline');
  await keeper.context().setOffline(false);
  await player.context().setOffline(false);
  await at(keeper, 'contested-field').waitFor();
  await network(keeper, 'live');
  await shoot(keeper, 'contested');
  await at(keeper, 'settle').first().click();
  await at(keeper, 'settled').waitFor();
  await shoot(keeper, 'settled');

  await visit(keeper, '#/');
  await at(keeper, 'campaign-picker').click();
  await shoot(keeper, 'picker');
  await at(keeper, 'new-campaign').click();
  await at(keeper, 'campaign-name').fill('The Glass Orchard');
  await at(keeper, 'campaign-create').click();
  await at(keeper, 'empty-campaign').waitFor();
  await shoot(keeper, 'empty');
}

await mkdir(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });
try {
  await play(browser);
} catch (error) {
  // What was on the screens says more than the step that waited in vain.
  const pages = browser.contexts().flatMap((context) => context.pages());
  await Promise.all(pages.map((page, index) => page.screenshot({ path: resolve(folder, `failed-${index + 1}.png`) })));
  throw error;
} finally {
  await browser.close();
}
if (faults > 0) process.exitCode = 1;
