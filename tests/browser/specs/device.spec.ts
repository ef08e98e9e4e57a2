/** A device with the `lore` program and a browser, at one table. */
import { expect, test } from '../fixtures.ts';
import { Device } from '../support/device.ts';
import { invite, openCodex, openTable, ready, recordAndOpen, setField, allSent } from '../support/codex.ts';

interface Entry {
  id: string;
  title: string;
  status: string | null;
  revision: string;
}

test('what the device records appears in the page, and the other way round', async ({ person }) => {
  const page = await (await person()).openTab();
  await ready(page);
  await openTable(page, 'Wendeline');
  const device = await Device.make();
  try {
    await device.lore('join', await invite(page), '--name', 'Barnaby’s laptop');
    await device.lore('record', 'The cellar door', '--kind', 'place', '--body', 'Locked from within.');
    await openCodex(page);
    const card = page.getByTestId('entry-card').filter({ hasText: 'The cellar door' });
    await expect(card).toContainText('Locked from within.');
    await expect(card.getByTestId('author')).toContainText('Barnaby’s laptop');

    await recordAndOpen(page, { title: 'The cellar key' });
    await setField(page, 'status', 'lost');
    await allSent(page);
    const { entries } = await device.lore<{ entries: Entry[] }>('list');
    expect(entries.find((entry) => entry.title === 'The cellar key')?.status).toBe('lost');
  } finally {
    await device.end();
  }
});
