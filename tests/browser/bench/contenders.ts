/** Other libraries in a browser: pages of `tests/bench/page` over the same seeded entries. */
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { basename, join, resolve } from 'node:path';
import type { AddressInfo } from 'node:net';
import { root } from '../support/paths.ts';
import { Person } from '../support/browser.ts';
import { missing, quantile, row } from './rows.ts';

/** By the name of their script; what they are called in the rows. */
const NAMES = new Map([
  ['yjs', 'yjs + y-indexeddb'],
  ['automerge-repo', '@automerge/automerge-repo'],
]);
const built = resolve(root, 'target/bench-page');
const TYPES = new Map([
  ['js', 'text/javascript'],
  ['wasm', 'application/wasm'],
]);

interface Opened {
  readonly firstCards: number;
  readonly allOpen: number;
  readonly count: number;
}

/** A contender's browser, seeded and closed, to be opened round by round. */
export class Contender {
  private readonly cards: number[] = [];
  private readonly everything: number[] = [];
  private why: string | null = null;

  private constructor(
    private readonly who: string,
    private readonly count: number,
    private readonly server: Server,
    private readonly person: Person,
  ) {}

  /** Every contender with `count` entries. */
  static async all(count: number): Promise<Contender[]> {
    const contenders = [];
    for (const name of NAMES.keys()) contenders.push(await Contender.seeded(name, count));
    return contenders;
  }

  private static async seeded(name: string, count: number): Promise<Contender> {
    const server = createServer((request, response) => {
      const file = basename(new URL(request.url ?? '/', 'http://localhost').pathname);
      if (file === '') {
        response.setHeader('content-type', 'text/html');
        response.end(`<!doctype html><meta charset="utf-8"><body><script type="module" src="${name}.js"></script>`);
        return;
      }
      readFile(join(built, file)).then(
        (bytes) => {
          response.setHeader('content-type', TYPES.get(file.split('.').pop() ?? '') ?? 'application/octet-stream');
          response.end(bytes);
        },
        () => response.writeHead(404).end(),
      );
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const contender = new Contender(NAMES.get(name) ?? name, count, server, await Person.arrive(origin, 'websocket'));
    await contender.attempt(async () => {
      const page = await contender.person.browser.newPage();
      await page.goto(`${origin}/?seed`);
      await page.evaluate(
        (entries) => (window as unknown as { seed: (entries: unknown) => Promise<void> }).seed(entries),
        seededEntries(count),
      );
    });
    await contender.person.close();
    return contender;
  }

  /** Opens the browser and the page once. */
  async round(): Promise<void> {
    await this.attempt(async () => {
      await this.person.openBrowser();
      const page = await this.person.browser.newPage();
      await page.goto(this.person.origin);
      const opened = await page.evaluate(() => (window as unknown as { opened: Promise<Opened> }).opened);
      if (opened.count !== this.count) throw new Error(`${opened.count} entries are there`);
      this.cards.push(opened.firstCards);
      this.everything.push(opened.allOpen);
    });
    await this.person.close();
  }

  /** Writes the rows and clears up. */
  async end(): Promise<void> {
    const case_ = `browser-${this.count / 1000}k`;
    if (this.why === null) {
      row('open', case_, 'first_cards_ms', 'ms', quantile(this.cards, 0.5), this.cards, this.who);
      row('open', case_, 'all_open_ms', 'ms', quantile(this.everything, 0.5), this.everything, this.who);
    } else {
      missing('open', case_, this.who, this.why);
    }
    await this.person.leave();
    this.server.close();
  }

  /** A contender that fails takes no other with it. */
  private async attempt(work: () => Promise<void>): Promise<void> {
    if (this.why !== null) return;
    try {
      await work();
    } catch (error) {
      this.why = error instanceof Error ? (error.message.split('\n')[0] ?? error.name) : String(error);
    }
  }
}

/** The entries that the product's own codex is seeded with. */
function seededEntries(count: number): unknown {
  const seed = process.env['LORE_SEED'];
  if (seed === undefined) throw new Error('run this through `cargo xtask bench`');
  return JSON.parse(execFileSync(seed, ['--json', String(count)], { maxBuffer: 64 * 1024 * 1024 }).toString());
}
