/** Writes a new entry. It shows as saved only when the engine has said so. */
import { signal } from '@preact/signals';
import type { Audience } from '../engine/api.ts';
import { useState } from 'preact/hooks';
import { splitThreads } from '../state/drafts.ts';
import { announcement, closeOverlay } from '../state/panels.ts';
import { nameAsked } from '../state/preferences.ts';
import { goEntry } from '../state/route.ts';
import { campaign, campaignId, describeError, engine, facets, status, mayKeep } from '../state/session.ts';
import { NAME_MAX, kindName } from '../text/words.ts';
import { Dialog } from './dialog.tsx';
import { kindChoices } from './fields-form.tsx';
import { KindGlyph, SignGlyph } from './glyphs.tsx';

interface Words {
  kind: string;
  title: string;
  body: string;
  threads: string;
  when: string;
  audience: Audience;
}

const BLANK: Words = { kind: 'npc', title: '', body: '', threads: '', when: '', audience: 'table' };
/** Outlives the dialog: closing it by mistake loses no words. */
const words = signal<Words>(BLANK);

const change = (field: Exclude<keyof Words, 'audience'>, value: string): void => {
  words.value = { ...words.value, [field]: value };
};

function KindChoice() {
  return (
    <div class="kinds" role="radiogroup" aria-label="Kind">
      {kindChoices(words.value.kind).map((kind) => (
        <label key={kind} class="kind-choice">
          <input type="radio" name="kind" value={kind} checked={words.value.kind === kind} onChange={() => change('kind', kind)} />
          <KindGlyph kind={kind} size={16} />
          {kindName(kind)}
        </label>
      ))}
    </div>
  );
}

const AUDIENCES: readonly [audience: Audience, name: string][] = [
  ['table', 'Everyone at the table'],
  ['keeper', 'The keeper only'],
];


function AudienceChoice() {
  return (
    <fieldset class="audience">
      <legend>For whom</legend>
      <div class="kinds">
        {AUDIENCES.map(([audience, name]) => (
          <label key={audience} class="kind-choice">
            <input
              type="radio"
              name="audience"
              value={audience}
              checked={words.value.audience === audience}
              data-testid={`composer-audience-${audience}`}
              onChange={() => (words.value = { ...words.value, audience })}
            />
            <SignGlyph sign={audience === 'keeper' ? 'seal' : 'table'} size={16} />
            {name}
          </label>
        ))}
      </div>
      {words.value.audience === 'keeper' && <p class="hint">Sealed with the keepers’ own key: players’ devices never hold it.</p>}
    </fieldset>
  );
}

export function Composer() {
  const [name, setName] = useState('');
  const [saving, setSaving] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const asksName = status.value?.name === '' && !nameAsked.value;
  const { title, body, threads, when, kind } = words.value;

  const save = async (open: boolean) => {
    const id = campaignId.value;
    if (id === null || title.trim() === '' || saving) return;
    setSaving(true);
    setError(null);
    try {
      if (asksName) {
        if (name.trim() !== '') await engine.call('setName', { name: name.trim() });
        nameAsked.value = true;
      }
      const entry = await engine.call('record', {
        campaign: id,
        audience: mayKeep() ? words.value.audience : 'table',
        draft: { kind, title: title.trim(), body, threads: splitThreads(threads), when: when.trim() === '' ? null : when.trim() },
      });
      words.value = { ...BLANK, kind };
      announcement.value = `Saved: ${entry.title}`;
      closeOverlay();
      if (open) goEntry(entry.id);
    } catch (problem) {
      setError(describeError(problem));
      setSaving(false);
    }
  };

  return (
    <Dialog label={`New entry${campaign.value === null ? '' : ` in ${campaign.value.name}`}`} testId="composer" class="composer">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save(false);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            void save(false);
          }
        }}
      >
        <KindChoice />
        <label class="field field-title">
          <span>Title</span>
          <input autofocus required maxLength={200} value={title} placeholder="Who, where, or what" data-testid="composer-title" autocomplete="off" onInput={(event) => change('title', event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>Text</span>
          <textarea rows={6} value={body} placeholder="What the table should remember. Markdown, and [[links]] to other entries." data-testid="composer-body" onInput={(event) => change('body', event.currentTarget.value)} />
        </label>
        <div class="fields-row">
          <label class="field">
            <span>Threads</span>
            <input list="thread-names" value={threads} placeholder="the ring, debts" data-testid="composer-threads" maxLength={600} autocomplete="off" onInput={(event) => change('threads', event.currentTarget.value)} />
          </label>
          <datalist id="thread-names">
            {facets.value?.threads.slice(0, 50).map(({ thread }) => <option key={thread} value={thread} />)}
          </datalist>
          <label class="field">
            <span>When, in the world</span>
            <input value={when} placeholder="Third of Thaw" data-testid="composer-when" maxLength={200} autocomplete="off" onInput={(event) => change('when', event.currentTarget.value)} />
          </label>
        </div>
        {mayKeep() && <AudienceChoice />}
        {asksName && (
          <label class="field">
            <span>Your name, as the table shall see it (asked once)</span>
            <input value={name} maxLength={NAME_MAX} placeholder="You can leave this empty" data-testid="composer-name" autocomplete="nickname" onInput={(event) => setName(event.currentTarget.value)} />
          </label>
        )}
        {error !== null && (
          <p class="form-error" role="alert" data-testid="form-error">
            Not saved. {error}
          </p>
        )}
        <div class="actions">
          <button type="submit" class="button button-primary" data-testid="composer-save" disabled={saving || title.trim() === '' || campaignId.value === null}>
            {saving ? 'Saving…' : 'Save'} <kbd>Ctrl ⏎</kbd>
          </button>
          <button type="button" class="button" data-testid="composer-save-open" disabled={saving || title.trim() === '' || campaignId.value === null} onClick={() => void save(true)}>
            Save and open
          </button>
        </div>
      </form>
    </Dialog>
  );
}
