/** What leaves the browser, and what the relay can read of it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, TRANSPORTS } from '../fixtures.ts';
import { Person } from '../support/browser.ts';
import { allSent, ask, editText, invite, join as joinTable, meaningReady, openCodex, openEntry, openTable, ready, readText, record, recordAndOpen, setField } from '../support/codex.ts';
import { contacts } from '../support/netlog.ts';
import { readableWords } from '../support/readable.ts';
import { Tap } from '../support/tap.ts';

for (const transport of TRANSPORTS) {
  test(`the page talks to its own origin and to nobody else (${transport})`, async ({ relay }) => {
    const folder = await mkdtemp(join(tmpdir(), 'lore-netlog-'));
    const file = join(folder, 'net.json');
    const keeper = await Person.arrive(relay.origin, transport, {}, [`--log-net-log=${file}`]);
    const player = await Person.arrive(relay.origin, transport);
    try {
      const page = await keeper.openTab();
      await ready(page);
      await meaningReady(page);
      await openTable(page, 'Wendeline');
      const guest = await player.openInvitation(await invite(page));
      await joinTable(guest, 'Barnaby');
      const id = await recordAndOpen(page, { title: 'The saltmarsh idol' });
      await editText(page);
      await page.keyboard.type('It looks inland.');
      await readText(page);
      await expect(await openEntry(guest, id)).toContainText('It looks inland.');
      await expect((await ask(page, 'statue that faces away from the sea')).first()).toBeVisible();
      await allSent(page);
      const seen = [...keeper.requests];
      await keeper.close();

      const { urls, webTransport, tcp } = await contacts(file);
      const { host } = new URL(relay.origin);
      expect(tcp).toEqual([host]);
      expect(webTransport.map((url) => new URL(url).host)).toEqual(transport === 'webtransport' ? [host] : []);
      // The log saw the traffic of this test at all, workers included.
      for (const part of ['/assets/engine_bg', '/model/', '/relay.json']) {
        expect(urls.some((url) => url.includes(part)), part).toBe(true);
      }
      expect([...urls, ...seen].filter((url) => /^(http|ws)s?:/.test(url) && new URL(url).host !== host)).toEqual([]);
      // Questions, text and keys are in no address.
      expect(urls.filter((url) => /saltmarsh|inland|statue|#/.test(decodeURIComponent(url)))).toEqual([]);
    } finally {
      await player.leave();
      await keeper.leave();
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** Words that stand nowhere but in this table's lore. */
const WORDS = ['Quillonmere', 'brackenfold', 'tallowgate', 'Unsunken', 'Ysoldra'];

for (const transport of TRANSPORTS) {
  test(`the relay's store and traffic hold no word of the lore (${transport})`, async ({ relay }) => {
    const tap = await Tap.before(relay.origin);
    const keeper = await Person.arrive(tap.origin, transport);
    const player = await Person.arrive(tap.origin, transport);
    try {
      const page = await keeper.openTab();
      await ready(page);
      await page.getByTestId('campaign-picker').click();
      await page.getByTestId('new-campaign').click();
      await page.getByTestId('campaign-name').fill('Quillonmere');
      await page.getByTestId('campaign-create').click();
      await expect(page.getByTestId('empty-campaign')).toBeVisible();
      await openTable(page, 'Ysoldra');
      const link = await invite(page);
      const guest = await player.openInvitation(link);
      await joinTable(guest, 'Barnaby');
      await openCodex(page);
      await record(page, { title: 'A note', body: 'The brackenfold is empty.', threads: 'Unsunken' });
      const id = await recordAndOpen(page, { title: 'tallowgate' });
      await setField(page, 'status', 'Unsunken');
      await editText(page);
      await page.keyboard.type('Behind the tallowgate lies Quillonmere.');
      await readText(page);
      await expect(await openEntry(guest, id)).toContainText('Behind the tallowgate lies Quillonmere.');
      await allSent(page);
      await keeper.close();
      await player.close();
      await relay.stop();

      const store = await relay.store();
      const campaign = campaignBytes(link);
      // These are the right bytes: what may be readable, the campaign's id, is.
      expect(store.includes(campaign)).toBe(true);
      expect(readableWords(store, WORDS)).toEqual([]);
      expect(readableWords(Buffer.from(relay.log), WORDS)).toEqual([]);
      // The invitation's key never reached the relay either.
      const seed = Buffer.from(new URL(link).hash.slice(1), 'base64url');
      expect(store.includes(seed)).toBe(false);
      if (transport === 'websocket') {
        const traffic = tap.carried();
        expect(traffic.includes(campaign)).toBe(true);
        expect(readableWords(traffic, WORDS)).toEqual([]);
        expect(traffic.includes(seed)).toBe(false);
      }
    } finally {
      await keeper.leave();
      await player.leave();
      await tap.end();
    }
  });
}

test('words are found where they are readable: plain, in UTF-16, and deflated', async () => {
  const { deflateRawSync } = await import('node:zlib');
  const noise = Buffer.from(Array.from({ length: 300 }, (_, index) => (index * 73 + 19) % 251));
  const text = 'Behind the tallowgate lies Quillonmere, behind the tallowgate nothing.';
  for (const hidden of [Buffer.from(text), Buffer.from(text, 'utf16le'), deflateRawSync(text)]) {
    expect(readableWords(Buffer.concat([noise, hidden, noise]), WORDS)).toContain('tallowgate');
  }
  expect(readableWords(noise, WORDS)).toEqual([]);
});

/** The campaign's id in an invitation link: base32 without padding. */
function campaignBytes(link: string): Buffer {
  const text = new URL(link).pathname.split('/').at(-1) ?? '';
  let bits = '';
  for (const letter of text.toLowerCase()) bits += 'abcdefghijklmnopqrstuvwxyz234567'.indexOf(letter).toString(2).padStart(5, '0');
  const bytes = bits.match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
