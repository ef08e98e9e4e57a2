/** The model in a browser's worker computes the very bits that it computes natively. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from '../fixtures.ts';
import { root } from '../support/paths.ts';
import { serve } from '../support/static.ts';

const WORKER = `
// A promise that fails must fail the test, not let it wait.
onunhandledrejection = ({ reason }) => setTimeout(() => { throw reason; });
import init, { Embedder } from './embed.js';
onmessage = async ({ data: texts }) => {
  await init({ module_or_path: new URL('./embed_bg.wasm', import.meta.url) });
  const weights = new Uint8Array(await (await fetch('./weights')).arrayBuffer());
  const embedder = new Embedder(weights);
  postMessage({ id: embedder.id(), vectors: texts.map((text) => Array.from(new Uint8Array(embedder.embed(text).buffer))) });
};
`;

test('vectors of the browser equal the native ones bit for bit', async ({ person }) => {
  const read = (path: string) => readFile(resolve(root, path));
  const golden = JSON.parse((await read('crates/embed/tests/golden.json')).toString()) as {
    modelId: string;
    sha256: string;
    texts: string[];
  };
  const server = await serve({
    '/': ['text/html', '<!doctype html><title>bits</title>'],
    '/worker.js': ['text/javascript', WORKER],
    '/embed.js': ['text/javascript', await read('web/src/engine/pkg/embed/embed.js')],
    '/embed_bg.wasm': ['application/wasm', await read('web/src/engine/pkg/embed/embed_bg.wasm')],
    '/weights': ['application/octet-stream', await read('target/model/minilm-l6-v2.lore')],
  });
  try {
    const page = await (await person()).browser.newPage();
    await page.goto(server.origin);
    const { id, vectors } = await page.evaluate(
      (texts) =>
        new Promise<{ id: string; vectors: number[][] }>((resolve, reject) => {
          const worker = new Worker('/worker.js', { type: 'module' });
          worker.onmessage = ({ data }) => resolve(data as { id: string; vectors: number[][] });
          worker.onerror = (event) => reject(new Error(event.message));
          worker.postMessage(texts);
        }),
      golden.texts,
    );
    expect(id).toBe(golden.modelId);
    const hash = createHash('sha256');
    for (const vector of vectors) hash.update(Uint8Array.from(vector));
    expect(hash.digest('hex')).toBe(golden.sha256);
  } finally {
    await server.close();
  }
});
