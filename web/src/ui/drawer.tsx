/** The right drawer, a sheet on a phone: the table, or the open entry's history. */
import { useEffect, useRef } from 'preact/hooks';
import { closeDrawer, type Drawer as Which } from '../state/panels.ts';
import { IconButton } from './bits.tsx';
import { HistoryPanel } from './history.tsx';
import { TablePanel } from './table.tsx';

const TITLES: Record<Which, string> = { table: 'The table', history: 'History' };

export function Drawer({ which }: { which: Which }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [which]);
  return (
    <aside class="drawer" aria-labelledby="drawer-title" data-testid={`drawer-${which}`}>
      <header class="drawer-head">
        <h2 id="drawer-title" tabIndex={-1} ref={heading}>
          {TITLES[which]}
        </h2>
        <IconButton sign="close" label="Close" keys="Esc" onClick={closeDrawer} />
      </header>
      <div class="drawer-body">{which === 'table' ? <TablePanel /> : <HistoryPanel />}</div>
    </aside>
  );
}
