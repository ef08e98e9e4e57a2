/** Plain first lines of a Markdown text, for cards. */

/** Characters looked at and shown; the card clamps to lines besides. */
const LOOKED_AT = 600;
const SHOWN = 280;

export function firstLines(markdown: string): string {
  const plain = markdown
    .slice(0, LOOKED_AT)
    .replace(/^\s*(#{1,6}|>|[-*+]|\d+[.)])\s+/gm, '')
    .replace(/\[\[([^\]|]+)(?:\|([^\]]*))?\]\]/g, (_, title: string, label?: string) => label ?? title)
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(\*\*|__|`|~~)/g, '')
    .replace(/(^|\s)[*_](\S[^*_]*)[*_]/g, '$1$2')
    .replace(/\s+/g, ' ')
    .trim();
  return plain.length <= SHOWN ? plain : `${plain.slice(0, plain.lastIndexOf(' ', SHOWN))}…`;
}

/**
 * Markdown's own signs in a span: headings and quotes, links, emphasis. What a group holds is
 * kept, the rest of a match is not.
 */
const SIGNS = new RegExp(
  [
    /^[ \t]*(?:#{1,6}|>)[ \t]+/,
    /\[\[(?:[^\]|\n]*\|)?([^\]|\n]+)\]\]/,
    /!?\[([^\]\n]*)\]\([^)\n]*\)/,
    /\*\*|__|~~|`/,
    /(?<![\w*])[*_](?=\S)([^*_\n]*\S)[*_](?![\w*])/,
  ]
    .map((one) => one.source)
    .join('|'),
  'gmd',
);

/**
 * A span as it reads, without Markdown's signs, and the marked ranges moved along. Ranges are in
 * UTF-16 code units; those outside the text, or of which nothing is left, go away.
 */
export function plainSpan(text: string, ranges: readonly [number, number][]): { text: string; ranges: [number, number][] } {
  // Where each kept piece began, and where it begins now.
  const kept: { from: number; to: number; at: number }[] = [];
  let plain = '';
  const keep = (from: number, to: number): void => {
    if (to <= from) return;
    kept.push({ from, to, at: plain.length });
    plain += text.slice(from, to);
  };
  let at = 0;
  for (const match of text.matchAll(SIGNS)) {
    keep(at, match.index);
    const inside = match.indices?.slice(1).find((group) => group !== undefined);
    if (inside !== undefined) keep(...inside);
    at = match.index + match[0].length;
  }
  keep(at, text.length);
  const moved: [number, number][] = [];
  for (const [from, to] of ranges) {
    let first = -1;
    let last = -1;
    for (const piece of kept) {
      const start = Math.max(from, piece.from);
      const end = Math.min(to, piece.to);
      if (start >= end) continue;
      if (first < 0) first = piece.at + start - piece.from;
      last = piece.at + end - piece.from;
    }
    if (first >= 0) moved.push([first, last]);
  }
  return { text: plain, ranges: moved };
}
