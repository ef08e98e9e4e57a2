/** The tab's end of the engine: a typed call becomes a message, an event becomes a callback. */

import type { Calls, Engine, EngineError, EngineEvent } from './api';
import type { CallMessage, FromWorker, ToWorker } from './messages';

interface Outstanding {
  call: CallMessage;
  resolve: (result: unknown) => void;
  reject: (error: EngineError) => void;
}

/** The shortest time between two starts of a worker that keeps failing, in milliseconds. */
const RESTART_MS = 2_000;

class WorkerEngine implements Engine {
  private worker: Worker;
  private next = 1;
  private readonly outstanding = new Map<number, Outstanding>();
  private readonly listeners = new Set<(event: EngineEvent) => void>();

  constructor() {
    this.worker = this.start();
    for (const type of ['online', 'offline'] as const) {
      addEventListener(type, () => this.send({ type: 'online', online: navigator.onLine }));
    }
  }

  call<K extends keyof Calls>(method: K, params: Calls[K][0]): Promise<Calls[K][1]> {
    const call: CallMessage = {
      type: 'call',
      id: this.next++,
      op: crypto.randomUUID(),
      method,
      params,
    };
    return new Promise((resolve, reject) => {
      this.outstanding.set(call.id, {
        call,
        resolve: resolve as (result: unknown) => void,
        reject,
      });
      this.send(call);
    });
  }

  subscribe(listener: (event: EngineEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private start(): Worker {
    const worker = new Worker(new URL('./engine.worker.ts', import.meta.url), {
      type: 'module',
      name: 'engine',
    });
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.receive(worker, data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.restart(worker, event.message);
    };
    const query = new URLSearchParams(location.search);
    const asked = query.get('transport');
    const start: ToWorker = {
      type: 'start',
      transport: asked === 'webtransport' || asked === 'websocket' ? asked : null,
      snapshot: query.get('storage') === 'snapshot',
      sample: !location.pathname.startsWith('/j/'),
      online: navigator.onLine,
    };
    worker.postMessage(start);
    return worker;
  }

  /** Calls without an answer go to the new worker under their old names, so none runs twice. */
  private restart(worker: Worker, message: string): void {
    if (worker !== this.worker) return;
    worker.terminate();
    console.error('engine worker stopped:', message);
    setTimeout(() => {
      this.worker = this.start();
      for (const { call } of this.outstanding.values()) this.send(call);
    }, RESTART_MS);
  }

  private receive(worker: Worker, message: FromWorker): void {
    if (worker !== this.worker) return;
    if (message.type === 'fatal') {
      this.restart(worker, message.message);
    } else if (message.type === 'event') {
      for (const listener of this.listeners) listener(message.event);
    } else {
      const waiting = this.outstanding.get(message.id);
      if (!waiting) return;
      this.outstanding.delete(message.id);
      if (message.error) waiting.reject(message.error);
      else waiting.resolve(message.result);
    }
  }

  private send(message: ToWorker): void {
    this.worker.postMessage(message);
  }
}

/** Connects this tab to the codex of this browser. */
export function connectEngine(): Engine {
  return new WorkerEngine();
}
