/** Where there is no private file system, the codex is kept as a snapshot, and the page says so. */
import { expect, test } from '../fixtures.ts';
import { openCodex, ready, record } from '../support/codex.ts';

test('without a private file system, what is acknowledged survives a killed browser', async ({ person }) => {
  const reader = await person();
  const address = `${reader.address()}&storage=snapshot`;
  const page = await reader.browser.newPage();
  await page.goto(address);
  await ready(page);
  await expect(page.getByTestId('storage-note')).toBeVisible();
  for (const title of ['First of the kept', 'Last before the cut']) await record(page, { title });
  await reader.kill();
  await reader.openBrowser();
  const restored = await reader.browser.newPage();
  await restored.goto(address);
  await ready(restored);
  await openCodex(restored);
  for (const title of ['First of the kept', 'Last before the cut']) {
    await expect(restored.getByTestId('card-title').filter({ hasText: title })).toBeVisible();
  }
});
