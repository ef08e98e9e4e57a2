/** A device at the table: the real `lore` program over a codex file of its own. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loreProgram } from './paths.ts';

const exec = promisify(execFile);

export class Device {
  private constructor(private readonly folder: string) {}

  static async make(): Promise<Device> {
    return new Device(await mkdtemp(join(tmpdir(), 'lore-device-')));
  }

  /** Runs one command with `--json` and returns what it printed. */
  async lore<T>(...words: string[]): Promise<T> {
    const codex = join(this.folder, 'device.codex');
    const { stdout } = await exec(loreProgram, ['--codex', codex, '--json', ...words], { timeout: 60_000 });
    return JSON.parse(stdout) as T;
  }

  async end(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
