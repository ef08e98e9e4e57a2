/** Above the codex: the sample's notice, and trouble that no form shows. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { route, type Route } from '../state/route.ts';
import { question } from '../state/search.ts';
import { campaign, describeError, engine, mayKeep, trouble } from '../state/session.ts';
import { NAME_MAX } from '../text/words.ts';
import { IconButton } from './bits.tsx';
import { SettledElsewhere } from './contested.tsx';

function SampleNotice({ id }: { id: string }) {
  const [naming, setNaming] = useState(false);
  const [name, setName] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), [naming]);
  return (
    <section class="notice" aria-label="Sample campaign" data-testid="sample-notice">
      {naming ? (
        <form
          class="notice-form"
          onSubmit={(event) => {
            event.preventDefault();
            setBusy(true);
            engine.call('clearSample', { campaign: id, name: name.trim() }).catch((problem: unknown) => {
              setError(describeError(problem));
              setBusy(false);
            });
          }}
        >
          <label class="field">
            <span>The sample’s entries go away. What is your campaign called?</span>
            <input ref={field} required maxLength={NAME_MAX} value={name} data-testid="sample-name" autocomplete="off" onInput={(event) => setName(event.currentTarget.value)} />
          </label>
          <div class="actions">
            <button class="button button-primary" type="submit" data-testid="sample-clear-confirm" disabled={busy || name.trim() === ''}>
              Clear and begin
            </button>
            <button class="button" type="button" onClick={() => setNaming(false)}>
              Keep the sample
            </button>
          </div>
          {error !== null && (
            <p class="form-error" role="alert">
              {error}
            </p>
          )}
        </form>
      ) : (
        <p>
          A sample campaign, to try: your table’s memory, kept on this device and asked in plain words.{' '}
          <button type="button" class="link" data-testid="sample-clear" onClick={() => setNaming(true)}>
            Clear it and start your own
          </button>
        </p>
      )}
    </section>
  );
}

/** The list without a filter: notices about the campaign belong there. */
const isWhole = (here: Route): boolean => here.view === 'codex' && Object.keys(here.filter).length === 0;

export function Notices() {
  const open = campaign.value;
  const words = trouble.value;
  const atHome = route.value.view === 'codex' && question.value.trim() === '';
  return (
    <>
      {words !== null && (
        <div class="notice notice-trouble" role="alert" data-testid="trouble">
          <p>{words}</p>
          <IconButton sign="close" label="Dismiss" onClick={() => (trouble.value = null)} />
        </div>
      )}
      {atHome && <SettledElsewhere />}
      {open?.sample && mayKeep() && atHome && isWhole(route.value) && <SampleNotice id={open.id} />}
    </>
  );
}
