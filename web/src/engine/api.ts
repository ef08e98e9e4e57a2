/**
 * The contract between a tab and the engine worker: every call and event, with its shapes.
 *
 * Whichever tab's worker owns the codex file answers; a tab never knows which. Times are
 * milliseconds since the Unix epoch. Ids and revisions are opaque strings.
 */

/** Who may read an entry. */
export type Audience = 'table' | 'keeper';
/** A person's or an agent's place at the table. */
export type Role = 'keeper' | 'co-keeper' | 'player' | 'watcher' | 'scribe';
/** The plain fields, which can be contested. Text merges instead. */
export type PlainField = 'kind' | 'title' | 'when' | 'status';

/** An author as the page shows one: a device with the name that its owner chose. */
export interface Author {
  id: string;
  /** Empty until the author's profile has arrived. */
  name: string;
  agent: boolean;
  /** This very device. */
  self: boolean;
}

/** One concurrent value of a contested field. */
export interface Candidate {
  value: string | null;
  by: Author;
  at: number;
}

/** A field that holds concurrent edits which no one has settled. */
export interface Contested {
  field: PlainField;
  candidates: Candidate[];
}

/** Where an entry's newest change of ours has got to; `received` for others' changes. */
export type Delivery = { state: 'here' | 'relay' | 'received'; seenBy: string[] };

export interface Entry {
  id: string;
  campaign: string;
  audience: Audience;
  /** The precondition of a conditional write. */
  revision: string;
  kind: string;
  title: string;
  body: string;
  threads: string[];
  aliases: string[];
  when: string | null;
  status: string | null;
  derivedFrom: string[];
  createdAt: number;
  createdBy: Author;
  updatedAt: number;
  updatedBy: Author;
  contested: Contested[];
  delivery: Delivery;
}

export interface Draft {
  kind: string;
  title: string;
  body: string;
  threads?: string[];
  aliases?: string[];
  when?: string | null;
  status?: string | null;
}

/** Absent fields stay as they are; `null` clears. */
export interface Patch {
  kind?: string;
  title?: string;
  body?: string;
  when?: string | null;
  status?: string | null;
  addThreads?: string[];
  removeThreads?: string[];
  addAliases?: string[];
  removeAliases?: string[];
}

/** A conditional write's outcome: `stale` changed nothing and says what is there now. */
export type WriteResult =
  | { outcome: 'done'; entry: Entry }
  | { outcome: 'stale'; current: Entry }
  | { outcome: 'forgotten' };

/** One replacement in a body; positions in UTF-16 code units of the body at the base revision. */
export interface Splice {
  at: number;
  delete: number;
  insert: string;
}

export type SpliceResult =
  | { outcome: 'done'; revision: string; body: string }
  | { outcome: 'stale'; current: Entry }
  | { outcome: 'forgotten' };

export interface Campaign {
  id: string;
  name: string;
  role: Role;
  entries: number;
  contested: number;
  /** The sample campaign, not yet cleared or made one's own. */
  sample: boolean;
  /** Registered at a relay: others can be invited. */
  table: boolean;
  /** Joined, but its lore has not arrived yet. */
  joining: boolean;
}

export interface Hit {
  entry: Entry;
  /** Address of the span: heading anchor and 1-based lines of the body. */
  anchor: string | null;
  startLine: number;
  endLine: number;
  text: string;
  /** 0–100, rounded; never a cutoff. */
  relevance: number;
  why: 'words' | 'meaning' | 'both';
  /** Ranges in `text`, UTF-16 code units, to mark. */
  matched: [number, number][];
  scores: { fused: number; words: number | null; meaning: number | null };
}

export interface RecallResult {
  hits: Hit[];
  /** Entries searched: "nothing close in 214 entries". */
  searched: number;
  /** False while the model is loading: words answered alone; a `recall-again` event follows. */
  byMeaning: boolean;
}

export interface Version {
  revision: string;
  by: Author;
  at: number;
  fields: string[];
}

export interface Member {
  device: string;
  author: Author;
  role: Role;
  /** Connected now. */
  here: boolean;
  /** The entry that the member has open in the editor, and the caret in its body. */
  editing: { entry: string; caret: number | null } | null;
}

export interface Status {
  storage: 'opfs' | 'snapshot' | 'opening';
  /** Set when storage is `snapshot`: what this means, in the page's words. */
  storageNote: string | null;
  /** This tab's worker owns the codex file. */
  owner: boolean;
  device: string;
  name: string;
  network: {
    state: 'solo' | 'connecting' | 'catching-up' | 'live' | 'offline' | 'refused';
    transport: 'webtransport' | 'websocket' | null;
    /** What to do, when refused; else why offline, where known. */
    note: string | null;
    /** Envelopes of ours that the relay has not acknowledged. */
    waiting: number;
  };
  embedding: { state: 'loading' | 'ready' | 'unavailable'; done: number; total: number; note: string | null };
  /** Set when the engine cannot open the codex: what happened and what to do. */
  error: string | null;
}

export interface ListQuery {
  campaign: string;
  kind?: string;
  thread?: string;
  contested?: boolean;
  audience?: Audience;
  /** Newest change first; the default. */
  offset?: number;
  limit?: number;
}

export interface ListResult {
  entries: Entry[];
  total: number;
}

/** Counts for the rail. */
export interface Facets {
  kinds: { kind: string; count: number }[];
  threads: { thread: string; count: number }[];
  contested: number;
}

/** Every call: parameters and result. A rejected promise carries an `EngineError`. */
export interface Calls {
  status: [Record<string, never>, Status];
  campaigns: [Record<string, never>, Campaign[]];
  setName: [{ name: string }, Status];
  createCampaign: [{ name: string }, Campaign];
  /** Removes the sample's entries and makes the campaign the user's own. */
  clearSample: [{ campaign: string; name: string }, Campaign];
  /** Registers the campaign at the relay of this origin and starts to sync. */
  openTable: [{ campaign: string }, Campaign];
  invite: [{ campaign: string; role: 'player' | 'co-keeper' | 'watcher' }, { link: string }];
  join: [{ link: string; name: string }, Campaign];
  members: [{ campaign: string }, Member[]];
  list: [ListQuery, ListResult];
  facets: [{ campaign: string }, Facets];
  get: [{ entry: string }, Entry | null];
  record: [{ campaign: string; audience?: Audience; draft: Draft }, Entry];
  revise: [{ entry: string; expected: string; patch: Patch }, WriteResult];
  splice: [{ entry: string; base: string; splices: Splice[] }, SpliceResult];
  settle: [{ entry: string; expected: string; field: PlainField; value: string | null }, WriteResult];
  forget: [{ entry: string; expected: string }, WriteResult];
  history: [{ entry: string }, Version[]];
  stateAt: [{ entry: string; revision: string }, Entry | null];
  recall: [{ campaign: string; queries: string[]; limit?: number }, RecallResult];
  /** What this person has open; `null` when nothing is. Never stored. */
  presence: [{ campaign: string; entry: string | null; caret: number | null }, null];
}

/** What the engine tells every tab. */
export type EngineEvent =
  | { type: 'changed'; campaign: string; entries: string[]; forgotten: string[]; remote: boolean }
  | { type: 'campaigns' }
  | { type: 'status'; status: Status }
  | { type: 'members'; campaign: string; members: Member[] }
  /** Meaning became available or vectors were added: a shown recall may be asked again. */
  | { type: 'recall-again'; campaign: string };

/** A readable error: `code` for the program, `message` for the person (what to do). */
export interface EngineError {
  code: string;
  message: string;
}

export interface Engine {
  call<K extends keyof Calls>(method: K, params: Calls[K][0]): Promise<Calls[K][1]>;
  /** Returns the function that ends the subscription. */
  subscribe(listener: (event: EngineEvent) => void): () => void;
}
