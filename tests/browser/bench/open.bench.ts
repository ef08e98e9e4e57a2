/**
 * The suite `open`: how soon a codex of many entries shows its first cards and answers its first
 * question, in a browser that has it already.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from '@playwright/test';
import { Person } from '../support/browser.ts';
import { Relay } from '../support/relay.ts';
import { Contender } from './contenders.ts';
import { append, quantile, quick, row } from './rows.ts';
import { lore, seededCodex } from './seeded.ts';

const ROUNDS = quick ? 3 : 7;

async function browser(count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lore-bench-'));
  const relay = await Relay.start();
  const codex = seededCodex(count, folder);
  lore(codex, 'open-table', '--relay', relay.origin);
  const { link } = lore<{ link: string }>(codex, 'invite');
  const reader = await Person.arrive(relay.origin, 'websocket');
  const cards: number[] = [];
  const recalls: number[] = [];
  const contenders = await Contender.all(count);
  try {
    const joining = await reader.openInvitation(link);
    await joining.getByTestId('join-name').fill('Reader');
    await joining.getByTestId('join-submit').click();
    await joining.waitForFunction(
      (wanted) => (document.querySelector('[data-testid="list-count"]')?.textContent ?? '').replace(/\D/g, '') === String(wanted),
      count,
      { timeout: 900_000 },
    );
    await reader.close();
    for (let index = 0; index < ROUNDS; index += 1) {
      await reader.openBrowser();
      const page = await reader.browser.newPage();
      await page.addInitScript(() => {
        const observer = new MutationObserver(() => {
          if (document.querySelector('[data-testid="card-title"]') === null) return;
          Object.assign(window, { firstCards: performance.now() });
          observer.disconnect();
        });
        observer.observe(document, { childList: true, subtree: true });
      });
      await page.goto(reader.address());
      await page.getByTestId('card-title').first().waitFor();
      cards.push(await page.evaluate(() => (window as unknown as { firstCards: number }).firstCards));
      const asked = performance.now();
      await page.getByTestId('search').fill('who poisoned the wells?');
      await page.getByTestId('search').press('Enter');
      await page.getByTestId('results').waitFor();
      recalls.push(performance.now() - asked);
      await reader.close();
      for (const contender of contenders) await contender.round();
    }
    const case_ = `browser-${count / 1000}k`;
    row('open', case_, 'first_cards_ms', 'ms', quantile(cards, 0.5), cards);
    row('open', case_, 'first_recall_ms', 'ms', quantile(recalls, 0.5), recalls);
  } finally {
    for (const contender of contenders) await contender.end();
    await reader.leave();
    await relay.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

function native(count: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'lore-bench-'));
  const codex = seededCodex(count, folder);
  const programs = dirname(process.env['LORE_SEED'] ?? '');
  const case_ = `native-${count / 1000}k`;
  // One that did not build has a row that says so.
  const contenders = ['open-automerge', 'open-loro', 'open-yrs']
    .map((name) => ({ program: join(programs, name), file: join(folder, name) }))
    .filter(({ program }) => existsSync(program));
  for (const { program, file } of contenders) execFileSync(program, ['seed', file, String(count)]);
  for (let index = 0; index < ROUNDS; index += 1) {
    append(execFileSync(join(programs, 'open-native'), [codex, case_]).toString());
    for (const { program, file } of contenders) append(execFileSync(program, ['open', file, case_]).toString());
  }
  rmSync(folder, { recursive: true, force: true });
}

// By the name of the case, so that one can be asked for alone.
test('native-10k', () => native(10_000));
if (!quick) test('native-100k', () => native(100_000));
test('browser-1k', () => browser(1_000));
if (!quick) test('browser-10k', () => browser(10_000));
