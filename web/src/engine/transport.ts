/** A byte pipe to the relay: WebTransport, or WebSocket where that cannot be had. */

/** An open pipe. `closed` settles once, with the reason, whoever ended it. */
export interface Pipe {
  readonly kind: 'webtransport' | 'websocket';
  send(bytes: Uint8Array): void;
  close(): void;
  readonly closed: Promise<string>;
}

/** What the relay says of itself at `/relay.json`. */
interface RelayInfo {
  protocol: number;
  /** SHA-256 of the certificates that it shows now and will show next, in hex. */
  webtransport?: { port: number; path: string; hashes: { now: string; next: string } };
  websocket?: { path: string };
}

/** How long one way of connecting may take, in milliseconds. */
const CONNECT_MS = 5_000;

function within<T>(promise: Promise<T>, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what} took too long`)), CONNECT_MS);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}

function bytesOfHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

const turns = new MessageChannel();
const waiting: (() => void)[] = [];
turns.port1.onmessage = () => waiting.shift()?.();

/**
 * Lets other tasks have their turn. Chunks that wait in a stream are read without one, and a
 * catch-up would keep every call of the page waiting until its end.
 */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    turns.port2.postMessage(null);
  });
}

/** `localhost` may stand for an address that the relay does not listen on over UDP. */
function loopback(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host;
}

async function openWebTransport(
  info: NonNullable<RelayInfo['webtransport']>,
  base: URL,
  receive: (bytes: Uint8Array) => void,
): Promise<Pipe> {
  const url = `https://${loopback(base.hostname)}:${info.port}${info.path}`;
  const session = new WebTransport(url, {
    serverCertificateHashes: [info.hashes.now, info.hashes.next].map((hash) => ({
      algorithm: 'sha-256',
      value: bytesOfHex(hash),
    })),
  });
  const ended = session.closed.then(
    (close) => close.reason || 'closed by the relay',
    (error: unknown) => String(error),
  );
  await within(session.ready, 'WebTransport');
  const stream = await within(session.createBidirectionalStream(), 'the stream');
  const writer = stream.writable.getWriter();
  const reader: ReadableStreamDefaultReader<Uint8Array> = stream.readable.getReader();
  const drained = (async () => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return 'the relay ended the stream';
      receive(value);
      await turn();
    }
  })().catch((error: unknown) => String(error));
  const close = () => {
    try {
      session.close();
    } catch {
      // Closed already.
    }
  };
  const closed = Promise.race([ended, drained]);
  void closed.then(close);
  return {
    kind: 'webtransport',
    // A failed write ends the session, and `closed` tells.
    send: (bytes) => void writer.write(bytes).catch(close),
    close,
    closed,
  };
}

async function openWebSocket(
  path: string,
  base: URL,
  receive: (bytes: Uint8Array) => void,
): Promise<Pipe> {
  const url = new URL(path, base);
  url.protocol = base.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = new WebSocket(url);
  socket.binaryType = 'arraybuffer';
  const closed = new Promise<string>((resolve) => {
    socket.onclose = (event) => resolve(event.reason || `closed (${event.code})`);
  });
  await within(
    new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error('the WebSocket was refused'));
    }),
    'WebSocket',
  ).catch((error: unknown) => {
    socket.close();
    throw error;
  });
  socket.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => receive(new Uint8Array(data));
  return {
    kind: 'websocket',
    send: (bytes) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(bytes as Uint8Array<ArrayBuffer>);
    },
    close: () => socket.close(),
    closed,
  };
}

/**
 * Opens a pipe to the relay at `base`.
 *
 * @throws Error when no way leads there; its message is for the person.
 */
export async function openPipe(
  base: string,
  only: 'webtransport' | 'websocket' | null,
  receive: (bytes: Uint8Array) => void,
): Promise<Pipe> {
  const home = new URL(base);
  const answer = await within(fetch(new URL('/relay.json', home), { cache: 'no-store' }), 'the relay');
  if (!answer.ok) throw new Error(`the relay answered ${answer.status}`);
  const info = (await answer.json()) as RelayInfo;
  if (only !== 'websocket' && info.webtransport && typeof WebTransport === 'function') {
    try {
      return await openWebTransport(info.webtransport, home, receive);
    } catch (error) {
      if (only === 'webtransport') throw error;
    }
  }
  if (only === 'webtransport' || !info.websocket) throw new Error('the relay offers no way in');
  return openWebSocket(info.websocket.path, home, receive);
}
