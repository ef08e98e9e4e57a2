/** Keys that work anywhere on the page, and the list of them that `?` shows. */
import { beginEdit } from '../state/drafts.ts';
import { list } from '../state/entries.ts';
import { closeDrawer, closeOverlay, drawer, editing, openOverlay, overlay, toggleDrawer } from '../state/panels.ts';
import { closeEntry, goCodex, route } from '../state/route.ts';
import { clearQuestion, question } from '../state/search.ts';

export const KEYS: readonly [keys: string, what: string][] = [
  ['/', 'Ask the codex; ↓ goes on to the answers'],
  ['n', 'New entry'],
  ['e', 'Edit the open entry, or the fields of the chosen card'],
  ['↓ ↑', 'Next and previous card (also j, k)'],
  ['Enter', 'Open the chosen card'],
  ['h', 'History of the open entry'],
  ['g then c', 'Go to the whole codex'],
  ['g then x', 'Go to what is contested'],
  ['g then p', 'Go to people'],
  ['g then l', 'Go to places'],
  ['g then o', 'Go to promises'],
  ['g then s', 'Go to sessions'],
  ['g then t', 'Open the table'],
  ['Ctrl K', 'Command palette'],
  ['?', 'This list'],
  ['Esc', 'Close, or go back'],
];

/** After `g`, a letter within this time goes somewhere. */
const GO_WITHIN_MS = 1_200;

const GO: Record<string, () => void> = {
  c: () => visit({}),
  x: () => visit({ contested: true }),
  p: () => visit({ kind: 'npc' }),
  l: () => visit({ kind: 'place' }),
  o: () => visit({ kind: 'promise' }),
  s: () => visit({ kind: 'session' }),
  t: () => toggleDrawer('table'),
};

function visit(filter: Parameters<typeof goCodex>[0]): void {
  if (question.value !== '') clearQuestion();
  goCodex(filter);
}

export function focusSearch(): void {
  const field = document.getElementById('search');
  if (field instanceof HTMLInputElement) {
    field.focus();
    field.select();
  }
}

/** Whether keys belong to what has the focus. */
function typing(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
  );
}

export function stepCard(step: 1 | -1): void {
  const cards = [...document.querySelectorAll<HTMLElement>('.centre [data-testid=entry-card]')].sort(
    (a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top,
  );
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  const next = cards[at < 0 ? 0 : at + step];
  const title = next?.querySelector<HTMLElement>('[data-testid=card-title]');
  title?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
}

function chosenCard(): string | undefined {
  return document.activeElement?.closest<HTMLElement>('[data-testid=entry-card]')?.dataset['entry'];
}

function startEdit(): void {
  if (route.value.view === 'entry') {
    editing.value = true;
    return;
  }
  const id = chosenCard();
  for (const entry of list.value.rows.values()) if (entry.id === id) beginEdit(entry);
}

function escape(): void {
  if (overlay.value !== null) closeOverlay();
  else if (editing.value) editing.value = false;
  else if (drawer.value !== null) closeDrawer();
  else if (route.value.view === 'entry') closeEntry();
  else if (question.value !== '') {
    clearQuestion();
    focusSearch();
  }
}

export function startKeys(): void {
  let goUntil = 0;
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      if (overlay.value === 'palette') closeOverlay();
      else openOverlay('palette');
      return;
    }
    if (event.key === 'Escape') {
      escape();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event) || overlay.value !== null) return;
    const then = GO[event.key];
    if (goUntil > event.timeStamp && then !== undefined) {
      goUntil = 0;
      event.preventDefault();
      then();
      return;
    }
    goUntil = 0;
    const actions: Record<string, () => void> = {
      '/': focusSearch,
      n: () => openOverlay('compose'),
      e: startEdit,
      g: () => (goUntil = event.timeStamp + GO_WITHIN_MS),
      '?': () => openOverlay('help'),
      ArrowDown: () => stepCard(1),
      ArrowUp: () => stepCard(-1),
      j: () => stepCard(1),
      k: () => stepCard(-1),
      h: () => {
        if (route.value.view === 'entry') toggleDrawer('history');
      },
    };
    const action = actions[event.key];
    if (action === undefined) return;
    // Arrows scroll the open entry as ever; among cards they choose.
    if (event.key.startsWith('Arrow') && route.value.view === 'entry') return;
    event.preventDefault();
    action();
  });
}
