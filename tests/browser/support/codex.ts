/** What a person does in the page, in the page's own words: every step goes through the UI. */
import { expect, type Locator, type Page } from '@playwright/test';

export const TAINTED_WELLS_QUESTION = 'why do people in the river villages keep getting sick?';

/** Waits until the codex is open and its campaign is shown. */
export async function ready(page: Page): Promise<void> {
  await expect(page.locator('.frame[data-ready]')).toBeVisible();
  await expect(page.getByTestId('list-count').or(page.getByTestId('entry-view')).first()).toBeVisible();
}

/** The network state as the page says it: `live`, `offline`, … */
export async function network(page: Page, state: string): Promise<void> {
  await expect(page.getByTestId('status-line')).toHaveAttribute('data-network', state);
}

/** Everything of this device has been acknowledged by the relay. */
export async function allSent(page: Page): Promise<void> {
  await network(page, 'live');
  await expect(page.getByTestId('status-line')).toHaveAttribute('data-waiting', '0');
}

/** How many entries the open list says it has. */
export async function entryCount(page: Page): Promise<number> {
  const text = await page.getByTestId('list-count').innerText();
  const number = /[\d,.\s]+/.exec(text)?.[0].replace(/\D/g, '') ?? '';
  return Number(number);
}

export interface Words {
  title: string;
  body?: string;
  when?: string;
  threads?: string;
}

async function fillComposer(page: Page, words: Words): Promise<Locator> {
  await page.getByTestId('new-entry').click();
  const composer = page.getByTestId('composer');
  await composer.getByTestId('composer-title').fill(words.title);
  if (words.body !== undefined) await composer.getByTestId('composer-body').fill(words.body);
  if (words.when !== undefined) await composer.getByTestId('composer-when').fill(words.when);
  if (words.threads !== undefined) await composer.getByTestId('composer-threads').fill(words.threads);
  return composer;
}

/** Writes an entry; returns when the page says that it is saved. */
export async function record(page: Page, words: Words): Promise<void> {
  const composer = await fillComposer(page, words);
  await composer.getByTestId('composer-save').click();
  await expect(composer).toBeHidden();
}

/** Writes an entry and opens it; returns its id. */
export async function recordAndOpen(page: Page, words: Words): Promise<string> {
  const composer = await fillComposer(page, words);
  await composer.getByTestId('composer-save-open').click();
  const view = page.getByTestId('entry-view');
  await expect(view.getByTestId('entry-title')).toHaveText(words.title);
  const id = await view.getAttribute('data-entry');
  if (id === null) throw new Error('the open entry has no id');
  return id;
}

/** Goes to an entry by its address, within the page. */
export async function openEntry(page: Page, id: string): Promise<Locator> {
  await page.evaluate((hash) => (location.hash = hash), `#/entry/${id}`);
  const view = page.locator(`[data-testid="entry-view"][data-entry="${id}"]`);
  await expect(view).toBeVisible();
  return view;
}

/** Goes back to the list of all entries, from an open entry or an answered question. */
export async function openCodex(page: Page): Promise<void> {
  const clear = page.getByTestId('search-clear');
  if (await clear.isVisible()) await clear.click();
  await page.evaluate(() => (location.hash = '#/'));
  await expect(page.getByTestId('list-count')).toBeVisible();
}

/** Asks a question and waits for the answer to it; returns the results, best first. */
export async function ask(page: Page, question: string): Promise<Locator> {
  const field = page.getByTestId('search');
  await field.fill(question);
  await field.press('Enter');
  const results = page.locator('[data-testid="results"]:not([data-stale])');
  await expect(results).toBeVisible();
  return results.getByTestId('entry-card');
}

/** Waits until the model is there and every entry has its vectors. */
export async function meaningReady(page: Page): Promise<void> {
  await expect(page.getByTestId('embedding-note')).toBeHidden({ timeout: 90_000 });
}

async function openTableDrawer(page: Page): Promise<void> {
  const known = page.getByTestId('member').or(page.getByTestId('open-campaign-table')).first();
  if (!(await known.isVisible())) await page.getByTestId('open-table').click();
  await expect(known).toBeVisible();
}

/** Opens the campaign to a table, under this name; returns when the relay has taken it. */
export async function openTable(page: Page, name: string): Promise<void> {
  await openTableDrawer(page);
  await page.getByTestId('change-name').click();
  await page.getByTestId('my-name').fill(name);
  await page.getByTestId('my-name-save').click();
  await expect(page.getByTestId('my-name')).toBeHidden();
  await page.getByTestId('open-campaign-table').click();
  await allSent(page);
}

/** Makes an invitation link. */
export async function invite(page: Page, role: 'player' | 'co-keeper' | 'watcher' = 'player'): Promise<string> {
  await openTableDrawer(page);
  await page.getByTestId('invite-role').selectOption(role);
  await page.getByTestId('invite').click();
  const link = page.getByTestId('invite-link');
  await expect(link).toHaveValue(/\/j\/[a-z2-7]+#\S+/i);
  return link.inputValue();
}

/** Joins at the page of an invitation, under this name. */
export async function join(page: Page, name: string): Promise<void> {
  await page.getByTestId('join-name').fill(name);
  await page.getByTestId('join-submit').click();
  await ready(page);
  await network(page, 'live');
}

/** Who is at the table now, by name. */
export function membersHere(page: Page): Locator {
  return page.locator('[data-testid="member"][data-here]');
}

/** Starts editing the text of the open entry; returns the editor, with the caret at the end. */
export async function editText(page: Page): Promise<Locator> {
  const editor = page.getByTestId('entry-view').locator('[contenteditable="true"]');
  if (!(await editor.isVisible())) await page.getByTestId('edit-text').click();
  await expect(editor).toBeVisible();
  await editor.click();
  await page.keyboard.press('Control+End');
  return editor;
}

/** Stops editing: the text as it is read. */
export async function readText(page: Page): Promise<void> {
  const done = page.getByTestId('edit-text');
  if ((await done.getAttribute('aria-pressed')) === 'true') await done.click();
  await expect(done).toHaveAttribute('aria-pressed', 'false');
}

/** Opens the form of an entry's plain fields. */
export async function editFields(page: Page): Promise<Locator> {
  await page.getByTestId('edit-fields').click();
  const form = page.getByTestId('fields-form');
  await expect(form).toBeVisible();
  return form;
}

/** Changes one plain field of the open entry; returns when the page says that it is saved. */
export async function setField(page: Page, field: 'title' | 'when' | 'status' | 'threads', value: string): Promise<void> {
  const form = await editFields(page);
  await form.getByTestId(`field-${field}`).fill(value);
  await form.getByTestId('fields-save').click();
  await expect(form).toBeHidden();
}
