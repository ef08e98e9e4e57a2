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
