/** What lies over or beside the codex, and the focus that goes back when it closes. */
import { signal } from '@preact/signals';

export type Overlay = 'palette' | 'help' | 'about' | 'compose' | 'campaign' | 'rail';
export type Drawer = 'table' | 'history';

/** At most one thing lies over the page. */
export const overlay = signal<Overlay | null>(null);
export const drawer = signal<Drawer | null>(null);
/** The open entry shows its editor instead of the reading view. */
export const editing = signal(false);
/** Said to screen readers, politely. */
export const announcement = signal('');

let returnTo: HTMLElement | null = null;
let drawerReturnTo: HTMLElement | null = null;

function focused(): HTMLElement | null {
  return document.activeElement instanceof HTMLElement && document.activeElement !== document.body
    ? document.activeElement
    : null;
}

export function openOverlay(which: Overlay): void {
  if (overlay.value === null) returnTo = focused();
  overlay.value = which;
}

/** Closes what lies over the page and gives the focus back to what had it. */
export function closeOverlay(): void {
  if (overlay.value === null) return;
  overlay.value = null;
  const target = returnTo;
  returnTo = null;
  queueMicrotask(() => {
    if (target?.isConnected) target.focus();
  });
}

export function toggleDrawer(which: Drawer): void {
  if (drawer.value === which) {
    closeDrawer();
    return;
  }
  if (drawer.value === null) drawerReturnTo = focused();
  drawer.value = which;
}

export function closeDrawer(): void {
  if (drawer.value === null) return;
  drawer.value = null;
  const target = drawerReturnTo;
  drawerReturnTo = null;
  queueMicrotask(() => {
    if (target?.isConnected) target.focus();
  });
}
