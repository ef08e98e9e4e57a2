/** Two people at one table. */
import { expect, test, TRANSPORTS } from '../fixtures.ts';
import { ask, editText, entryCount, membersHere, openCodex, openEntry, ready, readText, record, recordAndOpen } from '../support/codex.ts';
import { sitDown } from '../support/table.ts';

for (const transport of TRANSPORTS) {
  test.describe(`over ${transport}`, () => {
    test('an invitation brings a second browser to the same codex', async ({ person }) => {
      const { keeper, player } = await sitDown(person, transport);
      await openCodex(keeper.page);
      await openCodex(player.page);
      // The sample's secrets are for keepers: a player gets everything else, and not those.
      const all = await entryCount(keeper.page);
      await expect.poll(() => entryCount(player.page)).toBeGreaterThanOrEqual(40);
      await record(keeper.page, { title: 'The last word' });
      await expect(player.page.getByTestId('card-title').filter({ hasText: 'The last word' })).toBeVisible();
      expect(await entryCount(player.page)).toBeLessThan(all + 1);
      const secret = 'the signet fits the wheel beneath the east tower';
      await expect((await ask(keeper.page, secret)).filter({ has: keeper.page.getByTestId('seal') }).first()).toBeVisible();
      await expect((await ask(player.page, secret)).first()).toBeVisible();
      await expect(player.page.getByTestId('seal')).toHaveCount(0);
      await expect(player.page.getByTestId('results')).not.toContainText('scouring sluice');
      // The invitation's key has left the address bar and the history.
      expect(player.page.url()).not.toMatch(/#[\w-]{20,}/);
      expect([...keeper.person.errors, ...player.person.errors]).toEqual([]);
    });

    test('text appears on the other side letter by letter, with who writes it', async ({ person }) => {
      const { keeper, player } = await sitDown(person, transport);
      const id = await recordAndOpen(keeper.page, { title: 'The toll gate', body: 'It stands open. ' });
      const reading = await openEntry(player.page, id);
      await expect(reading).toContainText('It stands open.');

      const words = 'Tonight the gate asks for a name.';
      await player.page.evaluate(() => {
        const seen = new Set<string>();
        Object.assign(window, { seen });
        const look = () => {
          const text = document.querySelector('[data-testid="entry-view"]')?.textContent ?? '';
          const at = text.indexOf('Tonight');
          if (at >= 0) seen.add(text.slice(at, text.indexOf('.', at) + 1 || undefined));
        };
        new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
      });
      await editText(keeper.page);
      await keeper.page.keyboard.type(words, { delay: 90 });
      await expect(reading).toContainText(words);
      await expect(player.page.getByTestId('others-editing')).toContainText('Wendeline');
      const prefixes = await player.page.evaluate(() => (window as unknown as { seen: Set<string> }).seen.size);
      expect(prefixes, 'steps in which the sentence was seen to grow').toBeGreaterThanOrEqual(4);

      // And both write into the one text at once.
      await editText(player.page);
      await player.page.keyboard.type(' Barnaby pays.', { delay: 30 });
      await readText(keeper.page);
      await readText(player.page);
      await expect(reading).toContainText('Barnaby pays.');
      await expect(keeper.page.getByTestId('entry-view')).toContainText('Barnaby pays.');
      await expect(keeper.page.getByTestId('entry-view')).toContainText(words);
    });

    test('who is here is visible, and who has gone', async ({ person }) => {
      const { keeper, player } = await sitDown(person, transport);
      await expect(membersHere(keeper.page)).toHaveCount(2);
      await expect(membersHere(keeper.page).filter({ hasText: 'Barnaby' })).toBeVisible();
      await player.person.close();
      // A browser that ends may say no goodbye; then the relay notices the silence.
      await expect(membersHere(keeper.page)).toHaveCount(1, { timeout: 60_000 });
      await expect(keeper.page.getByTestId('member').filter({ hasText: 'Barnaby' })).toContainText('away');
    });

    test('two tabs of one profile show the same codex and both write', async ({ person }) => {
      const { keeper, player } = await sitDown(person, transport);
      const second = await keeper.person.openTab();
      await ready(second);
      await openCodex(keeper.page);
      await openCodex(player.page);
      await record(keeper.page, { title: 'Written in the first tab' });
      await record(second, { title: 'Written in the second tab' });
      for (const page of [keeper.page, second, player.page]) {
        await expect(page.getByTestId('card-title').filter({ hasText: 'Written in the first tab' })).toBeVisible();
        await expect(page.getByTestId('card-title').filter({ hasText: 'Written in the second tab' })).toBeVisible();
      }
    });
  });
}
