/** A wire tap: passes TCP on to the relay and keeps what WebSockets carried, as it was meant. */
import { createServer, connect, type Server, type Socket } from 'node:net';

/** One TCP connection, as seen in both directions. */
interface Conversation {
  up: Buffer[];
  down: Buffer[];
}

export class Tap {
  private readonly conversations: Conversation[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly origin: string,
  ) {}

  static async before(origin: string): Promise<Tap> {
    const port = Number(new URL(origin).port);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the tap has no port');
    const tap = new Tap(server, `http://127.0.0.1:${address.port}`);
    server.on('connection', (client) => tap.pass(client, port));
    return tap;
  }

  private pass(client: Socket, port: number): void {
    const relay = connect(port, '127.0.0.1');
    const conversation: Conversation = { up: [], down: [] };
    this.conversations.push(conversation);
    const ways: [Socket, Socket, Buffer[]][] = [
      [client, relay, conversation.up],
      [relay, client, conversation.down],
    ];
    for (const [from, to, kept] of ways) {
      this.sockets.add(from);
      from.on('data', (chunk: Buffer) => kept.push(chunk));
      from.on('error', () => to.destroy());
      from.pipe(to);
    }
  }

  /** What all WebSockets carried, unmasked, both directions one after the other. */
  carried(): Buffer {
    const parts = [];
    for (const { up, down } of this.conversations) {
      const request = Buffer.concat(up);
      if (!/^GET [^\r]*\r\n(?:[^\r]+\r\n)*upgrade: websocket\r\n/i.test(request.toString('latin1'))) continue;
      parts.push(messages(afterHead(request)), messages(afterHead(Buffer.concat(down))));
    }
    return Buffer.concat(parts);
  }

  async end(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

function afterHead(bytes: Buffer): Buffer {
  const end = bytes.indexOf('\r\n\r\n');
  return end < 0 ? Buffer.alloc(0) : bytes.subarray(end + 4);
}

/** The payloads of the frames of one direction (RFC 6455, section 5.2). */
function messages(bytes: Buffer): Buffer {
  const parts = [];
  let at = 0;
  while (at + 2 <= bytes.length) {
    const masked = (bytes[at + 1]! & 0x80) !== 0;
    let length = bytes[at + 1]! & 0x7f;
    at += 2;
    if (length === 126) {
      length = bytes.readUInt16BE(at);
      at += 2;
    } else if (length === 127) {
      length = Number(bytes.readBigUInt64BE(at));
      at += 8;
    }
    const mask = masked ? bytes.subarray(at, at + 4) : null;
    if (masked) at += 4;
    const payload = Buffer.from(bytes.subarray(at, at + length));
    if (mask !== null) payload.forEach((byte, index) => (payload[index] = byte ^ mask[index % 4]!));
    parts.push(payload);
    at += length;
  }
  return Buffer.concat(parts);
}
