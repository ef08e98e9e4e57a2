/** The sync session of one campaign: a pipe that is opened again whenever it ends. */

import type { Engine as WasmEngine } from './pkg/engine/engine.js';
import { openPipe, type Pipe } from './transport';

export type NetworkState = 'connecting' | 'catching-up' | 'live' | 'offline' | 'refused';

/** Waiting before another try: doubled from the first to the last, with jitter, in milliseconds. */
const RETRY_FIRST_MS = 500;
const RETRY_LAST_MS = 15_000;
/** How often the session's own clock runs, in milliseconds. */
const TICK_MS = 1_000;

/** What a session needs of its owner. */
export interface NetworkHost {
  engine: WasmEngine;
  transport: 'webtransport' | 'websocket' | null;
  online: () => boolean;
  /** The session's state changed, or it moved something into the codex. */
  changed: () => void;
  /** The engine failed in a way that it cannot go on from. */
  fatal: (error: unknown) => void;
}

export class Network {
  state: NetworkState = 'offline';
  note: string | null = null;
  transport: Pipe['kind'] | null = null;
  private pipe: Pipe | null = null;
  private retry = RETRY_FIRST_MS;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly ticker: ReturnType<typeof setInterval>;
  private ended = false;
  private opening = false;

  constructor(
    private readonly host: NetworkHost,
    readonly campaign: string,
    private readonly base: string,
  ) {
    this.ticker = setInterval(() => this.guard(() => this.tick()), TICK_MS);
    void this.open();
  }

  /** Sends what the session has to say. */
  flush(): void {
    if (!this.pipe) return;
    for (;;) {
      const frame = this.host.engine.session_poll(this.campaign, this.isStream());
      if (!frame) break;
      this.pipe.send(frame);
    }
    this.follow();
  }

  /** The network may be back: tries at once. */
  wake(): void {
    if (this.pipe || this.opening || this.ended) return;
    clearTimeout(this.timer);
    this.retry = RETRY_FIRST_MS;
    void this.open();
  }

  /** The network is known to be gone. */
  cut(): void {
    this.pipe?.close();
  }

  end(): void {
    this.ended = true;
    clearInterval(this.ticker);
    clearTimeout(this.timer);
    this.pipe?.close();
  }

  private async open(): Promise<void> {
    if (this.opening || this.ended) return;
    if (!this.host.online()) return this.later('this device is offline');
    this.opening = true;
    this.set('connecting', null);
    try {
      const pipe = await openPipe(this.base, this.host.transport, (bytes) =>
        this.guard(() => {
          if (this.pipe !== pipe) return;
          this.receive(bytes);
          this.flush();
          this.host.changed();
        }),
      );
      this.pipe = pipe;
      this.transport = pipe.kind;
      this.host.engine.session_start(this.campaign);
      this.flush();
      void pipe.closed.then((why) => {
        if (this.pipe !== pipe) return;
        this.pipe = null;
        this.transport = null;
        this.guard(() => {
          this.follow();
          this.host.engine.session_end(this.campaign);
        });
        if (!this.ended) this.later(why);
      });
    } catch (error) {
      this.later(error instanceof Error ? error.message : String(error));
    } finally {
      this.opening = false;
    }
  }

  /** WebTransport carries a stream, WebSocket whole messages. */
  private isStream(): boolean {
    return this.pipe?.kind === 'webtransport';
  }

  /** What the session cannot read ends the connection, and only that. */
  private receive(bytes: Uint8Array): void {
    try {
      this.host.engine.session_receive(this.campaign, bytes, this.isStream());
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) throw error;
      console.error('the connection to the table was given up:', error);
      this.pipe?.close();
    }
  }

  private later(why: string): void {
    // A relay that refuses this device will refuse it again: try seldom, and keep saying so.
    const refused = this.state === 'refused';
    if (!refused) this.set('offline', why);
    const wait = refused ? RETRY_LAST_MS : this.retry;
    this.retry = Math.min(this.retry * 2, RETRY_LAST_MS);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.open(), wait * (0.5 + Math.random() / 2));
  }

  private tick(): void {
    if (!this.pipe) return;
    this.host.engine.session_tick(this.campaign);
    this.flush();
  }

  /** Takes the state over from the session. */
  private follow(): void {
    const said = this.host.engine.session_state(this.campaign);
    if (!said) return;
    const { state, note } = JSON.parse(said) as { state: NetworkState; note: string | null };
    if (state === 'live') this.retry = RETRY_FIRST_MS;
    if (state === 'refused') {
      this.set('refused', note);
      this.pipe?.close();
    } else if (this.pipe) {
      this.set(state, note);
    }
  }

  private set(state: NetworkState, note: string | null): void {
    if (state === this.state && note === this.note) return;
    this.state = state;
    this.note = note;
    this.host.changed();
  }

  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.host.fatal(error);
    }
  }
}
