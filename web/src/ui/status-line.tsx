/** One quiet line at the foot: only when there is something to say about the network or the disk. */
import type { Status } from '../engine/api.ts';
import { status } from '../state/session.ts';
import { plural } from '../text/words.ts';

function waitingWords(waiting: number): string {
  return waiting === 0 ? 'Nothing is waiting to be sent.' : `${plural(waiting, 'change')} saved here, waiting to be sent.`;
}

function networkWords({ network }: Status): string | null {
  switch (network.state) {
    case 'offline':
      return `${navigator.onLine ? 'The table cannot be reached' : 'This device is offline'}. Everything works here. ${waitingWords(network.waiting)}`;
    case 'refused':
      return network.note ?? 'The relay refused this device. Your codex here is whole.';
    case 'connecting':
      return `Reaching the table… ${network.waiting > 0 ? waitingWords(network.waiting) : ''}`;
    case 'catching-up':
      return 'Catching up with the table…';
    case 'live':
      return network.waiting > 0 ? `At the table. ${plural(network.waiting, 'change')} on the way.` : 'At the table.';
    case 'solo':
      return 'Kept on this device only.';
  }
}

export function StatusLine() {
  const now = status.value;
  if (now === null) return null;
  return (
    <footer class="status-line" data-testid="status-line" data-network={now.network.state} data-waiting={now.network.waiting}>
      <span class="status-dot" aria-hidden="true" />
      {/* Why, in the machine’s words, for whoever wants them. */}
      <span role="status" title={now.network.state === 'offline' ? (now.network.note ?? undefined) : undefined}>{networkWords(now)}</span>
      {now.storage === 'snapshot' && now.storageNote !== null && (
        <details class="status-storage" data-testid="storage-note">
          <summary>Kept as a snapshot</summary>
          <p>{now.storageNote}</p>
        </details>
      )}
    </footer>
  );
}
