/**
 * What passes between the embedding worker and whoever needs vectors.
 *
 * The worker is started with `new Worker(new URL('./embed.worker.ts', import.meta.url), { type: 'module' })`
 * and handed one `MessagePort` for each client in a {@link ServeMessage}. Over the port the client
 * sends {@link ToEmbedder} and hears {@link FromEmbedder}, the present state first.
 */

/** Posted to the worker itself, with the port in the transfer list. The first one starts loading. */
export interface ServeMessage {
  type: 'serve';
  port: MessagePort;
}

/**
 * A text to embed. Someone waits for a `query`: it is done before every waiting `span`, and
 * answered with numbers; a span is answered with the bytes that are stored.
 */
export interface Job {
  type: 'job';
  /** The client's own number, given back in the answer. */
  id: number;
  kind: 'query' | 'span';
  text: string;
}

/** The answer to a job is no longer wanted; if it waits, it is dropped without an answer. */
export interface Cancel {
  type: 'cancel';
  id: number;
}

export type ToEmbedder = Job | Cancel;

/** How far the model is. */
export type EmbedderState =
  /** Bytes of the weights that are here, of how many. */
  | { state: 'loading'; done: number; total: number }
  /** Vectors can be had; the id names every bit of them, and is stored with each. */
  | { state: 'ready'; modelId: string }
  /** Words answer alone. With `again`, the worker tries again by itself and says `loading` then. */
  | { state: 'unavailable'; why: string; again: boolean };

export interface StateMessage {
  type: 'state';
  state: EmbedderState;
}

/** A query's unit vector: 384 numbers. */
export interface VectorMessage {
  type: 'vector';
  id: number;
  vector: Float32Array;
}

/** A span's vector as it is stored: scale (`f32`, little-endian), then 384 signed bytes. */
export interface QuantizedMessage {
  type: 'quantized';
  id: number;
  quantized: Uint8Array;
}

/** A job that will not be done: the model is unavailable, or too many jobs wait. */
export interface FailedMessage {
  type: 'failed';
  id: number;
  why: string;
}

export type FromEmbedder = StateMessage | VectorMessage | QuantizedMessage | FailedMessage;

/** Jobs that may wait in the worker; one more is answered with `failed`. */
export const MAX_WAITING = 4096;
