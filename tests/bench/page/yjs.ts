/** Yjs with y-indexeddb: one document with a map an entry. Other layouts were not tried. */
import * as Y from 'yjs';
import { IndexeddbPersistence, storeState } from 'y-indexeddb';
import { page } from './contender.ts';

const doc = new Y.Doc();
const entries = doc.getArray<Y.Map<unknown>>('entries');
const stored = new IndexeddbPersistence('bench', doc);

page({
  async seed(drafts) {
    await stored.whenSynced;
    doc.transact(() => {
      entries.push(
        drafts.map(({ title, body }) => {
          const entry = new Y.Map<unknown>();
          entry.set('title', title);
          entry.set('body', new Y.Text(body));
          return entry;
        }),
      );
    });
    await storeState(stored);
    await stored.destroy();
  },
  async titles(count) {
    await stored.whenSynced;
    return entries
      .toArray()
      .slice(-count)
      .reverse()
      .map((entry) => entry.get('title') as string);
  },
  async all() {
    await stored.whenSynced;
    return entries.length;
  },
});
