/** Browsers with profiles on disk: what a person has, who closes, reopens and crashes them. */
import { chromium, type BrowserContext, type Page } from '@playwright/test';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromiumPath } from './paths.ts';

export type Transport = 'webtransport' | 'websocket';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--no-first-run',
  // The browser's own services find nobody; what a page would ask elsewhere fails, and is logged.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  // A window that is covered by another must go on as if it were seen.
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
];

/** One person's browser: a profile, and the process that has it open. */
export class Person {
  private context: BrowserContext | null = null;
  private pid = 0;
  /** Every address that any page or worker of this browser asked for. */
  readonly requests: string[] = [];
  /** Uncaught errors of any page. */
  readonly errors: string[] = [];

  private constructor(
    private readonly profile: string,
    /** The origin of the page. */
    readonly origin: string,
    readonly transport: Transport,
    private readonly options: PersonOptions,
    private readonly flags: readonly string[],
  ) {}

  /** A person with a new profile; `flags` are further arguments of the browser. */
  static async arrive(
    origin: string,
    transport: Transport,
    options: PersonOptions = {},
    flags: readonly string[] = [],
  ): Promise<Person> {
    const profile = await mkdtemp(join(tmpdir(), 'lore-profile-'));
    const person = new Person(profile, origin, transport, options, flags);
    await person.openBrowser();
    return person;
  }

  /** Starts the browser on the profile as it was left. */
  async openBrowser(): Promise<void> {
    const context = await chromium.launchPersistentContext(this.profile, {
      executablePath: chromiumPath(),
      headless: true,
      args: [...FLAGS, ...this.flags],
      viewport: { width: 1440, height: 900 },
      ...this.options,
    });
    this.context = context;
    this.pid = await findProcess(this.profile);
    context.on('request', (request) => this.requests.push(request.url()));
    context.on('page', (page) => this.follow(page));
    for (const page of context.pages()) this.follow(page);
  }

  private follow(page: Page): void {
    page.on('websocket', (socket) => this.requests.push(socket.url()));
    page.on('pageerror', (error) => this.errors.push(`${error.name}: ${error.message}`));
  }

  get browser(): BrowserContext {
    if (this.context === null) throw new Error('the browser is closed');
    return this.context;
  }

  /** The address of a place in the page, with the transport that this person uses. */
  address(path = '/', fragment = ''): string {
    const url = new URL(path, this.origin);
    url.searchParams.set('transport', this.transport);
    url.hash = fragment;
    return url.href;
  }

  /** A new tab at the codex. */
  async openTab(path = '/', fragment = ''): Promise<Page> {
    const page = await this.browser.newPage();
    await page.goto(this.address(path, fragment));
    return page;
  }

  /** A new tab at an invitation, as a person who clicks the link. */
  async openInvitation(link: string): Promise<Page> {
    const url = new URL(link);
    return this.openTab(url.pathname, url.hash.slice(1));
  }

  /** Cuts this browser's network, workers included, and leaves it able to reach nothing. */
  async offline(off: boolean): Promise<void> {
    await this.browser.setOffline(off);
  }

  async close(): Promise<void> {
    const context = this.context;
    this.context = null;
    await context?.close();
  }

  /** Ends the trace, kept in `file` unless that is null. A browser that was killed has none. */
  async recordTrace(file: string | null): Promise<void> {
    await this.context?.tracing.stop(file === null ? {} : { path: file }).catch(() => undefined);
  }

  /** Ends the whole browser at once, as a power cut would. */
  async kill(): Promise<void> {
    const context = this.context;
    this.context = null;
    process.kill(this.pid, 'SIGKILL');
    // Its child processes notice on their own; the profile is free when none is left.
    while ((await processesOf(this.profile)).length > 0) await new Promise((next) => setTimeout(next, 50));
    await context?.close().catch(() => undefined);
  }

  async leave(): Promise<void> {
    await this.close();
    await rm(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

export interface PersonOptions {
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
  hasTouch?: boolean;
  isMobile?: boolean;
  deviceScaleFactor?: number;
}

/** The processes whose command line names this profile. */
async function processesOf(profile: string): Promise<{ pid: number; browser: boolean }[]> {
  const found = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const line = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(profile)) found.push({ pid: Number(name), browser: !line.includes('--type=') });
  }
  return found;
}

async function findProcess(profile: string): Promise<number> {
  const main = (await processesOf(profile)).find((one) => one.browser);
  if (main === undefined) throw new Error('the browser has no process');
  return main.pid;
}
