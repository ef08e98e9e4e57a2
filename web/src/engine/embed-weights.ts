/** Gets the model's weights: from the browser's cache, or from this origin and then into the cache. */

export const WEIGHTS_URL = '/model/minilm-l6-v2.lore';

const CACHE = 'lore-model';

/** The weights could not be fetched; later they may be. */
export class Unreachable extends Error {}

export class WeightsSource {
  private readonly key: string;

  /** `sha256` names the wanted content; another content is never taken from the cache. */
  constructor(
    sha256: string,
    /** Length in bytes, for progress: the server may compress, and then does not say. */
    private readonly total: number,
    private readonly progress: (done: number) => void,
  ) {
    this.key = `${WEIGHTS_URL}?sha256=${sha256}`;
  }

  async fromCache(): Promise<Uint8Array | null> {
    try {
      const response = await (await this.cache())?.match(this.key);
      return response ? new Uint8Array(await response.arrayBuffer()) : null;
    } catch {
      // A cache that cannot be read is one that holds nothing.
      return null;
    }
  }

  /** Fetches the file, telling the progress. */
  async fromOrigin(): Promise<Uint8Array> {
    let response: Response;
    try {
      // The cache below holds the file, so the browser's own need not keep it a second time.
      response = await fetch(WEIGHTS_URL, { cache: 'no-store' });
      if (!response.ok) throw new Unreachable(`the server answered ${response.status}`);
      return await this.read(response);
    } catch (error) {
      if (error instanceof Unreachable) throw error;
      throw new Unreachable(error instanceof Error ? error.message : String(error));
    }
  }

  private async read(response: Response): Promise<Uint8Array> {
    // One byte more than wanted: a longer file is noticed without being read to its end.
    const bytes = new Uint8Array(this.total + 1);
    const reader = response.body?.getReader();
    let done = 0;
    let told = 0;
    for (;;) {
      const part = await reader?.read();
      if (!part || part.done) return bytes.subarray(0, done);
      const taken = part.value.subarray(0, bytes.length - done);
      bytes.set(taken, done);
      done += taken.length;
      if (done === bytes.length) {
        await reader?.cancel();
        return bytes;
      }
      // About a hundred steps.
      if (done - told > this.total / 100) this.progress((told = done));
    }
  }

  /** Keeps verified weights, and drops those of other versions. Failing only costs a fetch. */
  async keep(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    try {
      const cache = await this.cache();
      if (!cache) return;
      for (const request of await cache.keys()) {
        if (!request.url.endsWith(this.key)) await cache.delete(request);
      }
      await cache.put(this.key, new Response(bytes));
    } catch {
      // Full, or forbidden: the next start fetches again.
    }
  }

  /** Drops a copy that turned out to be damaged. */
  async forget(): Promise<void> {
    try {
      await (await this.cache())?.delete(this.key);
    } catch {
      // It will be overwritten.
    }
  }

  /** Absent in pages that are not served securely. */
  private async cache(): Promise<Cache | null> {
    return 'caches' in globalThis ? caches.open(CACHE) : null;
  }
}
