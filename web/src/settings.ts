/** The settings that the page takes from its address, as `?transport=websocket`. */
const SETTINGS = ['transport', 'storage'];

/** The settings of a query, alone: other people's tracking parameters go no further. */
export function settingsQuery(search: string): string {
  const asked = new URLSearchParams(search);
  const kept = new URLSearchParams();
  for (const name of SETTINGS) {
    const value = asked.get(name);
    if (value !== null) kept.set(name, value);
  }
  const text = kept.toString();
  return text === '' ? '' : `?${text}`;
}
