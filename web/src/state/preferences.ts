/** What this browser remembers about the page itself. Never lore: that lives in the codex. */
import { effect, signal } from '@preact/signals';

export type Theme = 'device' | 'parchment' | 'candlelight';

function read(key: string): string | null {
  try {
    return localStorage.getItem(`lorekeeper.${key}`);
  } catch {
    // Storage switched off: the page works, and forgets its preferences.
    return null;
  }
}

function write(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`lorekeeper.${key}`);
    else localStorage.setItem(`lorekeeper.${key}`, value);
  } catch {
    // As above.
  }
}

function readTheme(): Theme {
  const stored = read('theme');
  return stored === 'parchment' || stored === 'candlelight' ? stored : 'device';
}

export const theme = signal<Theme>(readTheme());
/** The campaign that was open last. */
export const lastCampaign = signal<string | null>(read('campaign'));
/** The one-time question for a name was answered or waved away. */
export const nameAsked = signal<boolean>(read('name-asked') === 'yes');

effect(() => {
  const chosen = theme.value;
  if (chosen === 'device') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
  write('theme', chosen === 'device' ? null : chosen);
});
effect(() => write('campaign', lastCampaign.value));
effect(() => write('name-asked', nameAsked.value ? 'yes' : null));

/** Whether the page is dark at this moment. */
export function isDark(): boolean {
  if (theme.value !== 'device') return theme.value === 'candlelight';
  return matchMedia('(prefers-color-scheme: dark)').matches;
}

/** Switches between the two themes; choosing what the device says anyway forgets the choice. */
export function toggleTheme(): void {
  const next = isDark() ? 'parchment' : 'candlelight';
  const device = matchMedia('(prefers-color-scheme: dark)').matches ? 'candlelight' : 'parchment';
  theme.value = next === device ? 'device' : next;
}
