/** The real relay as a child process that can be stopped, paused and started again. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { createSocket } from 'node:dgram';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dist, relayProgram } from './paths.ts';

/** How long the relay may take to say that it is ready, in milliseconds. */
const READY_MS = 20_000;

/** A port number that is free for TCP and UDP alike right now. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = await new Promise<number>((resolve, reject) => {
      const server = createServer();
      server.once('error', reject);
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
      });
    });
    const udpIsFree = await new Promise<boolean>((resolve) => {
      const socket = createSocket('udp4');
      socket.once('error', () => resolve(false));
      socket.bind(port, '127.0.0.1', () => socket.close(() => resolve(true)));
    });
    if (udpIsFree) return port;
  }
}

export class Relay {
  private child: ChildProcess | null = null;
  /** Everything that the relay has logged. */
  log = '';

  private constructor(
    /** The folder of its store. */
    readonly data: string,
    private readonly port: number,
  ) {}

  /** Starts a relay with an empty store on a port that stays its own through restarts. */
  static async start(): Promise<Relay> {
    const data = await mkdtemp(join(tmpdir(), 'lore-relay-'));
    const relay = new Relay(data, await freePort());
    await relay.start();
    return relay;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const child = spawn(
      relayProgram,
      ['--listen', `127.0.0.1:${this.port}`, '--data', this.data, '--web', dist],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    this.child = child;
    child.stderr.on('data', (text: Buffer) => (this.log += text.toString()));
    await new Promise<void>((resolve, reject) => {
      let said = '';
      const timer = setTimeout(() => reject(new Error(`the relay did not get ready:\n${this.log}`)), READY_MS);
      const failed = (why: string) => {
        clearTimeout(timer);
        reject(new Error(`${why}:\n${this.log}`));
      };
      child.once('error', (error) => failed(`the relay did not start (${error.message})`));
      child.once('exit', (code) => failed(`the relay ended with ${code}`));
      child.stdout.on('data', (text: Buffer) => {
        said += text.toString();
        if (!/^ready http:\/\/\S+$/m.test(said)) return;
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Stops it as an operator would, and waits for its end. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.child;
    this.child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    await ended;
  }

  /** The bytes of every file of its store, write-ahead logs included. */
  async store(): Promise<Buffer> {
    const files = await readdir(this.data, { recursive: true });
    const parts = [];
    for (const file of files) {
      const path = join(this.data, file);
      if ((await stat(path)).isFile()) parts.push(await readFile(path));
    }
    return Buffer.concat(parts);
  }

  async end(): Promise<void> {
    await this.stop();
    await rm(this.data, { recursive: true, force: true });
  }
}
