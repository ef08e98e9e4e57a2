/** Everything that Chromium's network stack did, by its own log: pages, workers, QUIC, all of it. */
import { readFile } from 'node:fs/promises';

interface Event {
  type: number;
  params?: { url?: string; address?: string; host?: string; port?: number };
}

interface NetLog {
  constants: { logEventTypes: Record<string, number> };
  events: Event[];
}

export interface Contacts {
  /** Addresses of requests, WebSockets included. */
  urls: string[];
  /** Servers of QUIC sessions, as `host:port`. */
  quic: string[];
  /** Peers of TCP connections, as `address:port`. */
  tcp: string[];
}

export async function contacts(file: string): Promise<Contacts> {
  const text = await readFile(file, 'utf8');
  const log = JSON.parse(text.trimEnd().endsWith(']}') ? text : `${text.trimEnd().replace(/,$/, '')}]}`) as NetLog;
  const types = log.constants.logEventTypes;
  const of = (name: string): NonNullable<Event['params']>[] => {
    const type = types[name];
    if (type === undefined) throw new Error(`this Chromium has no ${name} in its log`);
    return log.events.flatMap((event) => (event.type === type && event.params ? [event.params] : []));
  };
  const unique = (all: (string | undefined)[]) => [...new Set(all.filter((one) => one !== undefined))].sort();
  return {
    urls: unique(of('URL_REQUEST_START_JOB').map(({ url }) => url)),
    quic: unique(of('QUIC_SESSION').map(({ host, port }) => `${host}:${port}`)),
    tcp: unique(of('TCP_CONNECT_ATTEMPT').map(({ address }) => address)),
  };
}
