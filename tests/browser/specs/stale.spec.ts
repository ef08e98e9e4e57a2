/** A revise over a state that is no longer there. */
import { expect, test, TRANSPORTS } from '../fixtures.ts';
import { editFields, openEntry, recordAndOpen, setField } from '../support/codex.ts';
import { sitDown } from '../support/table.ts';

for (const transport of TRANSPORTS) {
  test(`a stale revise changes nothing, shows what is there, and is applied on top (${transport})`, async ({ person }) => {
    const { keeper, player } = await sitDown(person, transport);
    const id = await recordAndOpen(keeper.page, { title: 'The lantern debt' });
    await openEntry(player.page, id);

    const form = await editFields(keeper.page);
    await form.getByTestId('field-title').fill('The lantern debt, doubled');
    await setField(player.page, 'title', 'The lantern debt, forgiven');
    await setField(player.page, 'when', 'Second of Ebb');
    await form.getByTestId('fields-save').click();

    const refusal = keeper.page.getByTestId('revise-conflict');
    await expect(refusal).toContainText('The lantern debt, forgiven');
    await expect(refusal).toContainText('The lantern debt, doubled');
    await expect(refusal).toContainText('Barnaby');
    await expect(form.getByTestId('field-title')).toHaveValue('The lantern debt, doubled');
    // Nothing was written anywhere.
    await expect(player.page.getByTestId('entry-title')).toHaveText('The lantern debt, forgiven');
    const witness = await keeper.person.openTab('/', `/entry/${id}`);
    await expect(witness.getByTestId('entry-title')).toHaveText('The lantern debt, forgiven');

    await refusal.getByTestId('apply-on-top').click();
    await expect(keeper.page.getByTestId('fields-form')).toBeHidden();
    for (const page of [keeper.page, player.page, witness]) {
      await expect(page.getByTestId('entry-title')).toHaveText('The lantern debt, doubled');
      // What the other changed beside it stays.
      await expect(page.getByTestId('entry-when')).toHaveText('Second of Ebb');
    }
  });
}
