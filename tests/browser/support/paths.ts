/** Where the programs and the built page are. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../../..');
export const dist = resolve(root, 'web/dist');
export const relayProgram = process.env['LORE_RELAY'] ?? resolve(root, 'target/debug/lore-relay');
export const loreProgram = process.env['LORE'] ?? resolve(root, 'target/debug/lore');

/** `CHROMIUM`, else where Linux distributions put it. */
export function chromiumPath(): string {
  const candidates = [
    process.env['CHROMIUM'],
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ];
  const found = candidates.find((path) => path !== undefined && existsSync(path));
  if (found === undefined) throw new Error('no Chromium: run `cargo xtask setup`, or set CHROMIUM');
  return found;
}
