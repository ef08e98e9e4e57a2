/** The editor of an entry's text. */
import type { Entry } from '../engine/api.ts';

export interface BodyEditorProps {
  entry: Entry;
}

export function BodyEditor({ entry }: BodyEditorProps) {
  return <textarea readOnly value={entry.body} />;
}
