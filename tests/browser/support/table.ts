/** A table with a keeper and a player, each in a browser of their own. */
import type { Page } from '@playwright/test';
import type { Person, PersonOptions, Transport } from './browser.ts';
import { invite, join, openTable, ready } from './codex.ts';

export interface Seat {
  person: Person;
  page: Page;
}

type Arrive = (transport?: Transport, options?: PersonOptions) => Promise<Person>;

/** Opens the sample campaign to a table and brings one player to it. */
export async function sitDown(arrive: Arrive, transport: Transport): Promise<{ keeper: Seat; player: Seat }> {
  const keeper = await arrive(transport);
  const keeperPage = await keeper.openTab();
  await ready(keeperPage);
  await openTable(keeperPage, 'Wendeline');
  const link = await invite(keeperPage);
  const player = await arrive(transport);
  const playerPage = await player.openInvitation(link);
  await join(playerPage, 'Barnaby');
  return {
    keeper: { person: keeper, page: keeperPage },
    player: { person: player, page: playerPage },
  };
}
