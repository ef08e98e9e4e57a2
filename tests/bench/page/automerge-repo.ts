/** automerge-repo with its IndexedDB storage: a document an entry, and one that lists them. */
import * as Automerge from '@automerge/automerge/slim';
import wasm from '@automerge/automerge/automerge.wasm';
import { Repo, type AutomergeUrl } from '@automerge/automerge-repo/slim';
import { IndexedDBStorageAdapter } from '@automerge/automerge-repo-storage-indexeddb';
import { page, type Entry } from './contender.ts';

interface List {
  readonly entries: AutomergeUrl[];
}

const repo = (async () => {
  await Automerge.initializeWasm(new URL(wasm, import.meta.url));
  return new Repo({ storage: new IndexedDBStorageAdapter('bench') });
})();

async function list(): Promise<AutomergeUrl[]> {
  const url = localStorage.getItem('list') as AutomergeUrl;
  return [...(await (await repo).find<List>(url)).doc().entries];
}

async function load(urls: readonly AutomergeUrl[]): Promise<Entry[]> {
  const open = await repo;
  return Promise.all(urls.map(async (url) => (await open.find<Entry>(url)).doc()));
}

page({
  async seed(drafts) {
    const open = await repo;
    const entries = drafts.map((draft) => open.create<Entry>({ ...draft }).url);
    const { url } = open.create<List>({ entries });
    await open.flush();
    localStorage.setItem('list', url);
  },
  async titles(count) {
    return (await load((await list()).slice(-count).reverse())).map((entry) => entry.title);
  },
  async all() {
    return (await load(await list())).length;
  },
});
