/**
 * The invitation in this page's own address, read exactly once.
 *
 * The part after `#` is a key. It is taken out of the address bar and the history before anything
 * else runs, so that it cannot be copied, bookmarked or read by code that loads later. This module
 * must stay the first import of `main.tsx`; what it imports does nothing by itself.
 */

import { settingsQuery } from './settings.ts';

const path = /^\/j\/([^/]+)\/?$/.exec(location.pathname);
// Without a query: some messengers add one of their own to every link.
const whole = path !== null && location.hash.length > 1 ? location.origin + location.pathname + location.hash : null;
if (whole !== null) history.replaceState(null, '', location.pathname + settingsQuery(location.search));

let link = whole;

/** True when the page was opened at an invitation's address, with or without its key. */
export const openedByInvitation = path !== null;

/** Gives the invitation link to the one caller who joins with it; later calls get `null`. */
export function takeInvitation(): string | null {
  const taken = link;
  link = null;
  return taken;
}
