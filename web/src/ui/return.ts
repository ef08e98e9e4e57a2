/** Leaving an entry leads back to the very card that it was opened from, with the keyboard too. */
import { route } from '../state/route.ts';

/** Frames given to the list to draw the card. */
const FRAMES = 30;
/** By then another list is drawn. */
const SETTLED_MS = 150;

const centre = (): HTMLElement | null => document.getElementById('centre');

/** Whether the focus went away with what had it. */
export function focusIsLost(): boolean {
  const now = document.activeElement;
  return now === null || now === document.body || !now.isConnected;
}

function comeBack(entry: string, top: number, left: number): void {
  const box = centre();
  // Someone is in another entry already.
  if (box === null || route.value.view === 'entry') return;
  const title = box.querySelector<HTMLElement>(`[data-entry="${CSS.escape(entry)}"] [data-testid=card-title]`);
  box.scrollTop = top;
  if (title !== null) {
    if (focusIsLost()) title.focus({ preventScroll: true });
    title.closest('article')?.scrollIntoView({ block: 'nearest' });
  } else if (left > 0) requestAnimationFrame(() => comeBack(entry, top, left - 1));
  else if (focusIsLost()) box.focus({ preventScroll: true });
}

/** Called once, by `main.tsx`. */
export function startReturning(): void {
  let was = route.peek();
  let top = 0;
  route.subscribe((now) => {
    if (was.view === 'codex' && now.view === 'entry') top = centre()?.scrollTop ?? 0;
    else if (was.view === 'entry' && now.view === 'codex') {
      const { entry } = was;
      requestAnimationFrame(() => comeBack(entry, top, FRAMES));
    } else if (now.view === 'codex') {
      // Another list: the card that had the focus may have gone with the last one.
      setTimeout(() => {
        if (focusIsLost()) centre()?.focus({ preventScroll: true });
      }, SETTLED_MS);
    }
    was = now;
  });
}
