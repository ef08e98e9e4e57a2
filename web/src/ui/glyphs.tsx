/**
 * The page's own small set of line drawings: one grid (20 × 20), one stroke. Every glyph is
 * decoration; the words beside it carry the meaning.
 */
import type { JSX } from 'preact';

const KINDS: Record<string, JSX.Element> = {
  // Head and shoulders.
  npc: (
    <>
      <circle cx="10" cy="6.5" r="3.2" />
      <path d="M3.8 17c.5-3.7 2.9-5.6 6.2-5.6s5.7 1.9 6.2 5.6" />
    </>
  ),
  // A tower with a gate.
  place: <path d="M4.5 17V4.5h2.4v1.8h2V4.5h2.2v1.8h2V4.5h2.4V17ZM8 17v-3.6a2 2 0 0 1 4 0V17" />,
  // A banner on its staff.
  faction: <path d="M5 3v14.5M5 4.2h10.5l-2.6 3.6 2.6 3.6H5" />,
  // A cut stone.
  item: <path d="M6.3 4h7.4l3.3 4.2L10 17 3 8.2ZM3 8.2h14M7.6 8.2 10 17l2.4-8.8L10 4Z" />,
  // Two rings, linked.
  promise: (
    <>
      <circle cx="7.2" cy="10" r="4.3" />
      <circle cx="12.8" cy="10" r="4.3" />
    </>
  ),
  // A half mask.
  lie: (
    <>
      <path d="M3 6.2c2.3-.9 4.6-.9 7 .4 2.4-1.3 4.7-1.3 7-.4.3 4.6-1.5 8-4.3 8-1.3 0-2-.7-2.7-1.5-.7.8-1.4 1.5-2.7 1.5-2.8 0-4.6-3.4-4.3-8Z" />
      <path d="M5.9 9.3c.8-.7 1.7-.7 2.5 0M11.6 9.3c.8-.7 1.7-.7 2.5 0" />
    </>
  ),
  // A thread that crosses itself.
  thread: <path d="M3 15.5c5.5 1.5 9-1.2 9-5.3C12 7 10.6 4.5 8.7 4.5S5.5 6.7 6.8 9.2c1.7 3.2 5.7 4.6 10.2 2" />,
  // An hourglass.
  event: <path d="M5.5 3h9M5.5 17h9M6.5 3c0 3.8 3.5 4.6 3.5 7s-3.5 3.2-3.5 7M13.5 3c0 3.8-3.5 4.6-3.5 7s3.5 3.2 3.5 7" />,
  // A twenty-sided die.
  session: <path d="M10 2.5 16.5 6.2v7.6L10 17.5l-6.5-3.7V6.2ZM10 2.5 6 12h8ZM3.5 6.2 6 12l4 5.5 4-5.5 2.5-5.8" />,
  // A leaf of paper with a turned corner.
  note: <path d="M5 3h7l3.5 3.5V17H5ZM12 3v3.5h3.5M7.5 10h5.5M7.5 13h5.5" />,
  // An open book.
  campaign: <path d="M10 5.5C8.3 4.2 5.9 3.8 3 4v11.2c2.9-.2 5.3.2 7 1.5 1.7-1.3 4.1-1.7 7-1.5V4c-2.9-.2-5.3.2-7 1.5Zm0 0v11.2" />,
};

/** A kind of the table's own making: a ribbon. */
const OTHER = <path d="M6 3h8v14l-4-3.2L6 17Z" />;

const SIGNS = {
  search: (
    <>
      <circle cx="8.8" cy="8.8" r="5.3" />
      <path d="m12.8 12.8 4.2 4.2" />
    </>
  ),
  plus: <path d="M10 4v12M4 10h12" />,
  close: <path d="m5 5 10 10M15 5 5 15" />,
  edit: <path d="M4 16l.9-3.6 8.3-8.3a1.6 1.6 0 0 1 2.3 0l.4.4a1.6 1.6 0 0 1 0 2.3l-8.3 8.3ZM11.8 5.5l2.7 2.7" />,
  history: <path d="M3.5 10a6.5 6.5 0 1 1 2 4.7M3.5 10l-1.3-1.9M3.5 10l2-1.6M10 6.3V10l2.6 1.7" />,
  table: (
    <>
      <circle cx="7" cy="7" r="2.5" />
      <circle cx="13.7" cy="7.8" r="2" />
      <path d="M2.5 16c.3-3.2 1.9-4.8 4.5-4.8s4.2 1.6 4.5 4.8M12.5 11.8c2.7-.6 4.6.9 5 4.2" />
    </>
  ),
  moon: <path d="M16 11.8A6.6 6.6 0 0 1 8.2 4a6.6 6.6 0 1 0 7.8 7.8Z" />,
  sun: (
    <>
      <circle cx="10" cy="10" r="3.3" />
      <path d="M10 2.5v1.8M10 15.7v1.8M2.5 10h1.8M15.7 10h1.8M4.7 4.7 6 6M14 14l1.3 1.3M4.7 15.3 6 14M14 6l1.3-1.3" />
    </>
  ),
  menu: <path d="M3.5 6h13M3.5 10h13M3.5 14h13" />,
  back: <path d="M12 4.5 6.5 10l5.5 5.5" />,
  chevron: <path d="m5.5 8 4.5 4.5L14.5 8" />,
  check: <path d="m4.5 10.5 3.7 3.7 7.3-8" />,
  split: <path d="M10 17v-5.5M10 11.5C10 8 5 8.5 5 4M10 11.5C10 8 15 8.5 15 4M3.2 5.8 5 3.8l1.8 2M13.2 5.8l1.8-2 1.8 2" />,
  bin: <path d="M4.5 6h11M8 6V4h4v2M6 6l.7 11h6.6L14 6M8.7 9v5M11.3 9v5" />,
  copy: <path d="M7 7h9v9H7ZM4 13V4h9" />,
  // Wax with a keyhole.
  seal: (
    <>
      <path d="M10 2.6c1.2 0 1.7 1 2.8 1.2 1.1.3 2.2-.2 2.9.6.8.8.3 1.9.5 3 .3 1 1.2 1.5 1.2 2.7s-1 1.7-1.2 2.7c-.2 1.1.3 2.2-.5 3-.7.8-1.8.3-2.9.5-1.1.3-1.6 1.2-2.8 1.2s-1.7-.9-2.8-1.2c-1.1-.2-2.2.3-2.9-.5-.8-.8-.3-1.9-.5-3-.3-1-1.2-1.5-1.2-2.7s.9-1.7 1.2-2.7c.2-1.1-.3-2.2.5-3 .7-.8 1.8-.3 2.9-.6 1.1-.2 1.6-1.2 2.8-1.2Z" />
      <path d="M10 10.2v2.6" />
      <circle cx="10" cy="8.7" r="1.4" />
    </>
  ),
  device: <path d="M4 4.5h12v8.5H4ZM2.5 16h15" />,
  relay: <path d="M10 16V8M6.8 11 10 7.8l3.2 3.2M4 4.5h12" />,
  seen: <path d="m2.5 10.5 3.3 3.3 6-6.8M9.3 13.2l.6.6 6-6.8" />,
  agent: (
    <>
      <path d="M5 7.5h10v8H5ZM10 7.5V4.5M8 11v1M12 11v1" />
      <circle cx="10" cy="3.6" r=".9" />
    </>
  ),
  key: (
    <>
      <circle cx="6.5" cy="13.5" r="3" />
      <path d="m8.7 11.3 7.3-7.3M13 7l2.3 2.3" />
    </>
  ),
} satisfies Record<string, JSX.Element>;

export type Sign = keyof typeof SIGNS;

interface Size {
  size?: number;
}

function Drawing({ size = 20, children }: Size & { children: JSX.Element }) {
  return (
    <svg class="glyph" viewBox="0 0 20 20" width={size} height={size} aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

export function KindGlyph({ kind, size }: { kind: string } & Size) {
  return <Drawing {...(size === undefined ? {} : { size })}>{KINDS[kind] ?? OTHER}</Drawing>;
}

export function SignGlyph({ sign, size }: { sign: Sign } & Size) {
  return <Drawing {...(size === undefined ? {} : { size })}>{SIGNS[sign]}</Drawing>;
}
