/**
 * Where there is no private file system: the whole codex as one record in IndexedDB, written with
 * strict durability before a write is acknowledged.
 */

const DATABASE = 'lorekeeper';
const STORE = 'snapshot';
const KEY = 'codex';

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('IndexedDB failed'));
  });
}

export class Snapshots {
  private constructor(private readonly database: IDBDatabase) {}

  static async open(): Promise<Snapshots> {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    return new Snapshots(await done(request));
  }

  async load(): Promise<Uint8Array | undefined> {
    const store = this.database.transaction(STORE, 'readonly').objectStore(STORE);
    return (await done(store.get(KEY))) as Uint8Array | undefined;
  }

  /** Resolves once the record is on the disk, as far as the browser can know. */
  save(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction(STORE, 'readwrite', { durability: 'strict' });
      transaction.objectStore(STORE).put(bytes, KEY);
      transaction.oncomplete = () => resolve();
      transaction.onerror = transaction.onabort = () =>
        reject(transaction.error ?? new Error('the snapshot could not be kept'));
    });
  }
}
