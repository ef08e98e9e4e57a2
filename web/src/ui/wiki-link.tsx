/** A `[[link]]` to another entry, by its title or another of its names. */
import { useState } from 'preact/hooks';
import { findByTitle } from '../state/entries.ts';
import { goEntry } from '../state/route.ts';
import { attempt } from '../state/session.ts';
import { askNow } from '../state/search.ts';

export function WikiLink({ title, label }: { title: string; label: string }) {
  const [missing, setMissing] = useState(false);
  return (
    // A link and not a button: it breaks over lines as the text around it does.
    <a
      href="#/"
      class="wiki-link"
      data-testid="wiki-link"
      data-missing={missing || undefined}
      title={missing ? 'No entry bears this name yet. Click again to search for it.' : undefined}
      onClick={(event) => {
        event.preventDefault();
        if (missing) {
          askNow(title);
          return;
        }
        attempt(
          findByTitle(title).then((id) => {
            if (id === null) setMissing(true);
            else goEntry(id);
          }),
        );
      }}
    >
      {label}
      {missing && <span class="sr-only"> (no such entry yet)</span>}
    </a>
  );
}
