/** What every spec starts from: a relay of its own, and people with browsers of their own. */
import { test as base, expect } from '@playwright/test';
import { Person, type PersonOptions, type Transport } from './support/browser.ts';
import { Relay } from './support/relay.ts';

export { expect };
export type { Person, Transport };

/** The transports over which every scenario at a table is run. */
export const TRANSPORTS: readonly Transport[] = ['webtransport', 'websocket'];

interface Fixtures {
  relay: Relay;
  /** A browser with a new profile; closed and deleted after the test. */
  person: (transport?: Transport, options?: PersonOptions) => Promise<Person>;
}

export const test = base.extend<Fixtures>({
  relay: async ({}, use, info) => {
    const relay = await Relay.start();
    await use(relay);
    await relay.end();
    if (info.status !== info.expectedStatus) await info.attach('relay.log', { body: relay.log });
  },
  person: async ({ relay }, use, info) => {
    const people: Person[] = [];
    await use(async (transport = 'webtransport', options = {}) => {
      const person = await Person.arrive(relay.origin, transport, options);
      people.push(person);
      await person.browser.tracing.start({ screenshots: true, snapshots: true });
      return person;
    });
    const failed = info.status !== info.expectedStatus;
    for (const [index, person] of people.entries()) {
      await person.recordTrace(failed ? info.outputPath(`trace-${index + 1}.zip`) : null);
      if (failed) await info.attach(`errors-${index + 1}`, { body: person.errors.join('\n') });
      await person.leave();
    }
  },
});
