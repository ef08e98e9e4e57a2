/** Lore as read: Markdown, rendered when its renderer has been loaded. */
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { attempt } from '../state/session.ts';

interface RenderedProps {
  text: string;
}
let Renderer: FunctionComponent<RenderedProps> | null = null;

export function Markdown({ text }: RenderedProps) {
  const [, setReady] = useState(Renderer !== null);
  useEffect(() => {
    if (Renderer !== null) return;
    attempt(
      import('../text/markdown.tsx').then((module) => {
        Renderer = module.RenderedMarkdown;
        setReady(true);
      }),
    );
  }, []);
  // Until then the plain text, which is what Markdown is made to be readable as.
  return Renderer === null ? <div class="lore lore-plain">{text}</div> : <Renderer text={text} />;
}
