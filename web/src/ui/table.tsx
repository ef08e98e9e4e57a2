/** Who is at the table, who edits what, and how others come to it. */
import { useEffect, useState } from 'preact/hooks';
import type { Calls, Member } from '../engine/api.ts';
import { announcement } from '../state/panels.ts';
import { goEntry } from '../state/route.ts';
import { attempt, campaign, describeError, engine, members, status, mayKeep } from '../state/session.ts';
import { NAME_MAX, roleName } from '../text/words.ts';
import { AuthorName, Quiet } from './bits.tsx';
import { SignGlyph } from './glyphs.tsx';

type InviteRole = Calls['invite'][0]['role'];

function EditsWhat({ member }: { member: Member }) {
  const [title, setTitle] = useState<string | null>(null);
  const id = member.editing?.entry ?? null;
  useEffect(() => {
    setTitle(null);
    if (id !== null) attempt(engine.call('get', { entry: id }).then((entry) => setTitle(entry?.title ?? null)));
  }, [id]);
  if (id === null || title === null) return null;
  return (
    <span class="member-editing">
      writing in{' '}
      <button type="button" class="link" onClick={() => goEntry(id)}>
        {title}
      </button>
    </span>
  );
}

function MyName() {
  const known = status.value?.name ?? '';
  const [name, setName] = useState<string | null>(null);
  if (name === null) {
    return (
      <p class="hint">
        {known === '' ? 'The table does not know your name yet. ' : `The table knows you as ${known}. `}
        <button type="button" class="link" data-testid="change-name" onClick={() => setName(known)}>
          {known === '' ? 'Say it' : 'Change'}
        </button>
      </p>
    );
  }
  return (
    <form
      class="inline-form"
      onSubmit={(event) => {
        event.preventDefault();
        attempt(
          engine.call('setName', { name: name.trim() }).then((now) => {
            status.value = now;
            setName(null);
          }),
        );
      }}
    >
      <label class="field">
        <span>Your name at the table</span>
        <input autofocus required maxLength={NAME_MAX} value={name} data-testid="my-name" autocomplete="nickname" onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <button type="submit" class="button" data-testid="my-name-save" disabled={name.trim() === ''}>
        Save
      </button>
    </form>
  );
}

function Invite({ id }: { id: string }) {
  const [role, setRole] = useState<InviteRole>('player');
  const [link, setLink] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const make = () => {
    setBusy(true);
    setError(null);
    engine
      .call('invite', { campaign: id, role })
      .then((made) => setLink(made.link), (problem: unknown) => setError(describeError(problem)))
      .finally(() => setBusy(false));
  };
  const copy = (text: string) => {
    // Where the clipboard is not allowed, the field is selected for the person to copy.
    navigator.clipboard.writeText(text).then(
      () => (announcement.value = 'Invitation copied'),
      () => {
        const field = document.getElementById('invite-link');
        if (field instanceof HTMLInputElement) field.select();
      },
    );
  };
  return (
    <section class="drawer-part" aria-labelledby="invite-title">
      <h3 id="invite-title">Invite</h3>
      <div class="stacked-form">
        <label class="field">
          <span>As</span>
          <select value={role} data-testid="invite-role" onChange={(event) => {
            setRole(event.currentTarget.value as InviteRole);
            setLink(null);
          }}>
            <option value="player">Player: reads and writes</option>
            <option value="co-keeper">Co-keeper: also keeps the secrets</option>
            <option value="watcher">Watcher: only reads</option>
          </select>
        </label>
        <button type="button" class="button" data-testid="invite" disabled={busy} onClick={make}>
          {busy ? 'Making…' : 'Make a link'}
        </button>
      </div>
      {link !== null && (
        <>
          <div class="inline-form">
            <label class="field">
              <span class="sr-only">Invitation link</span>
              <input id="invite-link" readOnly value={link} data-testid="invite-link" onFocus={(event) => event.currentTarget.select()} />
            </label>
            <button type="button" class="button button-primary" data-testid="invite-copy" onClick={() => copy(link)}>
              <SignGlyph sign="copy" size={16} /> Copy
            </button>
          </div>
          <p class="hint">Whoever has this link can join. Send it only to whom you mean; the part after “#” is the key.</p>
        </>
      )}
      {error !== null && (
        <p class="form-error" role="alert">
          {error}
        </p>
      )}
    </section>
  );
}

function OpenTable({ id, name }: { id: string; name: string }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  return (
    <Quiet title={`${name} is on this device only`}>
      <p>Open it to a table, and others can hold it too: every change goes, sealed, to whom you invite.</p>
      <button
        type="button"
        class="button button-primary"
        data-testid="open-campaign-table"
        disabled={busy}
        onClick={() => {
          setBusy(true);
          setError(null);
          engine
            .call('openTable', { campaign: id })
            .catch((problem: unknown) => setError(describeError(problem)))
            .finally(() => setBusy(false));
        }}
      >
        {busy ? 'Opening…' : 'Open this campaign to a table'}
      </button>
      {error !== null && (
        <p class="form-error" role="alert">
          {error}
        </p>
      )}
    </Quiet>
  );
}

export function TablePanel() {
  const open = campaign.value;
  if (open === null) return null;
  if (!open.table) {
    return (
      <>
        <OpenTable id={open.id} name={open.name} />
        <MyName />
      </>
    );
  }
  const sorted = [...members.value].sort((a, b) => Number(b.here) - Number(a.here));
  return (
    <>
      <ul class="members" aria-label="Members">
        {sorted.map((member) => (
          <li key={member.device} class="member" data-testid="member" data-here={member.here || undefined}>
            <span class="member-dot" aria-hidden="true" />
            <span class="member-name">
              <AuthorName author={member.author} />
              <span class="member-role">{roleName(member.role)}</span>
            </span>
            <span class="member-here">
              {member.here ? 'here' : 'away'}
            </span>
            <EditsWhat member={member} />
          </li>
        ))}
      </ul>
      <MyName />
      {mayKeep() && <Invite id={open.id} />}
    </>
  );
}
