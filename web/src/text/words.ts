/** The page's words for what the engine says in symbols. */
import type { Author, Delivery, PlainField, Role } from '../engine/api.ts';

/** The longest name of a person or a campaign, in characters; the engine refuses longer ones. */
export const NAME_MAX = 60;

/** The kinds that the page offers; a table may write others. */
export const KINDS = [
  'npc',
  'place',
  'faction',
  'item',
  'promise',
  'lie',
  'thread',
  'event',
  'session',
  'note',
] as const;

const KIND_NAMES: Record<string, [one: string, many: string]> = {
  npc: ['Person', 'People'],
  place: ['Place', 'Places'],
  faction: ['Faction', 'Factions'],
  item: ['Item', 'Items'],
  promise: ['Promise', 'Promises'],
  lie: ['Lie', 'Lies'],
  thread: ['Thread', 'Open threads'],
  event: ['Event', 'Events'],
  session: ['Session', 'Sessions'],
  note: ['Note', 'Notes'],
  campaign: ['Campaign', 'Campaign'],
};

const capital = (text: string): string =>
  text.charAt(0).toLocaleUpperCase() + text.slice(1).replaceAll('-', ' ');

export const kindName = (kind: string): string => KIND_NAMES[kind]?.[0] ?? capital(kind);
export const kindPlural = (kind: string): string => KIND_NAMES[kind]?.[1] ?? capital(kind);

export const FIELD_NAMES: Record<PlainField, string> = {
  kind: 'Kind',
  title: 'Title',
  when: 'When',
  status: 'Status',
};

const FIELD_LABELS: Record<string, string> = {
  ...FIELD_NAMES,
  body: 'Text',
  threads: 'Threads',
  aliases: 'Other names',
  derivedFrom: 'Sources',
};
export const fieldName = (field: string): string => FIELD_LABELS[field] ?? capital(field);

const ROLE_NAMES: Record<Role, string> = {
  keeper: 'Keeper',
  'co-keeper': 'Co-keeper',
  player: 'Player',
  watcher: 'Watcher',
  scribe: 'Scribe',
};
export const roleName = (role: Role): string => ROLE_NAMES[role];

/** An author by name: "You", the chosen name, or plainly that the name is not here yet. */
export function authorName(author: Author): string {
  if (author.self) return 'You';
  if (author.name !== '') return author.name;
  return author.agent ? 'An agent' : 'Someone at the table';
}

/** A value of a plain field, for reading. */
export function fieldValue(field: PlainField, value: string | null): string {
  if (value === null || value === '') return 'Nothing';
  return field === 'kind' ? kindName(value) : value;
}

export function deliveryWords(delivery: Delivery): string {
  if (delivery.seenBy.length > 0 && delivery.state !== 'received') {
    const [only] = delivery.seenBy;
    return delivery.seenBy.length === 1 && only !== undefined && only !== ''
      ? `Seen by ${only}`
      : `Seen by ${delivery.seenBy.length}`;
  }
  switch (delivery.state) {
    case 'here':
      return 'Saved on this device';
    case 'relay':
      return 'Saved here and at the relay';
    case 'received':
      return 'Written elsewhere, saved on this device';
  }
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`;
