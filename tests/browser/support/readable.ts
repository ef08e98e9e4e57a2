/** Looks for words in bytes in every way that they could stand there without a key. */
import { constants, inflateRawSync } from 'node:zlib';

/** As much as is unpacked from any one place. */
const UNPACKED = 4096;
/** Fewer bytes than this unpack to no word by intent. */
const SHORTEST = 16;

/** The words that can be read in `bytes`: as UTF-8, as UTF-16, or deflated from any byte on. */
export function readableWords(bytes: Buffer, words: readonly string[]): string[] {
  const found = words.filter((word) => bytes.includes(word) || bytes.includes(Buffer.from(word, 'utf16le')));
  for (let at = 0; at + SHORTEST < bytes.length; at += 1) {
    // A final block of the reserved type, and the impossible types, are not tried.
    if (((bytes[at]! >> 1) & 3) === 3) continue;
    let text: Buffer;
    try {
      text = inflateRawSync(bytes.subarray(at, at + UNPACKED), {
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: 4 * UNPACKED,
      });
    } catch {
      continue;
    }
    found.push(...words.filter((word) => text.includes(word)));
  }
  return found;
}
