/** The page at an invitation's address: asks for a name, joins, and goes to the codex. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { takeInvitation } from '../invitation.ts';
import { settingsQuery } from '../settings.ts';
import { nameAsked } from '../state/preferences.ts';
import { NAME_MAX } from '../text/words.ts';
import { chooseCampaign, describeError, engine, refreshCampaigns, status } from '../state/session.ts';

/** The person is through: the frame takes over. */
export const joinDone = signal(false);

const link = takeInvitation();

function leave(): void {
  history.replaceState(null, '', `/${settingsQuery(location.search)}#/`);
  joinDone.value = true;
}

export function JoinView() {
  const [name, setName] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const shown = name ?? status.value?.name ?? '';

  const join = async () => {
    if (link === null || shown.trim() === '') return;
    setBusy(true);
    setError(null);
    try {
      const joined = await engine.call('join', { link, name: shown.trim() });
      nameAsked.value = true;
      await refreshCampaigns();
      chooseCampaign(joined.id);
      leave();
    } catch (problem) {
      setError(describeError(problem));
      setBusy(false);
    }
  };

  return (
    <main class="join" data-testid="join">
      <div class="join-leaf">
        <img src="/lorekeeper.svg" alt="" width="40" height="40" />
        {link === null ? (
          <>
            <h1>This link has lost its key</h1>
            <p>
              An invitation ends in “#” and a long key, and works only whole. Ask whoever invited you to send the link again, and
              open it from where they sent it.
            </p>
            <button type="button" class="button button-primary" data-testid="join-leave" onClick={leave}>
              Go to my codex
            </button>
          </>
        ) : (
          <form
            class="stack"
            aria-busy={busy}
            onSubmit={(event) => {
              event.preventDefault();
              void join();
            }}
          >
            <h1>You are invited to a table</h1>
            <p>You will hold the whole codex of this table on this device, to read, write and ask, also without a network.</p>
            <label class="field">
              <span>Your name, as the table shall see it</span>
              <input autofocus required maxLength={NAME_MAX} value={shown} data-testid="join-name" autocomplete="nickname" disabled={busy} onInput={(event) => setName(event.currentTarget.value)} />
            </label>
            {error !== null && (
              <p class="form-error" role="alert" data-testid="join-error">
                {error}
              </p>
            )}
            <div class="actions">
              <button type="submit" class="button button-primary" data-testid="join-submit" disabled={busy || shown.trim() === ''}>
                {busy ? 'Joining…' : 'Join the table'}
              </button>
              <button type="button" class="button" onClick={leave} disabled={busy}>
                Not now
              </button>
            </div>
            <p class="hint">Lore leaves this device only sealed, for the table that you joined; the relay can read none of it.</p>
          </form>
        )}
      </div>
    </main>
  );
}
