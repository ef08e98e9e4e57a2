/** Questions to ask this codex: the sample's own, or a few made of what another campaign holds. */
import { effect, signal } from '@preact/signals';
import type { Entry, Facets } from '../engine/api.ts';
import { attempt, campaign, engine, facets } from './session.ts';

/** At most this many are shown beside the search field. */
const SHOWN = 4;
/** Newest entries that are looked at for names. */
const LOOKED_AT = 20;
/** Kinds whose titles are names that one can ask about. */
const NAMED = new Set(['npc', 'place', 'faction', 'item']);
/** Longer titles make no question. */
const TITLE_MAX = 32;

/** The questions that a codex with these entries can likely answer. */
export function questionsFor(entries: readonly Pick<Entry, 'kind' | 'title'>[], kinds: Facets['kinds']): string[] {
  const holds = (kind: string): boolean => kinds.some((one) => one.kind === kind && one.count > 0);
  const named = entries.filter(({ kind, title }) => NAMED.has(kind) && title.length <= TITLE_MAX).slice(0, 2);
  const questions = named.map(({ title }) => `what do we know about ${title}?`);
  if (holds('promise')) questions.push('what did we promise, and to whom?');
  if (holds('lie')) questions.push('who has lied to us?');
  if (holds('thread')) questions.push('what is still unsolved?');
  if (holds('session')) questions.push('what happened last time?');
  return questions.slice(0, SHOWN);
}

export const suggestions = signal<readonly string[]>([]);

/** Follows the open campaign and its counts. Called once, by `main.tsx`. */
export function startSuggestions(): void {
  effect(() => {
    const open = campaign.value;
    const counts = facets.value;
    if (open === null || open.entries === 0) {
      suggestions.value = [];
      return;
    }
    if (open.sample) {
      suggestions.value = SAMPLE_QUESTIONS.slice(0, SHOWN);
      return;
    }
    if (counts === null) return;
    attempt(
      engine.call('list', { campaign: open.id, limit: LOOKED_AT }).then(({ entries }) => {
        const made = questionsFor(entries, counts.kinds);
        // The same questions drawn anew would take the focus from under a finger.
        if (campaign.peek()?.id === open.id && made.join('\n') !== suggestions.peek().join('\n')) suggestions.value = made;
      }),
    );
  });
}
