/** Which dialog lies over the page. */
import type { Overlay } from '../state/panels.ts';
import { About } from './about.tsx';
import { NewCampaign } from './new-campaign.tsx';
import { Composer } from './composer.tsx';
import { Dialog } from './dialog.tsx';
import { KEYS } from './keys.ts';
import { Palette } from './palette.tsx';
import { Rail } from './rail.tsx';

function Help() {
  return (
    <Dialog label="Keys" testId="help">
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

export function Overlays({ which }: { which: Overlay }) {
  switch (which) {
    case 'palette':
      return <Palette />;
    case 'help':
      return <Help />;
    case 'about':
      return <About />;
    case 'compose':
      return <Composer />;
    case 'campaign':
      return <NewCampaign />;
    case 'rail':
      return (
        <Dialog label="Codex" testId="rail-sheet" class="sheet">
          <Rail />
        </Dialog>
      );
  }
}
