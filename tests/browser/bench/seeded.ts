/** Seeded codex files, made by the native program that `LORE_SEED` names. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, copyFileSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loreProgram, root } from '../support/paths.ts';

const kept = resolve(root, 'target/bench-data');

/** A copy of a codex file with `count` entries, below `folder`; seeding happens once. */
export function seededCodex(count: number, folder: string): string {
  const seed = process.env['LORE_SEED'];
  if (seed === undefined) throw new Error('run this through `cargo xtask bench`');
  mkdirSync(kept, { recursive: true });
  const original = join(kept, `seed-${count}.codex`);
  if (!existsSync(original)) {
    const partial = `${original}.partial`;
    execFileSync(seed, [partial, String(count)], { stdio: ['ignore', 'ignore', 'inherit'] });
    // What is still in the write-ahead log goes into the file itself when the last reader closes.
    renameSync(partial, original);
  }
  const copy = join(folder, 'seeded.codex');
  copyFileSync(original, copy);
  return copy;
}

/** Runs `lore` on a codex file and returns what it printed as JSON. */
export function lore<T>(codex: string, ...words: string[]): T {
  const printed = execFileSync(loreProgram, ['--codex', codex, '--json', '--wait', '300', ...words], {
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(printed.toString()) as T;
}
