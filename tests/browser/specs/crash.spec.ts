/** Acknowledged means durable, whatever ends the page. */
import type { Page } from '@playwright/test';
import { expect, test, TRANSPORTS } from '../fixtures.ts';
import { allSent, editText, openCodex, openEntry, ready, record, recordAndOpen } from '../support/codex.ts';
import { sitDown } from '../support/table.ts';

const WORDS = 'The last thing anyone heard was the oar.';

async function crash(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const crashed = page.waitForEvent('crash');
  // The command itself never answers: its tab is gone.
  void session.send('Page.crash').catch(() => undefined);
  await crashed;
}

async function holds(page: Page, titles: string[], id: string): Promise<void> {
  await ready(page);
  await openCodex(page);
  for (const title of titles) {
    await expect(page.getByTestId('card-title').filter({ hasText: title })).toBeVisible();
  }
  await openEntry(page, id);
  await expect(page.getByTestId('entry-view')).toContainText(WORDS);
}

for (const transport of TRANSPORTS) {
  test.describe(`over ${transport}`, () => {
    test('everything acknowledged survives a reload, a crashed tab and a killed browser', async ({ person }) => {
      const { keeper } = await sitDown(person, transport);
      const titles: string[] = [];
      const write = async (page: Page, title: string) => {
        await openCodex(page);
        await record(page, { title });
        titles.push(title);
      };
      const id = await recordAndOpen(keeper.page, { title: 'The oar' });
      titles.push('The oar');
      await editText(keeper.page);
      await keeper.page.keyboard.type(WORDS);
      await expect(keeper.page.getByTestId('delivery').first()).toHaveAttribute('data-state', 'relay');

      await write(keeper.page, 'Before the reload');
      await keeper.page.goto(keeper.person.address());
      await holds(keeper.page, titles, id);

      await write(keeper.page, 'Before the crash');
      await crash(keeper.page);
      const reopened = await keeper.person.openTab();
      await holds(reopened, titles, id);

      for (let index = 1; index <= 3; index += 1) await write(reopened, `Before the power cut, ${index}`);
      await keeper.person.kill();
      await keeper.person.openBrowser();
      const restored = await keeper.person.openTab();
      await holds(restored, titles, id);
      await allSent(restored);
    });

    test('when the tab that owns the codex dies, another takes over and loses nothing', async ({ person }) => {
      const { keeper, player } = await sitDown(person, transport);
      const second = await keeper.person.openTab();
      const third = await keeper.person.openTab();
      await ready(second);
      await ready(third);
      await openCodex(keeper.page);
      await record(keeper.page, { title: 'Written by the first owner' });

      await crash(keeper.page);
      await openCodex(second);
      await record(second, { title: 'Written after the crash' });
      await second.close();
      await openCodex(third);
      await record(third, { title: 'Written after the closing' });
      await allSent(third);
      await openCodex(player.page);
      for (const page of [third, player.page]) {
        for (const title of ['Written by the first owner', 'Written after the crash', 'Written after the closing']) {
          await expect(page.getByTestId('card-title').filter({ hasText: title })).toBeVisible();
        }
      }
    });
  });
}
