/** The page as a person first meets it. */
import { expect, test } from '../fixtures.ts';
import { ask, entryCount, meaningReady, openCodex, ready, record, TAINTED_WELLS_QUESTION } from '../support/codex.ts';

test('the page opens on a sample campaign of recent weeks, and a notice clears it', async ({ person }) => {
  const reader = await person();
  const page = await reader.openTab();
  await ready(page);
  await expect(page.getByTestId('sample-notice')).toBeVisible();
  expect(await entryCount(page)).toBeGreaterThanOrEqual(40);

  const dates = await page.locator('[data-testid="entry-card"] time').evaluateAll((times) =>
    times.map((time) => Date.parse((time as HTMLTimeElement).dateTime)),
  );
  expect(dates.length).toBeGreaterThan(0);
  const weeks = 14 * 7 * 24 * 3600 * 1000;
  for (const date of dates) {
    expect(date).toBeLessThanOrEqual(Date.now());
    expect(date).toBeGreaterThan(Date.now() - weeks);
  }

  await page.getByTestId('sample-clear').click();
  await page.getByTestId('sample-name').fill('Salt and Lanterns');
  await page.getByTestId('sample-clear-confirm').click();
  await expect(page.getByTestId('empty-campaign')).toBeVisible();
  await expect(page.getByTestId('campaign-picker')).toContainText('Salt and Lanterns');
  await expect(page.getByTestId('sample-notice')).toBeHidden();
  expect(reader.errors).toEqual([]);
});

test('a question finds by meaning what shares no word with it', async ({ person }) => {
  const page = await (await person()).openTab();
  await ready(page);
  await meaningReady(page);
  const hits = await ask(page, TAINTED_WELLS_QUESTION);
  await expect(hits.first().getByTestId('card-title')).toContainText(/well/i);
  await expect(hits.first().getByTestId('relevance')).toHaveText(/\b\d{1,3}%$/);
  await expect(hits.first().getByTestId('why')).toHaveText(/meaning/);
  // The question is one of those that the page suggests.
  await page.getByTestId('search-clear').click();
  await expect(page.getByTestId('suggestion').filter({ hasText: TAINTED_WELLS_QUESTION })).toBeVisible();
});

test('recall answers from words while the model is still on its way', async ({ person }) => {
  const reader = await person();
  // The model never arrives.
  await reader.browser.route('**/model/*.lore', () => undefined);
  const page = await reader.openTab();
  await ready(page);
  const hits = await ask(page, 'tainted wells');
  await expect(hits.first()).toContainText(/tainted wells/i);
  await expect(page.getByTestId('results-head')).toContainText('words only');
  await expect(page.getByTestId('embedding-note')).toBeVisible();
});

test('recall searches only the campaign that is open', async ({ person }) => {
  const page = await (await person()).openTab();
  await ready(page);
  await page.getByTestId('campaign-picker').click();
  await page.getByTestId('new-campaign').click();
  await page.getByTestId('campaign-name').fill('The Glass Orchard');
  await page.getByTestId('campaign-create').click();
  await expect(page.getByTestId('empty-campaign')).toBeVisible();
  await record(page, { title: 'Zephrine Ash', body: 'A ferryman of ink, who carries words across.' });
  const hits = await ask(page, 'ferryman');
  await expect(hits).toHaveCount(1);
  await expect(hits.first()).toContainText('Zephrine Ash');

  await page.getByTestId('search-clear').click();
  await page.getByTestId('campaign-picker').click();
  await page.getByTestId('campaign-option').filter({ hasText: 'sample' }).click();
  await openCodex(page);
  const there = await ask(page, 'ferryman');
  await expect(there.first()).toBeVisible();
  await expect(there.filter({ hasText: 'Zephrine Ash' })).toHaveCount(0);
});

test('every card is edited where it stands', async ({ person }) => {
  const page = await (await person()).openTab();
  await ready(page);
  await record(page, { title: 'Harl the lamplighter', body: 'Owes the watch a favour.' });
  const card = page.getByTestId('entry-card').filter({ hasText: 'Harl the lamplighter' });
  await card.getByTestId('card-edit').click();
  await card.getByTestId('field-title').fill('Harl, lamplighter of the quay');
  await card.getByTestId('field-status').fill('missing');
  await card.getByTestId('fields-save').click();
  const after = page.getByTestId('entry-card').filter({ hasText: 'Harl, lamplighter of the quay' });
  await expect(after).toContainText('missing');
  await expect(page.getByTestId('fields-form')).toBeHidden();
});
