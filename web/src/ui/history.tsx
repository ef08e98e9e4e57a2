/** An entry's past: who changed what and when, and how it stood then. */
import { useEffect, useState } from 'preact/hooks';
import type { Entry, Version } from '../engine/api.ts';
import { route } from '../state/route.ts';
import { attempt, describeError, engine, onChanged } from '../state/session.ts';
import { fieldName, kindName } from '../text/words.ts';
import { AuthorName, Quiet, Time } from './bits.tsx';
import { Markdown } from './markdown.tsx';

function Past({ entry, version }: { entry: string; version: Version }) {
  const [state, setState] = useState<Entry | null | undefined>(undefined);
  useEffect(() => {
    attempt(engine.call('stateAt', { entry, revision: version.revision }).then(setState));
  }, [entry, version.revision]);
  if (state === undefined) return null;
  if (state === null) return <p class="hint">This state is no longer kept.</p>;
  return (
    <div class="past" data-testid="past-state">
      <p class="past-kind">
        {kindName(state.kind)}
        {state.when !== null && ` · ${state.when}`}
        {state.status !== null && ` · ${state.status}`}
      </p>
      <h3>{state.title}</h3>
      <Markdown text={state.body} />
      {state.threads.length > 0 && <p class="hint">Threads: {state.threads.join(', ')}</p>}
    </div>
  );
}

export function HistoryPanel() {
  const now = route.value;
  const id = now.view === 'entry' ? now.entry : null;
  const [versions, setVersions] = useState<Version[] | null>(null);
  const [open, setOpen] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    setVersions(null);
    setOpen(null);
    if (id === null) return;
    const load = () => {
      engine.call('history', { entry: id }).then(setVersions, (problem: unknown) => setError(describeError(problem)));
    };
    load();
    return onChanged((event) => {
      if (event.entries.includes(id)) load();
    });
  }, [id]);
  if (id === null) {
    return (
      <Quiet title="No entry is open">
        <p>Open an entry to see how it came to be.</p>
      </Quiet>
    );
  }
  if (error !== null) return <p class="form-error">{error}</p>;
  if (versions === null) return <div class="loading" aria-hidden="true" />;
  return (
    <ol class="versions">
      {versions.map((version, index) => (
        <li key={version.revision} data-testid="version">
          <button
            type="button"
            class="version"
            aria-expanded={open === version.revision}
            onClick={() => setOpen(open === version.revision ? null : version.revision)}
          >
            <span class="version-fields">{index === versions.length - 1 ? 'Written' : version.fields.map(fieldName).join(', ')}</span>
            <span class="version-by">
              <AuthorName author={version.by} /> · <Time at={version.at} />
            </span>
          </button>
          {open === version.revision && <Past entry={id} version={version} />}
        </li>
      ))}
    </ol>
  );
}
