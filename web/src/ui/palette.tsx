/** The command palette: entries by title, and everything the page can do. */
import { useEffect, useState } from 'preact/hooks';
import { knownTitles, noteTitles } from '../state/entries.ts';
import { closeOverlay, openOverlay, toggleDrawer } from '../state/panels.ts';
import { toggleTheme } from '../state/preferences.ts';
import { goCodex, goEntry } from '../state/route.ts';
import { askNow, clearQuestion } from '../state/search.ts';
import { attempt, campaignId, campaigns, chooseCampaign, engine } from '../state/session.ts';
import { KINDS, kindName, kindPlural } from '../text/words.ts';
import { Dialog } from './dialog.tsx';
import { KindGlyph, SignGlyph, type Sign } from './glyphs.tsx';

interface Command {
  id: string;
  label: string;
  about: string;
  sign?: Sign;
  kind?: string;
  run: () => void;
}

const SHOWN = 12;

function commands(): Command[] {
  const visit = (filter: Parameters<typeof goCodex>[0]) => () => {
    clearQuestion();
    goCodex(filter);
  };
  return [
    { id: 'new', label: 'New entry', about: 'n', sign: 'plus', run: () => openOverlay('compose') },
    { id: 'all', label: 'Whole codex', about: 'g c', kind: 'campaign', run: visit({}) },
    { id: 'contested', label: 'Contested', about: 'g x', sign: 'split', run: visit({ contested: true }) },
    { id: 'table', label: 'Table: who is here, invite', about: 'g t', sign: 'table', run: () => toggleDrawer('table') },
    { id: 'theme', label: 'Change the light', about: 'parchment or candlelight', sign: 'moon', run: toggleTheme },
    { id: 'about', label: 'What leaves this device', about: 'privacy', sign: 'key', run: () => openOverlay('about') },
    { id: 'keys', label: 'Keys', about: '?', sign: 'menu', run: () => openOverlay('help') },
    { id: 'campaign', label: 'New campaign', about: '', sign: 'plus', run: () => openOverlay('campaign') },
    ...(campaigns.value ?? []).map((one) => ({ id: one.id, label: `Open ${one.name}`, about: 'campaign', kind: 'campaign', run: () => chooseCampaign(one.id) })),
    ...KINDS.map((kind) => ({ id: kind, label: kindPlural(kind), about: 'kind', kind, run: visit({ kind }) })),
  ];
}

export function Palette() {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const [, setFound] = useState(0);

  useEffect(() => {
    const campaign = campaignId.value;
    const wanted = text.trim();
    if (campaign === null || wanted === '') return;
    const due = setTimeout(() => {
      attempt(
        engine.call('recall', { campaign, queries: [wanted], limit: SHOWN }).then(({ hits }) => {
          noteTitles(hits.map((hit) => hit.entry));
          setFound((count) => count + 1);
        }),
      );
    }, 120);
    return () => clearTimeout(due);
  }, [text]);

  const wanted = text.trim().toLocaleLowerCase();
  const matches: Command[] = commands().filter((one) => wanted === '' || one.label.toLocaleLowerCase().includes(wanted));
  if (wanted !== '') {
    const entries = [...knownTitles()].filter((one) => one.title.toLocaleLowerCase().includes(wanted)).slice(0, SHOWN);
    matches.unshift(...entries.map(({ id, title, kind }) => ({ id, label: title, about: kindName(kind), kind, run: () => goEntry(id) })));
    matches.push({ id: 'ask', label: `Ask: ${text.trim()}`, about: '', sign: 'search', run: () => askNow(text.trim()) });
  }
  const shown = matches.slice(0, SHOWN);
  const run = (index: number) => {
    const one = shown[index];
    if (one === undefined) return;
    closeOverlay();
    one.run();
  };
  return (
    <Dialog label="Commands" testId="palette" bare class="palette">
      <input
        autofocus
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown.length > 0 ? `palette-${active}` : undefined}
        aria-label="Go to an entry or run a command"
        placeholder="Go to an entry, or do something"
        data-testid="palette-input"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setActive(Math.min(shown.length - 1, active + 1));
          else if (event.key === 'ArrowUp') setActive(Math.max(0, active - 1));
          else if (event.key === 'Enter') run(active);
          else return;
          event.preventDefault();
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Commands">
        {shown.map((one, index) => (
          <li
            key={one.id}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === active}
            data-testid="palette-option"
            onPointerMove={() => setActive(index)}
            onClick={() => run(index)}
          >
            {one.kind !== undefined ? <KindGlyph kind={one.kind} size={17} /> : <SignGlyph sign={one.sign ?? 'menu'} size={17} />}
            <span class="palette-label">{one.label}</span>
            <span class="palette-about">{one.about}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
