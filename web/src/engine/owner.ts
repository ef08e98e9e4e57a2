/** The owner of the codex: the one worker of this origin that holds the file and the sessions. */

import type { Calls, EngineError, EngineEvent, Status } from './api';
import { Embedding } from './embedding';
import type { CallMessage, StartMessage } from './messages';
import { Network } from './network';
import init, { Engine as WasmEngine } from './pkg/engine/engine.js';
import moduleUrl from './pkg/engine/engine_bg.wasm?url';
import sampleUrl from '../../../crates/sample/data/ferrymans-toll.json?url';
import { Snapshots } from './snapshot';

const SNAPSHOT_NOTE =
  'This browser offers no private file system here, so the codex is kept as one snapshot in its ' +
  'database. Everything shown as saved is saved, but a large codex gets slow: export it, or use ' +
  'an up-to-date browser outside private browsing.';

/** Status goes out at most this often, in milliseconds. */
const STATUS_MS = 150;

type Said = { type: 'error'; error: EngineError } | { type: 'result'; result: unknown };

function readable(error: unknown): EngineError {
  if (typeof error === 'string') {
    try {
      return JSON.parse(error) as EngineError;
    } catch {
      return { code: 'internal', message: error };
    }
  }
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
}

/** The last owner's file handles may outlive its lock for a moment: tries of, and between, opening. */
const OPEN_TRIES = 25;
const OPEN_AGAIN_MS = 120;

/** The codex on the private file system; nothing where there is none here. */
async function openFile(): Promise<WasmEngine | undefined> {
  for (let left = OPEN_TRIES; ; left--) {
    try {
      return await WasmEngine.open_opfs();
    } catch (error) {
      const { code } = readable(error);
      if (code === 'no-opfs') return undefined;
      // A codex that is there but cannot be opened must not be passed over in silence.
      if (code !== 'busy' || left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, OPEN_AGAIN_MS));
    }
  }
}

export class Owner {
  private readonly networks = new Map<string, Network>();
  private readonly embedding: Embedding;
  private statusTimer: ReturnType<typeof setTimeout> | undefined;
  private lastStatus = '';
  private online: boolean;
  /** One write of the snapshot at a time; later writes wait for the next. */
  private saving: Promise<void> = Promise.resolve();

  private constructor(
    private readonly engine: WasmEngine,
    private readonly snapshots: Snapshots | null,
    private readonly start: StartMessage,
    private readonly emit: (event: EngineEvent) => void,
    private readonly fatal: (error: unknown) => void,
  ) {
    this.online = start.online;
    this.embedding = new Embedding(engine, {
      changed: () => this.statusSoon(),
      improved: () => this.improved(),
      fatal,
    });
  }

  /** Opens the codex: on the private file system, or else as a snapshot. */
  static async open(
    start: StartMessage,
    emit: (event: EngineEvent) => void,
    fatal: (error: unknown) => void,
  ): Promise<Owner> {
    performance.mark('engine-fetch');
    await init({ module_or_path: moduleUrl });
    performance.mark('engine-compiled');
    let engine: WasmEngine | undefined;
    let snapshots: Snapshots | null = null;
    if (!start.snapshot && 'createSyncAccessHandle' in (globalThis.FileSystemFileHandle?.prototype ?? {})) {
      engine = await openFile();
    }
    if (!engine) {
      snapshots = await Snapshots.open();
      engine = WasmEngine.open_memory(await snapshots.load());
    }
    const owner = new Owner(engine, snapshots, start, emit, fatal);
    if (start.sample && engine.call('campaigns', '{}', '') === '[]') {
      await owner.beginWithSample();
    }
    owner.connect();
    owner.embedding.begin();
    return owner;
  }

  /** Without the sample's data, on a first visit that lost its network, the codex begins empty. */
  private async beginWithSample(): Promise<void> {
    const answer = await fetch(sampleUrl).catch(() => null);
    if (!answer?.ok) return;
    const params = JSON.stringify({ name: '', data: await answer.text() });
    this.engine.call('createCampaign', params, '');
    await this.settled();
  }

  /** The network went or came back. */
  setOnline(online: boolean): void {
    this.online = online;
    for (const network of this.networks.values()) {
      if (online) network.wake();
      else network.cut();
    }
  }

  /** Carries a call out; what it wrote is durable when this resolves. */
  async call(call: CallMessage): Promise<Said> {
    try {
      const result = await this.carryOut(call);
      return { type: 'result', result };
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) this.fatal(error);
      return { type: 'error', error: readable(error) };
    }
  }

  private async carryOut(call: CallMessage): Promise<unknown> {
    let params = call.params as Record<string, unknown>;
    switch (call.method as keyof Calls) {
      case 'status':
        return this.status();
      case 'openTable':
        params = { ...params, relay: self.location.origin };
        break;
      case 'recall': {
        this.embedding.attend(params.campaign as string);
        const vectors = await this.embedding.vectors(params.queries as string[]);
        params = { ...params, vectors };
        break;
      }
      case 'list':
        this.embedding.attend(params.campaign as string);
        break;
      case 'setName':
        this.run(call, params);
        await this.settled();
        return this.status();
      default:
        break;
    }
    const result = this.run(call, params);
    await this.settled();
    return result;
  }

  private run(call: CallMessage, params: unknown): unknown {
    const said = this.engine.call(call.method, JSON.stringify(params), call.op);
    const result: unknown = JSON.parse(said);
    this.afterwards();
    return result;
  }

  /** Tells what changed and sends what there is to send. */
  private afterwards(): void {
    const events = JSON.parse(this.engine.take_events()) as EngineEvent[];
    for (const event of events) {
      if (event.type === 'campaigns') this.connect();
      if (event.type === 'changed') this.embedding.poke();
      this.emit(event);
    }
    for (const network of this.networks.values()) network.flush();
    if (events.length > 0) this.statusSoon();
  }

  /** Where a snapshot stands in for the file: resolves once it holds everything so far. */
  private async settled(): Promise<void> {
    const snapshots = this.snapshots;
    if (!snapshots || !this.engine.take_dirty()) return;
    const bytes = this.engine.snapshot();
    this.saving = this.saving.catch(() => undefined).then(() => snapshots.save(bytes));
    await this.saving;
  }

  /** A session for every campaign that is a table. */
  private connect(): void {
    const tables = JSON.parse(this.engine.tables()) as { campaign: string; relay: string }[];
    for (const { campaign, relay } of tables) {
      if (this.networks.has(campaign)) continue;
      const network = new Network(
        {
          engine: this.engine,
          transport: this.start.transport,
          online: () => this.online,
          changed: () => {
            this.afterwards();
            void this.settled().catch(this.fatal);
            this.statusSoon();
          },
          fatal: this.fatal,
        },
        campaign,
        relay,
      );
      this.networks.set(campaign, network);
    }
    for (const [campaign, network] of this.networks) {
      if (tables.some((table) => table.campaign === campaign)) continue;
      network.end();
      this.networks.delete(campaign);
    }
  }

  private improved(): void {
    for (const campaign of this.embedding.attended()) {
      this.emit({ type: 'recall-again', campaign });
    }
  }

  private statusSoon(): void {
    this.statusTimer ??= setTimeout(() => {
      this.statusTimer = undefined;
      try {
        const status = this.status();
        const said = JSON.stringify(status);
        if (said === this.lastStatus) return;
        this.lastStatus = said;
        this.emit({ type: 'status', status });
      } catch (error) {
        this.fatal(error);
      }
    }, STATUS_MS);
  }

  private status(): Status {
    const { device, name, waiting } = JSON.parse(this.engine.describe()) as {
      device: string;
      name: string;
      waiting: number;
    };
    return {
      storage: this.snapshots ? 'snapshot' : 'opfs',
      storageNote: this.snapshots ? SNAPSHOT_NOTE : null,
      owner: true,
      device,
      name,
      network: { ...this.networkState(), waiting },
      embedding: this.embedding.state(),
      error: null,
    };
  }

  /** The state that most wants to be known, over all tables. */
  private networkState(): Pick<Status['network'], 'state' | 'transport' | 'note'> {
    const order = ['refused', 'offline', 'connecting', 'catching-up', 'live'] as const;
    const networks = [...this.networks.values()];
    for (const state of order) {
      const network = networks.find((one) => one.state === state);
      if (network) return { state, transport: network.transport, note: network.note };
    }
    return { state: 'solo', transport: null, note: null };
  }
}
