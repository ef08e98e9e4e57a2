/** The campaign picker: a button that opens a list box, worked by keys as a list box is. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { openOverlay } from '../state/panels.ts';
import { campaign, campaigns, chooseCampaign } from '../state/session.ts';
import { plural, roleName } from '../text/words.ts';
import { SignGlyph } from './glyphs.tsx';

export function CampaignPicker() {
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const button = useRef<HTMLButtonElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const all = campaigns.value ?? [];
  const current = campaign.value;

  useEffect(() => {
    if (!open) return;
    box.current?.querySelector<HTMLElement>('[role=listbox]')?.focus();
    const away = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', away);
    return () => document.removeEventListener('pointerdown', away);
  }, [open]);

  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const choose = (index: number) => {
    const one = all[index];
    if (one !== undefined) chooseCampaign(one.id);
    close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setActive((at) => Math.min(all.length - 1, Math.max(0, at + step)));
    else if (event.key === 'Home') setActive(0);
    else if (event.key === 'End') setActive(all.length - 1);
    else if (event.key === 'Enter' || event.key === ' ') choose(active);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="picker" ref={box}>
      <button
        ref={button}
        type="button"
        class="picker-button"
        data-testid="campaign-picker"
        aria-haspopup="listbox"
        aria-expanded={open}
        onClick={() => {
          setActive(Math.max(0, all.findIndex((one) => one.id === current?.id)));
          setOpen(!open);
        }}
      >
        <span class="picker-name">
          <span class="sr-only">Campaign: </span>
          {current === null ? (campaigns.value === null ? 'Opening…' : 'No campaign yet') : current.name}
        </span>
        <SignGlyph sign="chevron" size={16} />
      </button>
      {open && (
        <div class="picker-pop">
          <ul
            role="listbox"
            tabIndex={0}
            aria-label="Campaigns"
            aria-activedescendant={`campaign-${active}`}
            onKeyDown={onKeyDown}
          >
            {all.map((one, index) => (
              <li
                key={one.id}
                id={`campaign-${index}`}
                role="option"
                class="picker-option"
                data-testid="campaign-option"
                data-active={index === active || undefined}
                aria-selected={one.id === current?.id}
                onPointerMove={() => setActive(index)}
                onClick={() => choose(index)}
              >
                <span class="picker-option-name">{one.name}</span>
                <span class="picker-option-about">
                  {one.joining ? 'joining…' : plural(one.entries, 'entry', 'entries')}
                  {' · '}
                  {one.sample ? 'sample' : roleName(one.role).toLowerCase()}
                </span>
                {one.id === current?.id && <SignGlyph sign="check" size={16} />}
              </li>
            ))}
          </ul>
          <button
            type="button"
            class="picker-new"
            data-testid="new-campaign"
            onClick={() => {
              close();
              openOverlay('campaign');
            }}
          >
            <SignGlyph sign="plus" size={16} /> New campaign
          </button>
        </div>
      )}
    </div>
  );
}
