/** The answer to a question: spans, best first, each with its address and why it is here. */
import { useEffect } from 'preact/hooks';
import type { Hit } from '../engine/api.ts';
import { announcement } from '../state/panels.ts';
import { answer, question } from '../state/search.ts';
import { learning } from '../state/session.ts';
import { plainSpan } from '../text/excerpt.ts';
import { plural } from '../text/words.ts';
import { Quiet } from './bits.tsx';
import { Card } from './card.tsx';

const WHY: Record<Hit['why'], string> = {
  words: 'by words',
  meaning: 'by meaning',
  both: 'by words and meaning',
};

/** The span's text with the matched words marked; ranges may overlap or lie outside the text. */
function Marked(span: { text: string; ranges: readonly [number, number][] }) {
  const { text, ranges } = plainSpan(span.text, span.ranges);
  const parts = [];
  let at = 0;
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const start = Math.max(at, from);
    if (start >= to || to > text.length) continue;
    parts.push(text.slice(at, start), <mark key={start}>{text.slice(start, to)}</mark>);
    at = to;
  }
  parts.push(text.slice(at));
  return <>{parts}</>;
}

function address(hit: Hit): string {
  const lines = hit.startLine === hit.endLine ? `line ${hit.startLine}` : `lines ${hit.startLine}–${hit.endLine}`;
  return hit.anchor === null || hit.anchor === '' ? lines : `§ ${hit.anchor.replaceAll('-', ' ')}, ${lines}`;
}

function HitCard({ hit, position, size }: { hit: Hit; position: number; size: number }) {
  return (
    <Card
      entry={hit.entry}
      position={position}
      size={size}
      lead={
        <p class="hit-lead">
          <span class="relevance" data-testid="relevance">
            <span class="sr-only">Relevance </span>
            {hit.relevance}%
          </span>
          <span class="hit-bar" aria-hidden="true">
            <span style={{ width: `${hit.relevance}%` }} />
          </span>
          <span class="hit-why" data-testid="why">
            {WHY[hit.why]}
          </span>
        </p>
      }
      excerpt={
        hit.text.trim() === '' ? undefined : (
          <blockquote class="hit-span">
            <p data-testid="span-text">
              <Marked text={hit.text} ranges={hit.matched} />
            </p>
            <footer class="hit-address" data-testid="span-address">
              {address(hit)}
            </footer>
          </blockquote>
        )
      }
    />
  );
}

export function Results() {
  const found = answer.value;
  const count = found?.result.hits.length;
  useEffect(() => {
    if (found === null) return;
    announcement.value =
      found.result.hits.length === 0
        ? `Nothing close in ${plural(found.result.searched, 'entry', 'entries')}`
        : `${plural(found.result.hits.length, 'result')}, best first`;
  }, [found?.question, count]);

  if (found === null) return <div class="loading" aria-hidden="true" />;
  const { hits, searched, byMeaning } = found.result;
  if (hits.length === 0 && learning.value) {
    return (
      <section class="column" aria-label="Results">
        <Quiet title="No entry has these words" testId="results-learning">
          <p>What your entries mean is still being learned on this device. The answer comes here by itself.</p>
        </Quiet>
      </section>
    );
  }
  if (hits.length === 0) {
    return (
      <section class="column" aria-label="Results">
        <Quiet title={`Nothing close in ${plural(searched, 'entry', 'entries')}; ask another way`} testId="no-results">
          <p>That a question finds nothing does not prove that nothing is written. Try other words, or fewer.</p>
        </Quiet>
      </section>
    );
  }
  return (
    <section class="column" aria-label="Results" data-testid="results" data-stale={found.question !== question.value.trim() || undefined}>
      <h1 class="results-head" data-testid="results-head">
        {`Closest in ${plural(searched, 'entry', 'entries')}, best first`}
        {!byMeaning && '. By words only, until meanings are ready.'}
        {byMeaning && learning.value && '. Some meanings are still being learned.'}
      </h1>
      <div role="feed" aria-label="Results" class="hits">
        {hits.map((hit, index) => (
          <HitCard key={hit.entry.id} hit={hit} position={index + 1} size={hits.length} />
        ))}
      </div>
    </section>
  );
}
