/** What leaves this device, exactly; and where the codex is kept. */
import { status } from '../state/session.ts';
import { Dialog } from './dialog.tsx';

const STORAGE: Record<'opfs' | 'snapshot' | 'opening', string> = {
  opfs: 'The codex is one file in this browser’s private storage. What the page shows as saved is on the disk.',
  snapshot: 'The codex is kept as a snapshot in this browser’s database.',
  opening: 'The codex is being opened.',
};

export function About() {
  const now = status.value;
  return (
    <Dialog label="What leaves this device" testId="about-dialog">
      <div class="prose">
        <p data-testid="privacy">
          Lore leaves this device only sealed, for the table that you joined; the relay can read none of it. Embedding and
          search make no request.
        </p>
        <p>
          The relay sees that sealed pages pass, how large they are, when, and from which device. It never has the key. The key
          travels in the invitation link, after the “#”, which browsers send to no server.
        </p>
        <p>
          {now === null ? STORAGE.opening : STORAGE[now.storage]} {now?.storageNote}
        </p>
        <p>A browser may clear its storage when you tell it to, or when the device runs out of space. Everyone at your table holds the whole codex of that table too.</p>
      </div>
    </Dialog>
  );
}
