/**
 * The embedding worker: holds the model and turns texts into vectors, one at a time. A query waits
 * for at most the one span that is under way (a quarter of a second at the longest).
 */

import type { EmbedderState, FromEmbedder, ServeMessage, ToEmbedder } from './embed-messages';
import { JobQueue } from './embed-queue';
import { Unreachable, WeightsSource } from './embed-weights';
import init, { Embedder, pinnedId, weightsLength, weightsSha256 } from './pkg/embed/embed.js';
import moduleUrl from './pkg/embed/embed_bg.wasm?url';

/** Wait before another try to fetch the weights; the browser's `online` event ends it early. */
const RETRY_MS = 30_000;

const clients = new Set<MessagePort>();
const queue = new JobQueue<MessagePort>();
let state: EmbedderState = { state: 'loading', done: 0, total: 0 };
let embedder: Embedder | null = null;
let started = false;
let working = false;

function say(client: MessagePort, message: FromEmbedder, transfer: Transferable[] = []): void {
  client.postMessage(message, transfer);
}

function become(next: EmbedderState): void {
  state = next;
  for (const client of clients) say(client, { type: 'state', state });
  if (next.state === 'ready') void work();
  if (next.state === 'unavailable') {
    for (let job = queue.next(); job; job = queue.next()) {
      say(job[0], { type: 'failed', id: job[1].id, why: next.why });
    }
  }
}

function readable(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Loads module and weights, and says how it went. */
async function load(): Promise<void> {
  try {
    await init({ module_or_path: moduleUrl });
    embedder = await openModel();
    become({ state: 'ready', modelId: embedder.id() });
  } catch (error) {
    const again = error instanceof Unreachable;
    become({ state: 'unavailable', why: readable(error), again });
    if (again) retryLater();
  }
}

async function openModel(): Promise<Embedder> {
  const total = weightsLength();
  const progress = (done: number) => become({ state: 'loading', done, total });
  progress(0);
  const source = new WeightsSource(weightsSha256(), total, progress);
  const kept = await source.fromCache();
  if (kept) {
    try {
      return pinned(kept);
    } catch {
      await source.forget();
    }
  }
  const bytes = await source.fromOrigin();
  const model = pinned(bytes);
  await source.keep(bytes as Uint8Array<ArrayBuffer>);
  return model;
}

/** The model of these weights, if they are the ones that this build was made for. */
function pinned(bytes: Uint8Array): Embedder {
  const model = new Embedder(bytes);
  if (model.id() === pinnedId()) return model;
  const id = model.id();
  model.free();
  throw new Error(`weights of another model: ${id}`);
}

function retryLater(): void {
  const again = () => {
    clearTimeout(timer);
    removeEventListener('online', again);
    void load();
  };
  const timer = setTimeout(again, RETRY_MS);
  addEventListener('online', again);
}

/** Lets messages that have arrived be heard; a timer would wait 4 ms each time. */
function breathe(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

async function work(): Promise<void> {
  if (working) return;
  working = true;
  for (;;) {
    const next = embedder && queue.next();
    if (!next) break;
    const [client, job] = next;
    try {
      if (job.kind === 'query') {
        const vector = embedder!.embed(job.text);
        say(client, { type: 'vector', id: job.id, vector }, [vector.buffer]);
      } else {
        const quantized = embedder!.quantized(job.text);
        say(client, { type: 'quantized', id: job.id, quantized }, [quantized.buffer]);
      }
    } catch (error) {
      // A module that has trapped is in no known state.
      say(client, { type: 'failed', id: job.id, why: readable(error) });
      embedder = null;
      become({ state: 'unavailable', why: readable(error), again: false });
    }
    await breathe();
  }
  working = false;
}

function hear(client: MessagePort, message: ToEmbedder): void {
  if (message.type === 'cancel') {
    queue.cancel(client, message.id);
  } else if (state.state === 'unavailable') {
    say(client, { type: 'failed', id: message.id, why: state.why });
  } else if (queue.push(client, message)) {
    void work();
  } else {
    say(client, { type: 'failed', id: message.id, why: 'too many texts wait' });
  }
}

addEventListener('message', ({ data }: MessageEvent<ServeMessage>) => {
  const { port } = data;
  clients.add(port);
  port.onmessage = (event: MessageEvent<ToEmbedder>) => hear(port, event.data);
  // Not every browser tells; there, a dead client's jobs are done for nobody.
  port.addEventListener('close', () => {
    clients.delete(port);
    queue.drop(port);
  });
  say(port, { type: 'state', state });
  if (!started) {
    started = true;
    void load();
  }
});
