/** The phone's bar: everything within a thumb's reach. */
import { closeDrawer, drawer, openOverlay, toggleDrawer } from '../state/panels.ts';
import { goCodex } from '../state/route.ts';
import { clearQuestion } from '../state/search.ts';
import { KindGlyph, SignGlyph } from './glyphs.tsx';
import { focusSearch } from './keys.ts';

export function BottomBar() {
  return (
    <nav class="bottom-bar" aria-label="Main">
      <button
        type="button"
        data-testid="bar-codex"
        onClick={() => {
          closeDrawer();
          clearQuestion();
          goCodex();
        }}
      >
        <KindGlyph kind="campaign" /> Codex
      </button>
      <button type="button" data-testid="bar-ask" onClick={focusSearch}>
        <SignGlyph sign="search" /> Ask
      </button>
      <button type="button" data-testid="bar-capture" onClick={() => openOverlay('compose')}>
        <SignGlyph sign="plus" /> Write
      </button>
      <button type="button" data-testid="bar-table" aria-pressed={drawer.value === 'table'} onClick={() => toggleDrawer('table')}>
        <SignGlyph sign="table" /> Table
      </button>
    </nav>
  );
}
