/** Everything that Chromium's network stack did, by its own log: pages, workers, QUIC, all of it. */
import { readFile } from 'node:fs/promises';

interface Event {
  type: number;
  params?: { url?: string; initiator?: string; address?: string };
}

export interface Contacts {
  /**
   * What pages and workers asked for, WebSockets included. The browser's own services, which ask
   * on nobody's behalf, are left out.
   */
  urls: string[];
  /** Where WebTransport sessions went. */
  webTransport: string[];
  /** Peers of TCP connections, as `address:port`. */
  tcp: string[];
}

export async function contacts(file: string): Promise<Contacts> {
  const text = await readFile(file, 'utf8');
  // A line each: the constants, then every event. The end is missing when the browser was ended.
  const [head = '', ...lines] = text.split('\n');
  const { constants } = JSON.parse(`${head.replace(/,\s*$/, '')}}`) as { constants: { logEventTypes: Record<string, number> } };
  const types = constants.logEventTypes;
  const events = lines.flatMap((line): Event[] => {
    const one = line.replace(/,?\s*(\],?)?\s*$/, '');
    return one.startsWith('{"') ? [JSON.parse(one) as Event] : [];
  });
  const of = (name: string): NonNullable<Event['params']>[] => {
    const type = types[name];
    if (type === undefined) throw new Error(`this Chromium has no ${name} in its log`);
    return events.flatMap((event) => (event.type === type && event.params ? [event.params] : []));
  };
  const unique = (all: (string | undefined)[]) => [...new Set(all.filter((one) => one !== undefined))].sort();
  return {
    urls: unique(
      of('URL_REQUEST_START_JOB').flatMap(({ url, initiator }) => (initiator?.startsWith('http') ? [url] : [])),
    ),
    webTransport: unique(of('QUIC_SESSION_WEBTRANSPORT_CLIENT_ALIVE').map(({ url }) => url)),
    tcp: unique(of('TCP_CONNECT_ATTEMPT').map(({ address }) => address)),
  };
}
