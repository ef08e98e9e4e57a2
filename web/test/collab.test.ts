import { ChangeSet } from '@codemirror/state';
import { describe, expect, it } from 'vitest';
import { applyTo, changeBetween, Collab, lines, toSplices, type CollabPort, type SaveState } from '../src/editor/collab.ts';
import type { Splice } from '../src/engine/api.ts';

/** A small seeded generator (mulberry32): a failing seed can be run again. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function fromSplices(splices: readonly Splice[], length: number): ChangeSet {
  return ChangeSet.of(
    splices.map((splice) => ({ from: splice.at, to: splice.at + splice.delete, insert: lines(splice.insert) })),
    length,
  );
}

/** An engine that merges splices over old revisions, as the real one does, and remembers all states. */
class MergingEngine {
  private readonly texts: string[];
  private readonly steps: ChangeSet[] = [];
  constructor(text: string) {
    this.texts = [text];
  }
  get text(): string {
    return this.texts.at(-1) ?? '';
  }
  get revision(): string {
    return String(this.steps.length);
  }
  splice(base: string, splices: readonly Splice[]): void {
    const at = Number(base);
    const mine = fromSplices(splices, (this.texts[at] ?? '').length);
    let mapped = mine;
    for (const step of this.steps.slice(at)) mapped = mapped.map(step);
    const text = applyTo(mapped, this.text);
    this.steps.push(mapped);
    this.texts.push(text);
  }
}

type Work = () => void;

/** A virtual world: every message and timer waits in a bag, and a seed says which comes next. */
class World {
  readonly bag: Work[] = [];
  constructor(readonly rand: () => number) {}
  run(): boolean {
    if (this.bag.length === 0) return false;
    const [work] = this.bag.splice(Math.floor(this.rand() * this.bag.length), 1);
    work?.();
    return true;
  }
  async drain(): Promise<void> {
    for (let turn = 0; turn < 10_000; turn += 1) {
      if (!this.run()) {
        await settle();
        if (this.bag.length === 0) return;
      }
      await settle();
    }
    throw new Error('the world never came to rest');
  }
}

/** Lets every promise that can be settled without an event be settled. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 24; turn += 1) await Promise.resolve();
}

class Writer {
  text: string;
  state: SaveState = { kind: 'saved' };
  readonly collab: Collab;
  constructor(
    world: World,
    engine: MergingEngine,
    announce: () => void,
    faultRate: number,
  ) {
    this.text = engine.text;
    const answer = <T>(ask: () => T): Promise<T> =>
      new Promise((resolve, reject) => {
        world.bag.push(() => {
          // A call that rejects has changed nothing: calls are never taken twice, nor half.
          if (world.rand() < faultRate) {
            world.bag.push(() => reject(new Error('away')));
            return;
          }
          const result = ask();
          world.bag.push(() => resolve(result));
        });
      });
    const port: CollabPort = {
      splice: (base, splices) =>
        answer(() => {
          engine.splice(base, splices);
          announce();
          return { outcome: 'done' as const, revision: engine.revision, body: engine.text };
        }),
      read: () => answer(() => ({ text: engine.text, revision: engine.revision })),
      apply: (changes) => {
        this.text = applyTo(changes, this.text);
      },
      report: (state) => {
        this.state = state;
      },
      later: (_ms, work) => {
        let live = true;
        world.bag.push(() => {
          if (live) work();
        });
        return () => {
          live = false;
        };
      },
    };
    this.collab = new Collab(port, { text: engine.text, revision: engine.revision });
  }
  type(at: number, remove: number, insert: string): void {
    const changes = ChangeSet.of([{ from: at, to: at + remove, insert: lines(insert) }], this.text.length);
    this.text = applyTo(changes, this.text);
    this.collab.edited(changes);
  }
}

const ALPHABET = ['a', 'e', 'n', ' ', '\n', '\r\n', 'ü', '🜂', '[[', '漢'];

/** A position that does not cut a surrogate pair. */
function place(text: string, rand: () => number): number {
  const at = Math.floor(rand() * (text.length + 1));
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

async function play(seed: number, faultRate: number, deletes: boolean) {
  const rand = random(seed);
  const world = new World(rand);
  const engine = new MergingEngine('The toll gate\nat Greywater 🜂.\n');
  const writers: Writer[] = [];
  const announce = () => {
    for (const writer of writers) world.bag.push(() => writer.collab.changed());
  };
  for (let count = 0; count < 3; count += 1) {
    writers.push(new Writer(world, engine, announce, faultRate));
  }
  const typed: string[] = [];
  for (let turn = 0; turn < 60; turn += 1) {
    const writer = writers[Math.floor(rand() * writers.length)];
    if (writer === undefined) continue;
    if (rand() < 0.5) {
      const at = place(writer.text, rand);
      const end = deletes && rand() < 0.4 ? Math.max(at, place(writer.text, rand)) : at;
      const insert = deletes ? (ALPHABET[Math.floor(rand() * ALPHABET.length)] ?? '') : `<${typed.length}>`;
      if (!deletes) typed.push(insert);
      writer.type(at, Math.min(12, end - at) === end - at ? end - at : 0, insert);
    } else {
      world.run();
      await settle();
    }
  }
  await world.drain();
  return { writers, engine, typed };
}

describe('several writers in one text', () => {
  it('converge whatever the order of their messages', async () => {
    for (let seed = 1; seed <= 150; seed += 1) {
      const { writers, engine } = await play(seed, 0, true);
      for (const writer of writers) {
        expect(writer.text, `seed ${seed}`).toBe(engine.text);
        expect(writer.collab.settled, `seed ${seed}`).toBe(true);
        expect(writer.state.kind, `seed ${seed}`).toBe('saved');
      }
    }
  });

  it('converge when requests fail on the way and are tried again', async () => {
    for (let seed = 1; seed <= 100; seed += 1) {
      const { writers, engine } = await play(seed, 0.3, true);
      for (const writer of writers) expect(writer.text, `seed ${seed}`).toBe(engine.text);
    }
  });

  it('lose no letter and double none when nobody deletes', async () => {
    for (let seed = 1; seed <= 100; seed += 1) {
      const { engine, typed } = await play(seed, 0.2, false);
      const letters = [...engine.text].sort().join('');
      const expected = [...`The toll gate\nat Greywater 🜂.\n${typed.join('')}`].sort().join('');
      expect(letters, `seed ${seed}`).toBe(expected);
    }
  });
});

function lonely(answers: Partial<CollabPort>) {
  const applied: string[] = [];
  const states: SaveState[] = [];
  const timers: Work[] = [];
  const port: CollabPort = {
    splice: () => Promise.reject(new Error('unexpected')),
    read: () => Promise.reject(new Error('unexpected')),
    apply: (changes) => applied.push(JSON.stringify(changes.toJSON())),
    report: (state) => states.push(state),
    later: (_ms, work) => {
      timers.push(work);
      return () => timers.splice(timers.indexOf(work), 1);
    },
    ...answers,
  };
  return { port, applied, states, timers };
}

describe('one writer', () => {
  it('gathers fast typing into one change', async () => {
    const sent: Splice[][] = [];
    const { port, timers } = lonely({
      splice: (_base, splices) => {
        sent.push(splices);
        return Promise.resolve({ outcome: 'done', revision: 'r2', body: 'wells' });
      },
    });
    const collab = new Collab(port, { text: '', revision: 'r1' });
    [...'wells'].forEach((letter, at) => collab.edited(ChangeSet.of([{ from: at, insert: letter }], at)));
    expect(timers).toHaveLength(1);
    timers[0]?.();
    await settle();
    expect(sent).toEqual([[{ at: 0, delete: 0, insert: 'wells' }]]);
    expect(collab.settled).toBe(true);
  });

  it('is not told "saved" while words typed during a save are still waiting', async () => {
    let release: Work = () => {};
    const { port, timers, states } = lonely({
      splice: (_base, splices) =>
        new Promise((resolve) => {
          release = () => resolve({ outcome: 'done', revision: 'r2', body: splices[0]?.insert ?? '' });
        }),
    });
    const collab = new Collab(port, { text: '', revision: 'r1' });
    collab.edited(ChangeSet.of([{ from: 0, insert: 'a' }], 0));
    timers.shift()?.();
    collab.edited(ChangeSet.of([{ from: 1, insert: 'b' }], 1));
    release();
    await settle();
    expect(states.map((state) => state.kind)).not.toContain('saved');
    expect(collab.settled).toBe(false);
  });

  it('keeps the words and puts them on top when the base is no longer known', async () => {
    const bases: string[] = [];
    const { port, timers } = lonely({
      splice: (base) => {
        bases.push(base);
        return Promise.resolve(
          base === 'r1'
            ? { outcome: 'stale', revision: 'r9', body: 'Old Saltmere' }
            : { outcome: 'done', revision: 'r10', body: 'Old Saltmere!' },
        );
      },
    });
    const collab = new Collab(port, { text: 'Saltmere', revision: 'r1' });
    collab.edited(ChangeSet.of([{ from: 8, insert: '!' }], 8));
    timers.shift()?.();
    await settle();
    timers.shift()?.();
    await settle();
    expect(bases).toEqual(['r1', 'r9']);
    expect(collab.settled).toBe(true);
  });

  it('is told when the entry was forgotten, and sends nothing more', async () => {
    const { port, states, timers } = lonely({ read: () => Promise.resolve(null) });
    const collab = new Collab(port, { text: 'x', revision: 'r1' });
    collab.changed();
    await settle();
    collab.edited(ChangeSet.of([{ from: 1, insert: 'y' }], 1));
    expect(states.at(-1)).toEqual({ kind: 'forgotten' });
    expect(timers).toHaveLength(0);
  });

  it('sends its last words when closed in the middle of a save', async () => {
    const sent: string[] = [];
    let text = '';
    const { port, timers } = lonely({
      splice: async (_base, splices) => {
        await settle();
        for (const splice of splices) {
          sent.push(splice.insert);
          text = text.slice(0, splice.at) + splice.insert + text.slice(splice.at + splice.delete);
        }
        return { outcome: 'done', revision: `r${sent.length}`, body: text };
      },
    });
    const collab = new Collab(port, { text: '', revision: 'r0' });
    collab.edited(ChangeSet.of([{ from: 0, insert: 'a' }], 0));
    timers.shift()?.();
    collab.edited(ChangeSet.of([{ from: 1, insert: 'b' }], 1));
    collab.close();
    await settle();
    await settle();
    await settle();
    expect(sent).toEqual(['a', 'b']);
  });
});

describe('the difference between two texts', () => {
  it('turns one into the other and cuts no character in two', () => {
    const rand = random(7);
    const text = () => Array.from({ length: Math.floor(rand() * 40) }, () => ALPHABET[Math.floor(rand() * ALPHABET.length)] ?? '').join('');
    for (let round = 0; round < 2_000; round += 1) {
      const a = text();
      const b = text();
      const changes = changeBetween(a, b);
      expect(applyTo(changes, a)).toBe(b);
      for (const splice of toSplices(changes)) {
        expect(splice.insert.isWellFormed(), JSON.stringify([a, b])).toBe(true);
        expect(a.slice(splice.at, splice.at + splice.delete).isWellFormed(), JSON.stringify([a, b])).toBe(true);
      }
    }
  });

  it('keeps apart two changes that lie far from each other', () => {
    const middle = ' and a long stretch of text between them that nobody touched ';
    expect(toSplices(changeBetween(`one${middle}two`, `1${middle}2`))).toHaveLength(2);
  });
});
