/** The owner's side of embedding: questions at once, spans in the background, nothing twice. */

import type { Status } from './api';
import type { EmbedderState, FromEmbedder, ServeMessage, ToEmbedder } from './embed-messages';
import type { Engine as WasmEngine } from './pkg/engine/engine.js';

/** Texts that are handed to the embedding worker at a time. */
const BATCH = 16;
/** Quiet that embedding waits for after a change, so that typing is not embedded letter by letter. */
const QUIET_MS = 1_200;
/** How long a question waits for its vector before words answer alone. */
const QUESTION_MS = 2_500;
/** While spans are embedded, answers are said to be better at most this often. */
const IMPROVED_MS = 1_000;
/** Vectors of questions kept, so that a question asked again costs nothing. */
const QUESTIONS_KEPT = 64;

export interface EmbeddingHost {
  /** Progress or state changed. */
  changed: () => void;
  /** Answers may be better now. */
  improved: () => void;
  fatal: (error: unknown) => void;
}

export class Embedding {
  private port: MessagePort | null = null;
  private worker: EmbedderState = { state: 'loading', done: 0, total: 0 };
  private model: string | null = null;
  private next = 1;
  private readonly waiting = new Map<number, (answer: FromEmbedder) => void>();
  private readonly questions = new Map<string, Float32Array>();
  private readonly campaigns = new Set<string>();
  private readonly indexed = new Set<string>();
  private progress = { done: 0, total: 0 };
  private timer: ReturnType<typeof setTimeout> | undefined;
  private busy = false;
  private again = false;

  constructor(
    private readonly engine: WasmEngine,
    private readonly host: EmbeddingHost,
  ) {}

  /** Starts the embedding worker: after the first cards, since it takes a core for a while. */
  begin(): void {
    const worker = new Worker(new URL('./embed.worker.ts', import.meta.url), {
      type: 'module',
      name: 'embedding',
    });
    worker.onerror = (event) => {
      event.preventDefault();
      this.become({ state: 'unavailable', why: event.message, again: false });
    };
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent<FromEmbedder>) => this.hear(data);
    const serve: ServeMessage = { type: 'serve', port: port2 };
    worker.postMessage(serve, [port2]);
    this.port = port1;
  }

  state(): Status['embedding'] {
    const { worker } = this;
    return {
      state: worker.state,
      ...this.progress,
      note: worker.state === 'unavailable' ? worker.why : null,
    };
  }

  /** Campaigns that someone has looked at. */
  attended(): Iterable<string> {
    return this.campaigns;
  }

  /** Someone looks at the campaign: its index is made ready in the background. */
  attend(campaign: string): void {
    if (typeof campaign !== 'string' || this.campaigns.has(campaign)) return;
    this.campaigns.add(campaign);
    this.indexSoon(campaign);
  }

  /** The codex changed: there may be new texts. */
  poke(): void {
    this.again = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.embedSpans(), QUIET_MS);
  }

  /** The questions' vectors, or nulls while the model is not there. */
  async vectors(questions: string[]): Promise<(number[] | null)[]> {
    if (!Array.isArray(questions)) return [];
    return Promise.all(questions.slice(0, 8).map((question) => this.question(String(question))));
  }

  private async question(text: string): Promise<number[] | null> {
    if (this.worker.state !== 'ready' || text.trim() === '') return null;
    const known = this.questions.get(text);
    if (known) return Array.from(known);
    const answer = await Promise.race([
      this.ask('query', text),
      new Promise<null>((resolve) => setTimeout(() => resolve(null), QUESTION_MS)),
    ]);
    if (answer?.type !== 'vector') return null;
    if (this.questions.size >= QUESTIONS_KEPT) {
      const oldest = this.questions.keys().next();
      if (!oldest.done) this.questions.delete(oldest.value);
    }
    this.questions.set(text, answer.vector);
    return Array.from(answer.vector);
  }

  private ask(kind: 'query' | 'span', text: string): Promise<FromEmbedder> {
    const id = this.next++;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      const job: ToEmbedder = { type: 'job', id, kind, text };
      this.port?.postMessage(job);
    });
  }

  private hear(message: FromEmbedder): void {
    if (message.type === 'state') return this.become(message.state);
    const resolve = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    resolve?.(message);
  }

  private become(state: EmbedderState): void {
    this.worker = state;
    if (state.state === 'ready') {
      this.guard(() => {
        this.model = state.modelId;
        this.engine.set_model(state.modelId);
        this.measure();
      });
      this.host.improved();
      void this.embedSpans();
    }
    this.host.changed();
  }

  /** Embeds what waits, a batch at a time, until nothing does. */
  private async embedSpans(): Promise<void> {
    if (this.busy || !this.model) return;
    this.busy = true;
    let made = 0;
    let told = performance.now();
    try {
      do {
        this.again = false;
        const pending = JSON.parse(this.engine.pending_texts(BATCH)) as {
          hash: string;
          text: string;
        }[];
        if (pending.length === 0) break;
        const answers = await Promise.all(pending.map(({ text }) => this.ask('span', text)));
        const hashes: string[] = [];
        const vectors: Uint8Array[] = [];
        answers.forEach((answer, index) => {
          const text = pending[index];
          if (answer.type !== 'quantized' || !text) return;
          hashes.push(text.hash);
          vectors.push(answer.quantized);
        });
        // The model has gone: what waits stays queued in the codex.
        if (hashes.length === 0) break;
        const bytes = new Uint8Array(vectors.reduce((sum, vector) => sum + vector.length, 0));
        let at = 0;
        for (const vector of vectors) {
          bytes.set(vector, at);
          at += vector.length;
        }
        this.engine.store_vectors(this.model, hashes, bytes);
        made += hashes.length;
        if (performance.now() - told > IMPROVED_MS) {
          told = performance.now();
          made = 0;
          this.host.improved();
        }
        this.measure();
        this.host.changed();
      } while (this.worker.state === 'ready');
    } catch (error) {
      this.host.fatal(error);
    } finally {
      this.busy = false;
    }
    this.measure();
    this.host.changed();
    if (made > 0) this.host.improved();
    if (this.again) this.poke();
  }

  private measure(): void {
    this.guard(() => {
      const [done = 0, total = 0] = this.engine.embedding_progress();
      this.progress = { done, total };
    });
  }

  /** Loads a campaign's index slice by slice, so that calls get their turn in between. */
  private indexSoon(campaign: string): void {
    if (this.indexed.has(campaign)) return;
    setTimeout(() => {
      this.guard(() => {
        if (this.engine.load_index(campaign)) this.indexed.add(campaign);
        else this.indexSoon(campaign);
      });
    }, 0);
  }

  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.host.fatal(error);
    }
  }
}
