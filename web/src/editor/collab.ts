/**
 * Letter-by-letter editing of one text with others at the table.
 *
 * The client's half of operational transformation over the engine's `splice`: the engine merges
 * (its text is a CRDT), and this keeps the person's view in step without ever moving their words.
 *
 *     confirmed ──inflight──▶ sent ──pending──▶ view
 *
 * `confirmed` is a text with its revision that the engine has given; `inflight` is the one change
 * that the engine is asked to take; `pending` is what was typed since. When the engine's text
 * moves on, the difference between the text expected and the text received is carried over
 * `pending` and into the view. At most one request is under way, so answers come in order.
 *
 * Pure of clocks, views and engines: all three are arguments.
 */
import { ChangeSet, Text } from '@codemirror/state';
import { diff } from '@codemirror/merge';
import type { Splice } from '../engine/api.ts';

/** A text that the engine holds durably, and the token of that state. */
export interface Confirmed {
  text: string;
  revision: string;
}

/** What the engine says to a splice; see `Calls.splice`. */
export type SpliceAnswer =
  | { outcome: 'done'; revision: string; body: string }
  | { outcome: 'stale'; revision: string; body: string }
  | { outcome: 'forgotten' };

export interface CollabPort {
  splice(base: string, splices: Splice[]): Promise<SpliceAnswer>;
  /** The engine's present text, or `null` when the entry is gone. */
  read(): Promise<Confirmed | null>;
  /** Applies a change from elsewhere to the view; must not call back into `edited`. */
  apply(changes: ChangeSet): void;
  /** The state of saving, for the person. */
  report(state: SaveState): void;
  /** Runs `work` after `ms`; returns how to take it back. */
  later(ms: number, work: () => void): () => void;
}

/** `unsaved`: typed and not yet acknowledged; `failing`: refused for now, tried again by itself. */
export type SaveState =
  | { kind: 'saved' }
  | { kind: 'unsaved' }
  | { kind: 'failing'; error: unknown }
  | { kind: 'forgotten' };

/** Typing is gathered this long into one change. */
export const COALESCE_MS = 100;
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 15_000;
/** Time given to finding the smallest difference; beyond it a coarser one is used. */
const DIFF_LIMIT = { scanLimit: 2_000, timeout: 15 };

const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** The change that turns `from` into `to`; never cuts a character outside the basic plane. */
export function changeBetween(from: string, to: string): ChangeSet {
  if (from === to) return ChangeSet.empty(from.length);
  // The common ends are cut off first: most changes are one short run in a long text.
  let start = 0;
  const shorter = Math.min(from.length, to.length);
  while (start < shorter && from.charCodeAt(start) === to.charCodeAt(start)) start += 1;
  if (start > 0 && (isLow(from.charCodeAt(start)) || isLow(to.charCodeAt(start)))) start -= 1;
  let end = 0;
  while (end < shorter - start && from.charCodeAt(from.length - 1 - end) === to.charCodeAt(to.length - 1 - end)) end += 1;
  if (end > 0 && isLow(from.charCodeAt(from.length - end))) end -= 1;
  const a = from.slice(start, from.length - end);
  const b = to.slice(start, to.length - end);
  const specs = (a === '' || b === '' ? [{ fromA: 0, toA: a.length, fromB: 0, toB: b.length }] : diff(a, b, DIFF_LIMIT)).map(
    (part) => ({ from: start + part.fromA, to: start + part.toA, insert: lines(b.slice(part.fromB, part.toB)) }),
  );
  return ChangeSet.of(specs, from.length);
}

/**
 * A document as the editor holds it. Only `\n` ends a line, so that positions are the engine's
 * positions; a `\r` stays a character of its own.
 */
export const lines = (text: string): Text => Text.of(text.split('\n'));

/** A change as the engine's splices, in order, positions in the base text. */
export function toSplices(changes: ChangeSet): Splice[] {
  const splices: Splice[] = [];
  changes.iterChanges((fromA, toA, _fromB, _toB, inserted) => {
    splices.push({ at: fromA, delete: toA - fromA, insert: inserted.sliceString(0, inserted.length, '\n') });
  });
  return splices;
}

export const applyTo = (changes: ChangeSet, text: string): string => changes.apply(lines(text)).sliceString(0, undefined, '\n');

export class Collab {
  private confirmed: Confirmed;
  private inflight: ChangeSet | null = null;
  private pending: ChangeSet;
  private busy = false;
  private stale = false;
  private gone = false;
  private closed = false;
  private retryMs = RETRY_FIRST_MS;
  private cancelTimer: (() => void) | null = null;

  constructor(
    private readonly port: CollabPort,
    start: Confirmed,
  ) {
    this.confirmed = start;
    this.pending = ChangeSet.empty(start.text.length);
  }

  /** The person changed the view. */
  edited(changes: ChangeSet): void {
    if (changes.empty) return;
    this.pending = this.pending.compose(changes);
    if (this.gone) return;
    this.port.report({ kind: 'unsaved' });
    this.schedule(COALESCE_MS);
  }

  /** The engine's text may have changed: asks for it, now or after the request under way. */
  changed(): void {
    this.stale = true;
    void this.step();
  }

  /** Sends what is typed at once, without waiting for a pause. */
  flush(): void {
    void this.step(true);
  }

  /** Sends the rest and stops; the last words still go to the engine. */
  close(): void {
    this.flush();
    this.closed = true;
  }

  /** Everything typed is acknowledged. */
  get settled(): boolean {
    return this.inflight === null && this.pending.empty;
  }

  private schedule(ms: number): void {
    if (this.busy || this.cancelTimer !== null) return;
    this.cancelTimer = this.port.later(ms, () => {
      this.cancelTimer = null;
      void this.step(true);
    });
  }

  /** Does the one next thing: read what changed, or send what was typed. */
  private async step(send = false): Promise<void> {
    if (this.busy || this.gone) return;
    const reads = this.stale;
    if (!reads && (!send || this.pending.empty)) return;
    this.cancelTimer?.();
    this.cancelTimer = null;
    this.busy = true;
    try {
      if (reads) await this.refresh();
      else await this.send();
      this.retryMs = RETRY_FIRST_MS;
    } catch (error) {
      this.giveBack();
      // Whether the engine took it is not known: look before anything is sent again.
      this.stale = true;
      this.port.report({ kind: 'failing', error });
      this.busy = false;
      this.schedule(this.retryMs);
      this.retryMs = Math.min(RETRY_MAX_MS, this.retryMs * 2);
      return;
    }
    this.busy = false;
    if (this.gone) return;
    if (this.stale) void this.step(true);
    else if (!this.pending.empty) {
      if (this.closed || reads) void this.step(true);
      else this.schedule(COALESCE_MS);
    } else this.port.report({ kind: 'saved' });
  }

  private async refresh(): Promise<void> {
    this.stale = false;
    let now: Confirmed | null;
    try {
      now = await this.port.read();
    } catch (error) {
      this.stale = true;
      throw error;
    }
    if (now === null) this.lose();
    else if (now.revision !== this.confirmed.revision || now.text !== this.confirmed.text) {
      this.receive(this.confirmed.text, now);
    }
  }

  private async send(): Promise<void> {
    const sent = this.pending;
    this.inflight = sent;
    this.pending = ChangeSet.empty(sent.newLength);
    const answer = await this.port.splice(this.confirmed.revision, toSplices(sent));
    switch (answer.outcome) {
      case 'done': {
        const expected = applyTo(sent, this.confirmed.text);
        this.inflight = null;
        this.receive(expected, { text: answer.body, revision: answer.revision });
        break;
      }
      case 'stale':
        // Nothing was taken. The words go on top of what is there now.
        this.giveBack();
        this.receive(this.confirmed.text, { text: answer.body, revision: answer.revision });
        break;
      case 'forgotten':
        this.giveBack();
        this.lose();
        break;
    }
  }

  /** The engine's text is `now`, where `expected` was; `pending` starts from the expected text. */
  private receive(expected: string, now: Confirmed): void {
    this.confirmed = now;
    const theirs = changeBetween(expected, now.text);
    if (theirs.empty) return;
    const inView = theirs.map(this.pending, true);
    this.pending = this.pending.map(theirs);
    if (!this.closed) this.port.apply(inView);
  }

  /** What was sent and not taken is typed text again. */
  private giveBack(): void {
    if (this.inflight === null) return;
    this.pending = this.inflight.compose(this.pending);
    this.inflight = null;
  }

  private lose(): void {
    this.gone = true;
    this.port.report({ kind: 'forgotten' });
  }
}
