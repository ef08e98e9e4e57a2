import type { ComponentChild, VNode } from 'preact';
import { describe, expect, test, vi } from 'vitest';

vi.mock('../src/ui/wiki-link.tsx', () => ({ WikiLink: ({ title, label }: { title: string; label: string }) => `<<${title}|${label}>>` }));
const { RenderedMarkdown } = await import('../src/text/markdown.tsx');

interface Element {
  name: string;
  props: Record<string, unknown>;
}

/** Every element that a text becomes, and its words, with components carried out. */
function render(text: string): { elements: Element[]; words: string } {
  const elements: Element[] = [];
  const walk = (child: ComponentChild): string => {
    if (child === null || child === undefined || typeof child === 'boolean') return '';
    if (Array.isArray(child)) return (child as ComponentChild[]).map(walk).join('');
    if (typeof child !== 'object') return String(child);
    const { type, props } = child as VNode<Record<string, unknown>>;
    if (typeof type === 'function') return walk((type as (props: unknown) => ComponentChild)(props));
    if (typeof type === 'string') elements.push({ name: type, props });
    return walk(props['children'] as ComponentChild);
  };
  const words = walk(<RenderedMarkdown text={text} />);
  return { elements, words };
}

const PLAIN = new Set(['div', 'p', 'h2', 'h3', 'h4', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'hr', 'br', 'ul', 'ol', 'li', 'span', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td']);

const HOSTILE = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '<style>body{display:none}</style>',
  '<a href="javascript:alert(1)" onclick="x()">a</a>',
  '<iframe src="https://evil.example"></iframe>',
  '[a](javascript:alert(1))',
  '[a](JaVaScRiPt:alert(1))',
  '[a](  javascript:alert(1))',
  '[a](java&#x73;cript:alert(1))',
  '[a](data:text/html,<script>alert(1)</script>)',
  '[a](vbscript:x)',
  '[a](//evil.example)',
  '[a](/j/campaign#key)',
  '<javascript:alert(1)>',
  '![a](https://evil.example/pixel.png)',
  '[![a](https://evil.example/pixel.png)](javascript:x)',
  '[a]: javascript:alert(1)\n\n[a]',
  '[[<img src=x onerror=alert(1)>|<b>x</b>]]',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '`<script>`',
  '| <script> | b |\n|---|---|\n| [x](javascript:y) | <img src=x> |',
];

describe('what someone wrote cannot act', () => {
  test.each(HOSTILE)('%s', (text) => {
    const { elements } = render(text);
    for (const { name, props } of elements) {
      expect(PLAIN).toContain(name);
      expect(Object.keys(props).filter((key) => /^on|^src|^style$|^dangerously/i.test(key))).toEqual([]);
      if (name === 'a') expect(props['href']).toMatch(/^(https?|mailto):/);
    }
  });

  test('raw markup is shown as the text that it is', () => {
    expect(render('<script>alert(1)</script>').words).toContain('<script>alert(1)</script>');
  });

  test('a picture from elsewhere becomes its words', () => {
    const { elements, words } = render('![a map](https://evil.example/x.png)');
    expect(words).toBe('[picture: a map]');
    expect(elements.map(({ name }) => name)).not.toContain('img');
  });

  test('links to the web open elsewhere and tell nothing', () => {
    const link = render('[a](https://a.example/)').elements.find(({ name }) => name === 'a');
    expect(link?.props).toMatchObject({ href: 'https://a.example/', target: '_blank', rel: 'noopener noreferrer nofollow' });
  });

  test('nesting without end is shown as text', () => {
    expect(render('> '.repeat(400) + 'deep').words).toContain('deep');
  });
});

test('links between entries carry their titles and labels', () => {
  expect(render('See [[Corin Wick]] at [[Lantern Narrows|the Narrows]].').words).toBe('See <<Corin Wick|Corin Wick>> at <<Lantern Narrows|the Narrows>>.');
});
