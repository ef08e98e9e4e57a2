/** A page that keeps entries with a library and shows the first titles: the least that an app over it does. */

export interface Entry {
  readonly title: string;
  readonly body: string;
}

export interface Contender {
  /** Stores entries; resolves when they are durable. */
  seed(entries: readonly Entry[]): Promise<void>;
  /** The last `count` titles, newest first, from what is stored. */
  titles(count: number): Promise<string[]>;
  /** Brings every entry into memory and returns how many there are. */
  all(): Promise<number>;
}

const FIRST = 50;

/** With `?seed` waits to be seeded; otherwise shows the first titles and then loads everything. */
export function page(contender: Contender): void {
  if (location.search === '?seed') {
    Object.assign(window, { seed: (entries: Entry[]) => contender.seed(entries) });
    return;
  }
  const opened = (async () => {
    const titles = await contender.titles(FIRST);
    if (titles.length !== FIRST) throw new Error(`${titles.length} titles`);
    document.body.replaceChildren(
      ...titles.map((title) => Object.assign(document.createElement('p'), { textContent: title })),
    );
    const firstCards = performance.now();
    const count = await contender.all();
    return { firstCards, allOpen: performance.now(), count };
  })();
  Object.assign(window, { opened });
}
