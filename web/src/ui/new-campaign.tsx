/** Asks for a new campaign's name. */
import { useState } from 'preact/hooks';
import { closeOverlay } from '../state/panels.ts';
import { chooseCampaign, describeError, engine, refreshCampaigns } from '../state/session.ts';
import { NAME_MAX } from '../text/words.ts';
import { Dialog } from './dialog.tsx';

export function NewCampaign() {
  const [name, setName] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const create = async () => {
    setBusy(true);
    try {
      const made = await engine.call('createCampaign', { name: name.trim() });
      await refreshCampaigns();
      chooseCampaign(made.id);
      closeOverlay();
    } catch (problem) {
      setError(describeError(problem));
      setBusy(false);
    }
  };
  return (
    <Dialog label="New campaign" testId="campaign-dialog">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <label class="field">
          <span>Its name</span>
          <input autofocus required maxLength={NAME_MAX} value={name} data-testid="campaign-name" autocomplete="off" onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <p class="hint">One world, with its own entries, its own search and, if you like, its own table.</p>
        {error !== null && (
          <p class="form-error" role="alert">
            {error}
          </p>
        )}
        <div class="actions">
          <button type="submit" class="button button-primary" data-testid="campaign-create" disabled={busy || name.trim() === ''}>
            Start it
          </button>
        </div>
      </form>
    </Dialog>
  );
}
