/** What passes between a tab, its engine worker, and the engine workers of other tabs. */

import type { EngineError, EngineEvent } from './api';

/** A call on its way to whichever worker owns the codex. */
export interface CallMessage {
  type: 'call';
  id: number;
  /** A random name: a call sent again after a lost answer is carried out once. */
  op: string;
  method: string;
  params: unknown;
}

/** The answer to a call. */
export interface AnswerMessage {
  type: 'answer';
  id: number;
  result?: unknown;
  error?: EngineError;
}

/** An event for the tab. */
export interface EventMessage {
  type: 'event';
  event: EngineEvent;
}

/** The engine worker cannot go on; the client starts another. */
export interface FatalMessage {
  type: 'fatal';
  message: string;
}

/** What the tab hands to its worker at its start. */
export interface StartMessage {
  type: 'start';
  /** Which transport to use; `null` stands for WebTransport with WebSocket behind it. */
  transport: 'webtransport' | 'websocket' | null;
  /** Keeps the codex as a snapshot in IndexedDB even where the file system could be used. */
  snapshot: boolean;
  /** A codex without a campaign begins with the sample; not where an invitation brings someone. */
  sample: boolean;
  /** The tab's network state, which a worker does not always see. */
  online: boolean;
}

/** The browser's own view of the network changed. */
export interface OnlineMessage {
  type: 'online';
  online: boolean;
}

export type ToWorker = CallMessage | StartMessage | OnlineMessage;
export type FromWorker = AnswerMessage | EventMessage | FatalMessage;

/** Between engine workers, over one BroadcastChannel. */
export type Between =
  /** A worker has become the owner: outstanding calls are sent (again). */
  | { type: 'owner'; owner: string }
  /** A new worker asks who owns the codex. */
  | { type: 'who' }
  | { type: 'call'; from: string; call: CallMessage }
  | { type: 'answer'; to: string; answer: AnswerMessage }
  | { type: 'event'; event: EngineEvent };

export const CHANNEL = 'lore-engine';
export const OWNER_LOCK = 'lore-engine-owner';
