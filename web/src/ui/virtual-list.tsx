/**
 * A feed of rows of unlike heights, of which only those near the window exist.
 *
 * Heights are estimated until a row was once measured. Sums over ten thousand numbers take well
 * under a millisecond, so no tree is kept.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

/** Pixels drawn above and below the window. */
const MARGIN = 600;

interface VirtualListProps {
  total: number;
  /** Pixels, until a row was measured. */
  estimate: number;
  label: string;
  /** Stable identity of what is drawn at an index: a height goes with it. */
  keyOf: (index: number) => string;
  row: (index: number) => ComponentChildren;
  onRange: (first: number, last: number) => void;
}

function scroller(element: HTMLElement | null): HTMLElement | null {
  return element?.closest<HTMLElement>('.centre') ?? null;
}

export function VirtualList({ total, estimate, label, keyOf, row, onRange }: VirtualListProps) {
  const box = useRef<HTMLDivElement>(null);
  const heights = useRef(new Map<string, number>());
  const [window_, setWindow] = useState({ top: 0, height: 900 });
  const [measured, setMeasured] = useState(0);

  const tops = useMemo(() => {
    const sums = new Float64Array(total + 1);
    for (let index = 0; index < total; index += 1) {
      sums[index + 1] = (sums[index] ?? 0) + (heights.current.get(keyOf(index)) ?? estimate);
    }
    return sums;
    // `measured` counts the measurements: the sums follow them.
  }, [total, estimate, measured, keyOf]);

  const indexAt = (y: number): number => {
    let low = 0;
    let high = total;
    while (low < high) {
      const mid = (low + high) >> 1;
      if ((tops[mid + 1] ?? 0) <= y) low = mid + 1;
      else high = mid;
    }
    return Math.min(low, Math.max(0, total - 1));
  };
  const first = total === 0 ? 0 : indexAt(window_.top - MARGIN);
  const last = total === 0 ? -1 : indexAt(window_.top + window_.height + MARGIN);

  useEffect(() => {
    const frame = scroller(box.current);
    if (frame === null) return;
    let queued = 0;
    const look = () => {
      queued = 0;
      const at = box.current?.getBoundingClientRect().top ?? 0;
      const top = frame.getBoundingClientRect().top - at;
      setWindow((was) =>
        Math.abs(was.top - top) < 1 && was.height === frame.clientHeight ? was : { top, height: frame.clientHeight },
      );
    };
    const onScroll = () => {
      if (queued === 0) queued = requestAnimationFrame(look);
    };
    look();
    frame.addEventListener('scroll', onScroll, { passive: true });
    const resized = new ResizeObserver(onScroll);
    resized.observe(frame);
    return () => {
      frame.removeEventListener('scroll', onScroll);
      resized.disconnect();
      if (queued !== 0) cancelAnimationFrame(queued);
    };
  }, []);

  useEffect(() => {
    if (last >= first) onRange(first, last);
  }, [first, last, onRange]);

  const observer = useMemo(
    () =>
      new ResizeObserver((records) => {
        let changed = false;
        for (const { target } of records) {
          if (!(target instanceof HTMLElement)) continue;
          const key = target.dataset['key'];
          const height = target.offsetHeight;
          if (key === undefined || height === 0 || heights.current.get(key) === height) continue;
          heights.current.set(key, height);
          changed = true;
        }
        if (changed) setMeasured((count) => count + 1);
      }),
    [],
  );
  useEffect(() => () => observer.disconnect(), [observer]);
  useLayoutEffect(() => {
    observer.disconnect();
    for (const child of box.current?.querySelectorAll<HTMLElement>(':scope > .virtual-row') ?? []) observer.observe(child);
  });

  // A row that is moved in the document loses the focus; it gets it back before anyone notices.
  const focused = document.activeElement;
  const hadFocus = focused instanceof HTMLElement && box.current?.contains(focused) === true ? focused : null;
  useLayoutEffect(() => {
    if (hadFocus !== null && hadFocus.isConnected && document.activeElement !== hadFocus) hadFocus.focus({ preventScroll: true });
  });

  const rows = [];
  const pinned = Number(hadFocus?.closest<HTMLElement>('.virtual-row')?.dataset['index'] ?? NaN);
  const indexes = Array.from({ length: Math.max(0, last - first + 1) }, (_, offset) => first + offset);
  // The row that has the focus exists even when it was scrolled away.
  if (pinned < first) indexes.unshift(pinned);
  else if (pinned > last && pinned < total) indexes.push(pinned);
  for (const index of indexes) {
    rows.push(
      <div key={keyOf(index)} class="virtual-row" data-key={keyOf(index)} data-index={index} style={{ top: `${tops[index] ?? 0}px` }}>
        {row(index)}
      </div>,
    );
  }
  return (
    <div ref={box} class="virtual" role="feed" aria-label={label} aria-busy={false} style={{ height: `${tops[total] ?? 0}px` }}>
      {rows}
    </div>
  );
}
