/** The entries of the open campaign, newest change first. */
import { useCallback } from 'preact/hooks';
import { list, wantRows } from '../state/entries.ts';
import { openOverlay } from '../state/panels.ts';
import { goCodex, route, type Filter } from '../state/route.ts';
import { campaign, campaigns } from '../state/session.ts';
import { kindPlural, plural } from '../text/words.ts';
import { Quiet } from './bits.tsx';
import { Card } from './card.tsx';
import { VirtualList } from './virtual-list.tsx';

const CARD_ESTIMATE = 190;

function heading(filter: Filter): string {
  if (filter.kind !== undefined) return kindPlural(filter.kind);
  if (filter.thread !== undefined) return filter.thread;
  if (filter.contested) return 'Contested';
  return 'The codex';
}

function Nothing({ filter }: { filter: Filter }) {
  const open = campaign.value;
  if (open?.joining) {
    return (
      <Quiet title="Joining the table" testId="joining">
        <p>You are in. The lore arrives as soon as someone who has it is reachable; this page shows it as it comes.</p>
      </Quiet>
    );
  }
  if (filter.contested) {
    return (
      <Quiet title="Nothing is contested">
        <p>When two people change the same field at once, both values wait here until someone settles it.</p>
      </Quiet>
    );
  }
  if (filter.kind !== undefined || filter.thread !== undefined) {
    return (
      <Quiet title="Nothing here now">
        <p>
          <button type="button" class="link" onClick={() => goCodex()}>
            See the whole codex
          </button>
        </p>
      </Quiet>
    );
  }
  return (
    <Quiet title="An empty codex" testId="empty-campaign">
      <p>Write down the first thing that your table should not forget: a name, a promise, a place.</p>
      <p>
        <button type="button" class="button button-primary" onClick={() => openOverlay('compose')}>
          Write the first entry
        </button>
      </p>
    </Quiet>
  );
}

function NoCampaign() {
  return (
    <Quiet title="No campaign yet" testId="no-campaign">
      <p>A campaign is one world. Recall searches only the world that you are in.</p>
      <p>
        <button type="button" class="button button-primary" onClick={() => openOverlay('campaign')}>
          Start a campaign
        </button>
      </p>
    </Quiet>
  );
}

export function CodexView() {
  const { total, rows } = list.value;
  const now = route.value;
  const filter = now.view === 'codex' ? now.filter : {};
  const keyOf = useCallback((index: number) => rows.get(index)?.id ?? `row-${index}`, [rows]);
  if (campaigns.value?.length === 0) return <NoCampaign />;
  if (total === null) return <div class="loading" aria-hidden="true" />;
  return (
    <section class="column" aria-labelledby="list-heading">
      <div class="list-head">
        <h1 id="list-heading">{heading(filter)}</h1>
        <p role="status" data-testid="list-count">
          {plural(total, 'entry', 'entries')}
        </p>
      </div>
      {total === 0 ? (
        <Nothing filter={filter} />
      ) : (
        <VirtualList
          total={total}
          estimate={CARD_ESTIMATE}
          label={heading(filter)}
          keyOf={keyOf}
          onRange={wantRows}
          row={(index) => {
            const entry = rows.get(index);
            return entry === undefined ? (
              <div class="card card-waiting" aria-hidden="true" />
            ) : (
              <Card entry={entry} position={index + 1} size={total} />
            );
          }}
        />
      )}
    </section>
  );
}
