/** Times as people say them. */

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "just now", "5 minutes ago", "last week"; `at` and `now` in milliseconds since the epoch. */
export function ago(at: number, now: number = Date.now()): string {
  const past = now - at;
  // A clock ahead of ours still says "just now".
  if (past < MINUTE) return 'just now';
  if (past < HOUR) return relative.format(-Math.floor(past / MINUTE), 'minute');
  if (past < DAY) return relative.format(-Math.floor(past / HOUR), 'hour');
  const days = Math.floor(past / DAY);
  if (days < 7) return relative.format(-days, 'day');
  if (days < 60) return relative.format(-Math.round(days / 7), 'week');
  if (days < 700) return relative.format(-Math.round(days / 30.4), 'month');
  return relative.format(-Math.round(days / 365.25), 'year');
}

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeStyle: 'short' });
export const exactly = (at: number): string => full.format(at);
export const isoTime = (at: number): string => new Date(at).toISOString();
