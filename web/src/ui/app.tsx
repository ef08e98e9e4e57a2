/** The frame: rail, codex, drawer; on a phone one column with a bar at the bottom. */
import { announcement, drawer, overlay } from '../state/panels.ts';
import { question } from '../state/search.ts';
import { route } from '../state/route.ts';
import { campaign, campaigns, status } from '../state/session.ts';
import { openedByInvitation } from '../invitation.ts';
import { BottomBar } from './bottom-bar.tsx';
import { CodexView } from './codex-view.tsx';
import { Drawer } from './drawer.tsx';
import { EntryView } from './entry-view.tsx';
import { JoinView, joinDone } from './join.tsx';
import { Notices } from './notices.tsx';
import { Overlays } from './overlays.tsx';
import { Rail } from './rail.tsx';
import { Results } from './results.tsx';
import { SearchBar } from './search-bar.tsx';
import { StatusLine } from './status-line.tsx';

function Centre() {
  if (status.value?.error) {
    return (
      <div class="quiet" role="alert" data-testid="engine-error">
        <p class="quiet-title">The codex did not open</p>
        <p>{status.value.error}</p>
        <button type="button" class="button" onClick={() => location.reload()}>
          Reload the page
        </button>
      </div>
    );
  }
  const here = route.value;
  if (here.view === 'entry') return <EntryView key={here.entry} id={here.entry} />;
  if (question.value.trim() !== '' && campaign.value !== null) return <Results />;
  return <CodexView />;
}

export function App() {
  if (openedByInvitation && !joinDone.value) return <JoinView />;
  return (
    <div class="frame" data-drawer={drawer.value ?? undefined} data-ready={campaigns.value !== null || undefined}>
      <a class="skip" href="#centre" onClick={(event) => {
        event.preventDefault();
        document.getElementById('centre')?.focus();
      }}>
        Skip to the codex
      </a>
      <aside class="rail" aria-label="Campaign and kinds">
        <Rail />
      </aside>
      <div class="middle">
        <header class="top">
          <SearchBar />
        </header>
        <main class="centre" id="centre" tabIndex={-1}>
          <Notices />
          <Centre />
        </main>
        <StatusLine />
      </div>
      {drawer.value !== null && <Drawer which={drawer.value} />}
      <BottomBar />
      {overlay.value !== null && <Overlays which={overlay.value} />}
      <div class="sr-only" role="status" aria-live="polite" data-testid="announcement">
        {announcement.value}
      </div>
    </div>
  );
}
