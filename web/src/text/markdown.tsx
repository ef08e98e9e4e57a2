/**
 * Markdown to elements. The parser's tokens become elements one by one and text becomes text: no
 * markup is ever handed to the browser to parse, so nothing written in an entry can run, style the
 * page or make a request. Raw HTML is shown as the text that it is; pictures become their words.
 */
import { Lexer, type Token, type Tokens } from 'marked';
import type { ComponentChild, ComponentChildren } from 'preact';
import { WikiLink } from '../ui/wiki-link.tsx';

const WIKI_LINK = /\[\[([^[\]|\n]{1,200})(?:\|([^[\]\n]{1,200}))?\]\]/g;
const SAFE_ADDRESS = /^(https?:|mailto:)/i;
/** Deeper nesting than this is shown as plain text. */
const MAX_DEPTH = 24;

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", apos: "'", nbsp: '\u00a0' };
const decode = (text: string): string => text.replace(/&(#39|[a-z]+);/g, (whole, name: string) => ENTITIES[name] ?? whole);

/** Plain text in which `[[links]]` lead to other entries. */
function linked(text: string): ComponentChild[] {
  const parts: ComponentChild[] = [];
  let at = 0;
  for (const match of text.matchAll(WIKI_LINK)) {
    const [whole, title = '', label] = match;
    parts.push(decode(text.slice(at, match.index)), <WikiLink title={title.trim()} label={(label ?? title).trim()} />);
    at = match.index + whole.length;
  }
  parts.push(decode(text.slice(at)));
  return parts;
}

function Heading({ depth, children }: { depth: number; children: ComponentChildren }) {
  // The entry's title is the page's first heading: the text's own begin below it.
  if (depth <= 1) return <h2>{children}</h2>;
  if (depth === 2) return <h3>{children}</h3>;
  return <h4>{children}</h4>;
}

function inner(token: { tokens?: Token[]; text?: string }, depth: number): ComponentChild {
  return token.tokens === undefined ? linked(token.text ?? '') : many(token.tokens, depth + 1);
}

function many(tokens: Token[], depth: number): ComponentChild {
  return tokens.map((token) => one(token, depth));
}

function one(token: Token, depth: number): ComponentChild {
  if (depth > MAX_DEPTH) return token.raw;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'paragraph':
      return <p>{inner(token as Tokens.Paragraph, depth)}</p>;
    case 'heading':
      return <Heading depth={(token as Tokens.Heading).depth}>{inner(token as Tokens.Heading, depth)}</Heading>;
    case 'strong':
      return <strong>{inner(token as Tokens.Strong, depth)}</strong>;
    case 'em':
      return <em>{inner(token as Tokens.Em, depth)}</em>;
    case 'del':
      return <del>{inner(token as Tokens.Del, depth)}</del>;
    case 'codespan':
      return <code>{decode((token as Tokens.Codespan).text)}</code>;
    case 'code':
      return (
        <pre>
          <code>{(token as Tokens.Code).text}</code>
        </pre>
      );
    case 'blockquote':
      return <blockquote>{inner(token as Tokens.Blockquote, depth)}</blockquote>;
    case 'hr':
      return <hr />;
    case 'br':
      return <br />;
    case 'list': {
      const list = token as Tokens.List;
      const items = list.items.map((item) => (
        <li>
          {item.task && <span class="task">{item.checked ? '☑ ' : '☐ '}</span>}
          {many(item.tokens, depth + 1)}
        </li>
      ));
      return list.ordered ? <ol start={list.start === '' ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case 'table': {
      const table = token as Tokens.Table;
      return (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Table">
          <table>
            <thead>
              <tr>{table.header.map((cell) => <th scope="col">{inner(cell, depth)}</th>)}</tr>
            </thead>
            <tbody>
              {table.rows.map((row) => (
                <tr>{row.map((cell) => <td>{inner(cell, depth)}</td>)}</tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    }
    case 'link': {
      const { href } = token as Tokens.Link;
      if (!SAFE_ADDRESS.test(href)) return inner(token as Tokens.Link, depth);
      return (
        <a href={href} target="_blank" rel="noopener noreferrer nofollow">
          {inner(token as Tokens.Link, depth)}
        </a>
      );
    }
    case 'image':
      // A picture from elsewhere would be a request from this page.
      return <span class="picture">[picture: {(token as Tokens.Image).text || 'without words'}]</span>;
    case 'text': {
      const text = token as Tokens.Text;
      return text.tokens === undefined ? linked(text.text) : many(text.tokens, depth + 1);
    }
    case 'escape':
      return decode((token as Tokens.Escape).text);
    case 'checkbox':
      return null;
    default:
      return token.raw;
  }
}

export function RenderedMarkdown({ text }: { text: string }) {
  return <div class="lore">{many(new Lexer({ gfm: true }).lex(text), 0)}</div>;
}
