/** The left rail: which campaign, and the ways into it. */
import { openOverlay, toggleDrawer, closeOverlay, overlay } from '../state/panels.ts';
import { toggleTheme, isDark, theme } from '../state/preferences.ts';
import { goCodex, route, type Filter } from '../state/route.ts';
import { clearQuestion, question } from '../state/search.ts';
import { campaign, facets, members } from '../state/session.ts';
import { KINDS, kindPlural, plural } from '../text/words.ts';
import { CampaignPicker } from './campaign-picker.tsx';
import { IconButton } from './bits.tsx';
import { KindGlyph, SignGlyph } from './glyphs.tsx';

/** Threads shown before "all threads" is asked for. */
const THREADS_SHOWN = 12;

function visit(filter: Filter): void {
  if (question.value !== '') clearQuestion();
  goCodex(filter);
  if (overlay.value === 'rail') closeOverlay();
}

function isHere(filter: Filter): boolean {
  const now = route.value;
  return (
    now.view === 'codex' &&
    question.value.trim() === '' &&
    now.filter.kind === filter.kind &&
    now.filter.thread === filter.thread &&
    now.filter.contested === filter.contested
  );
}

interface RailLinkProps {
  filter: Filter;
  label: string;
  count?: number | undefined;
  glyph?: preact.ComponentChildren;
  testId?: string;
}

function RailLink({ filter, label, count, glyph, testId }: RailLinkProps) {
  return (
    <li>
      <button
        type="button"
        class="rail-link"
        data-testid={testId}
        aria-current={isHere(filter) ? 'page' : undefined}
        onClick={() => visit(filter)}
      >
        {glyph}
        <span class="rail-label">{label}</span>
        {count !== undefined && <span class="rail-count">{count.toLocaleString()}</span>}
      </button>
    </li>
  );
}

export function Rail() {
  const counts = facets.value;
  const rank = (kind: string) => {
    const known = (KINDS as readonly string[]).indexOf(kind);
    return known < 0 ? KINDS.length : known;
  };
  const kinds = counts?.kinds.filter((one) => one.kind !== 'campaign').sort((a, b) => rank(a.kind) - rank(b.kind));
  const here = members.value.filter((member) => member.here && !member.author.self).length;
  // Reading the signal makes the theme button follow it.
  void theme.value;
  return (
    <>
      <div class="rail-head">
        <CampaignPicker />
        <button type="button" class="button button-primary rail-new" data-testid="new-entry" onClick={() => openOverlay('compose')}>
          <SignGlyph sign="plus" size={16} /> New entry <kbd>n</kbd>
        </button>
      </div>
      <nav class="rail-scroll" aria-label="Codex">
        <ul>
          <RailLink filter={{}} label="Whole codex" count={campaign.value?.entries} glyph={<KindGlyph kind="campaign" size={17} />} testId="rail-all" />
          {counts !== null && counts.contested > 0 && (
            <RailLink
              filter={{ contested: true }}
              label="Contested"
              count={counts.contested}
              glyph={<SignGlyph sign="split" size={17} />}
              testId="rail-contested"
            />
          )}
        </ul>
        {kinds !== undefined && kinds.length > 0 && (
          <>
            <h2 class="rail-title">Kinds</h2>
            <ul>
              {kinds.map(({ kind, count }) => (
                <RailLink key={kind} filter={{ kind }} label={kindPlural(kind)} count={count} glyph={<KindGlyph kind={kind} size={17} />} testId="rail-kind" />
              ))}
            </ul>
          </>
        )}
        {counts !== null && counts.threads.length > 0 && (
          <>
            <h2 class="rail-title">Threads</h2>
            <ul>
              {counts.threads.slice(0, THREADS_SHOWN).map(({ thread, count }) => (
                <RailLink key={thread} filter={{ thread }} label={thread} count={count} testId="rail-thread" />
              ))}
            </ul>
          </>
        )}
      </nav>
      <div class="rail-foot">
        <button type="button" class="rail-link" data-testid="open-table" onClick={() => toggleDrawer('table')}>
          <SignGlyph sign="table" size={17} />
          <span class="rail-label">{here > 0 ? `Table: ${plural(here, 'other')} here` : 'Table'}</span>
        </button>
        <div class="rail-tools">
          <IconButton
            sign={isDark() ? 'sun' : 'moon'}
            label={isDark() ? 'Change to parchment' : 'Change to candlelight'}
            testId="theme-toggle"
            onClick={toggleTheme}
          />
          <IconButton sign="key" label="What leaves this device" testId="about" onClick={() => openOverlay('about')} />
          <button type="button" class="icon-button" aria-label="Keys" title="Keys (?)" onClick={() => openOverlay('help')}>
            <span aria-hidden="true">?</span>
          </button>
        </div>
      </div>
    </>
  );
}
