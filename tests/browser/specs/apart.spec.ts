/** The network goes away and comes back. */
import { expect, test, TRANSPORTS } from '../fixtures.ts';
import { allSent, ask, editText, meaningReady, network, openCodex, openEntry, readText, record, recordAndOpen, setField } from '../support/codex.ts';
import { sitDown } from '../support/table.ts';

for (const transport of TRANSPORTS) {
  test.describe(`over ${transport}`, () => {
    test('apart, both read, write and recall; together again, both texts are there', async ({ person, relay }) => {
      const { keeper, player } = await sitDown(person, transport);
      const id = await recordAndOpen(keeper.page, { title: 'The drowned bell', body: 'It rings before storms.' });
      await openEntry(player.page, id);
      await expect(player.page.getByTestId('entry-view')).toContainText('It rings before storms.');
      await meaningReady(player.page);
      await allSent(keeper.page);

      // No goodbye: the connections simply die.
      await relay.stop('SIGKILL');
      await network(keeper.page, 'offline');
      await network(player.page, 'offline');

      await editText(keeper.page);
      await keeper.page.keyboard.press('Control+Home');
      await keeper.page.keyboard.type('Cast in the year of two winters. ');
      await editText(player.page);
      await player.page.keyboard.type(' Nobody has found the rope.');
      await readText(keeper.page);
      await readText(player.page);
      await record(keeper.page, { title: 'The bell founder', body: 'Left his mark inside the rim.' });
      const hits = await ask(player.page, 'the bell that rings before storms');
      await expect(hits.first()).toContainText('The drowned bell');
      await openEntry(player.page, id);

      await relay.start();
      await allSent(keeper.page);
      await allSent(player.page);
      await openEntry(keeper.page, id);
      for (const page of [keeper.page, player.page]) {
        const text = page.getByTestId('entry-view');
        await expect(text).toContainText('Cast in the year of two winters.');
        await expect(text).toContainText('It rings before storms.');
        await expect(text).toContainText('Nobody has found the rope.');
      }
      await openCodex(player.page);
      await expect(player.page.getByTestId('card-title').filter({ hasText: 'The bell founder' })).toBeVisible();
    });

    test('one who loses the network alone catches up with the others', async ({ person }) => {
      const { keeper, player } = await sitDown(person, transport);
      await player.person.offline(true);
      await network(player.page, 'offline');
      await openCodex(keeper.page);
      await openCodex(player.page);
      await record(keeper.page, { title: 'Said while Barnaby was away' });
      await record(player.page, { title: 'Said alone on the road' });
      await allSent(keeper.page);
      await expect(keeper.page.getByTestId('card-title').filter({ hasText: 'Said alone on the road' })).toHaveCount(0);
      await player.person.offline(false);
      await allSent(player.page);
      await expect(player.page.getByTestId('card-title').filter({ hasText: 'Said while Barnaby was away' })).toBeVisible();
      await expect(keeper.page.getByTestId('card-title').filter({ hasText: 'Said alone on the road' })).toBeVisible();
    });

    test('concurrent edits of one field show as contested and settle everywhere with one click', async ({ person, relay }) => {
      const { keeper, player } = await sitDown(person, transport);
      const id = await recordAndOpen(keeper.page, { title: 'The promise at the ford' });
      await openEntry(player.page, id);
      await allSent(keeper.page);
      await relay.stop();
      await network(keeper.page, 'offline');
      await network(player.page, 'offline');
      await setField(keeper.page, 'status', 'kept');
      await setField(player.page, 'status', 'broken');
      await relay.start();

      for (const page of [keeper.page, player.page]) {
        await allSent(page);
        const field = page.locator('[data-testid="contested-field"][data-field="status"]');
        const candidates = field.getByTestId('candidate');
        await expect(candidates).toHaveCount(2);
        await expect(candidates.filter({ hasText: 'kept' })).toBeVisible();
        await expect(candidates.filter({ hasText: 'broken' })).toBeVisible();
        // Each value says whose it is.
        await expect(candidates.getByTestId('author')).toHaveCount(2);
      }
      await expect(keeper.page.getByTestId('candidate').filter({ hasText: 'broken' })).toContainText('Barnaby');
      await expect(player.page.getByTestId('candidate').filter({ hasText: 'kept' })).toContainText('Wendeline');

      await player.page.getByTestId('candidate').filter({ hasText: 'kept' }).getByTestId('settle').click();
      for (const page of [keeper.page, player.page]) {
        await expect(page.getByTestId('contested-field')).toHaveCount(0);
        await expect(page.getByTestId('entry-status')).toHaveText('kept');
      }
    });
  });
}
