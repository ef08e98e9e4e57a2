/** Recall: the question in the search field and the answer to it. */
import { effect, signal } from '@preact/signals';
import type { RecallResult } from '../engine/api.ts';
import { noteTitles } from './entries.ts';
import { closeEntry, route } from './route.ts';
import { attempt, campaignId, engine, onChanged, onRecallAgain } from './session.ts';

const LIMIT = 30;
/** A pause in typing as long as this asks the question. Enter asks at once. */
const PAUSE_MS = 110;
const ASK_AGAIN_MS = 400;

/** The search field's text. */
export const question = signal('');
/** The newest answer; it may be to an earlier wording of the question. */
export const answer = signal<{ question: string; result: RecallResult } | null>(null);

let serial = 0;
let due: ReturnType<typeof setTimeout> | null = null;

async function ask(): Promise<void> {
  const campaign = campaignId.value;
  const text = question.value.trim();
  serial += 1;
  const mine = serial;
  if (campaign === null || text === '') {
    answer.value = null;
    return;
  }
  const result = await engine.call('recall', { campaign, queries: [text], limit: LIMIT });
  if (mine !== serial) return;
  noteTitles(result.hits.map((hit) => hit.entry));
  answer.value = { question: text, result };
}

function askIn(ms: number): void {
  if (due !== null) clearTimeout(due);
  due = setTimeout(() => {
    due = null;
    attempt(ask());
  }, ms);
}

/** The field's text changed. */
export function typeQuestion(text: string): void {
  question.value = text;
  if (text.trim() === '') {
    askIn(0);
    return;
  }
  if (route.value.view === 'entry') closeEntry();
  askIn(PAUSE_MS);
}

/** Asks at once: a suggested question, or Enter. */
export function askNow(text: string): void {
  question.value = text;
  if (route.value.view === 'entry') closeEntry();
  askIn(0);
}

export function clearQuestion(): void {
  typeQuestion('');
}

/** Called once, by `main.tsx`. */
export function startSearch(): void {
  let shown = campaignId.value;
  effect(() => {
    if (campaignId.value === shown) return;
    shown = campaignId.value;
    clearQuestion();
  });
  onRecallAgain((campaign) => {
    if (campaign === campaignId.value && answer.value !== null) askIn(0);
  });
  onChanged((event) => {
    if (event.campaign === campaignId.value && question.peek().trim() !== '') askIn(ASK_AGAIN_MS);
  });
}
