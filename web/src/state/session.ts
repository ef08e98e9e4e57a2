/** The page's one connection to its engine, and what the engine last said, as signals. */
import { batch, computed, effect, signal } from '@preact/signals';
import { connectEngine } from '../engine/client.ts';
import type {
  Campaign,
  Engine,
  EngineError,
  EngineEvent,
  Facets,
  Member,
  Status,
} from '../engine/api.ts';
import { lastCampaign } from './preferences.ts';
import { go } from './route.ts';

export const engine: Engine = connectEngine();

export const status = signal<Status | null>(null);
/** `null` until the engine first answers. */
export const campaigns = signal<Campaign[] | null>(null);
export const facets = signal<Facets | null>(null);
export const members = signal<Member[]>([]);
/** What went wrong outside any one form: shown until the person dismisses it. */
export const trouble = signal<string | null>(null);

/** The open campaign: the last one opened here, else the first. */
export const campaign = computed<Campaign | null>(() => {
  const all = campaigns.value;
  if (all === null) return null;
  return all.find((one) => one.id === lastCampaign.value) ?? all[0] ?? null;
});
export const campaignId = computed<string | null>(() => campaign.value?.id ?? null);

/** Fewer entries than this without a meaning are not worth a word: they are done in a moment. */
const FEW_MEANINGS = 4;

/** Meanings are not all there: words answer, and answers get better by themselves. */
export const learning = computed<boolean>(() => {
  const embedding = status.value?.embedding;
  if (embedding === undefined || embedding.state === 'unavailable') return false;
  return embedding.state === 'loading' || embedding.total - embedding.done >= FEW_MEANINGS;
});

/** Turns whatever a call rejected with into words for the person. */
export function describeError(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error) {
    const { message } = error as EngineError;
    if (typeof message === 'string' && message !== '') return message;
  }
  return 'Something went wrong in this page’s engine. Reload the page; everything that was saved is still there.';
}

/** Runs something whose failure no form shows. */
export function attempt(work: Promise<unknown>): void {
  work.catch((error: unknown) => {
    trouble.value = describeError(error);
  });
}

export function chooseCampaign(id: string): void {
  batch(() => {
    lastCampaign.value = id;
    go({ view: 'codex', filter: {} });
  });
}

export async function refreshCampaigns(): Promise<void> {
  campaigns.value = await engine.call('campaigns', {});
}

async function refreshFacets(): Promise<void> {
  const id = campaignId.value;
  if (id === null) return;
  const found = await engine.call('facets', { campaign: id });
  if (campaignId.value === id) facets.value = found;
}

async function refreshMembers(): Promise<void> {
  const id = campaignId.value;
  if (id === null) return;
  const found = await engine.call('members', { campaign: id });
  if (campaignId.value === id) members.value = found;
}

type Changed = Extract<EngineEvent, { type: 'changed' }>;
const changeListeners = new Set<(event: Changed) => void>();
const namesListeners = new Set<() => void>();
const recallListeners = new Set<(campaign: string) => void>();

/** Tells `listener` of every change of lore; returns the end of the subscription. */
export function onChanged(listener: (event: Changed) => void): () => void {
  changeListeners.add(listener);
  return () => changeListeners.delete(listener);
}

/** Tells `listener` when authors may have got other names. */
export function onNames(listener: () => void): () => void {
  namesListeners.add(listener);
  return () => namesListeners.delete(listener);
}

/** Tells `listener` when a shown recall may be asked again. */
export function onRecallAgain(listener: (campaign: string) => void): () => void {
  recallListeners.add(listener);
  return () => recallListeners.delete(listener);
}

/** Counts follow changes at most this often, however fast the letters arrive. */
const COUNTS_EVERY_MS = 400;
let countsDue: ReturnType<typeof setTimeout> | null = null;
function refreshCountsSoon(): void {
  countsDue ??= setTimeout(() => {
    countsDue = null;
    attempt(Promise.all([refreshFacets(), refreshCampaigns()]));
  }, COUNTS_EVERY_MS);
}

function hear(event: EngineEvent): void {
  switch (event.type) {
    case 'status':
      status.value = event.status;
      break;
    case 'campaigns':
      // Members and the names of authors are part of this news.
      attempt(Promise.all([refreshCampaigns(), refreshMembers()]));
      for (const listener of namesListeners) listener();
      break;
    case 'members':
      if (event.campaign === campaignId.value) members.value = event.members;
      break;
    case 'changed':
      for (const listener of changeListeners) listener(event);
      if (event.campaign === campaignId.value) refreshCountsSoon();
      break;
    case 'recall-again':
      for (const listener of recallListeners) listener(event.campaign);
      break;
  }
}

/** Starts the conversation. Called once, by `main.tsx`. */
export function startSession(): void {
  engine.subscribe(hear);
  attempt(
    engine.call('status', {}).then((now) => {
      status.value ??= now;
    }),
  );
  attempt(refreshCampaigns());
  effect(() => {
    if (campaignId.value === null) return;
    batch(() => {
      facets.value = null;
      members.value = [];
    });
    attempt(Promise.all([refreshFacets(), refreshMembers()]));
  });
}

/** Whether this person keeps the open campaign: its secrets, its invitations, its sample. */
export const mayKeep = (): boolean => campaign.value?.role === 'keeper' || campaign.value?.role === 'co-keeper';
