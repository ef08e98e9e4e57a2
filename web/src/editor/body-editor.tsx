/** The editor of an entry's text, live with everyone who has it open. Loaded when first needed. */
import { autocompletion, completionKeymap, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { defineLanguageFacet, HighlightStyle, Language, LanguageSupport, syntaxHighlighting } from '@codemirror/language';
import { EditorState, Transaction } from '@codemirror/state';
import { EditorView, keymap, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { GFM, parser } from '@lezer/markdown';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Entry } from '../engine/api.ts';
import { knownTitles, noteTitles } from '../state/entries.ts';
import { attempt, describeError, engine, members, onChanged } from '../state/session.ts';
import { authorName, kindName } from '../text/words.ts';
import { otherCarets, setCarets } from './carets.ts';
import { Collab, type SaveState } from './collab.ts';

export interface BodyEditorProps {
  entry: Entry;
}

/** A caret that moves is told to the table at most this often. */
const PRESENCE_MS = 150;
const COMPLETIONS = 20;

/** Markdown alone: the usual package would bring the languages of the web along. */
const markdown = new LanguageSupport(new Language(defineLanguageFacet(), parser.configure(GFM), [], 'markdown'));

const ink = HighlightStyle.define([
  { tag: tags.heading, fontWeight: '650' },
  { tag: tags.strong, fontWeight: '650' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.quote, fontStyle: 'italic', color: 'var(--ink-soft)' },
  { tag: tags.monospace, fontFamily: 'var(--font-mono)', fontSize: '0.86em' },
  { tag: [tags.link, tags.url], color: 'var(--accent)' },
  { tag: [tags.processingInstruction, tags.contentSeparator], color: 'var(--ink-faint)' },
]);

const look = EditorView.theme({
  '&': { fontSize: '1.125rem', background: 'transparent', color: 'var(--ink)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-book)', lineHeight: '1.65', overflow: 'visible' },
  '.cm-content': { padding: '0 0 1.5rem', minHeight: '12rem', caretColor: 'var(--accent)' },
  '.cm-line': { padding: '0' },
  '.cm-placeholder': { color: 'var(--ink-faint)', fontStyle: 'italic' },
  '.cm-tooltip': { background: 'var(--leaf)', color: 'var(--ink)', border: '1px solid var(--rule)', borderRadius: '8px', boxShadow: 'var(--shadow-high)', overflow: 'hidden' },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-ui)', fontSize: '0.875rem' },
  '.cm-tooltip-autocomplete > ul > li': { padding: '0.3rem 0.7rem' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { background: 'var(--accent-wash)', color: 'var(--accent-strong)' },
});

/** After `[[`: the entries of this campaign. */
function completeLinks(campaign: string) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const open = context.matchBefore(/\[\[[^[\]\n]*/);
    if (open === null) return null;
    const typed = open.text.slice(2);
    if (typed.length > 1) {
      const { hits } = await engine.call('recall', { campaign, queries: [typed], limit: COMPLETIONS });
      noteTitles(hits.map((hit) => hit.entry));
    }
    const closed = context.state.sliceDoc(context.pos, context.pos + 2) === ']]';
    return {
      from: open.from + 2,
      options: [...knownTitles()].map(({ title, kind }) => ({ label: title, detail: kindName(kind), apply: closed ? title : `${title}]]` })),
      validFor: /^[^[\]\n]*$/,
    };
  };
}

const SAVE_WORDS: Record<SaveState['kind'], string> = {
  saved: 'Saved',
  unsaved: 'Saving…',
  failing: 'Not saved yet, trying again. Your words are kept here.',
  forgotten: 'This entry was forgotten. Your words are still here to copy.',
};

export function BodyEditor({ entry }: BodyEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const [save, setSave] = useState<SaveState>({ kind: 'saved' });

  useEffect(() => {
    if (host.current === null) return;
    const { id, campaign } = entry;
    let said = 0;
    let due: ReturnType<typeof setTimeout> | null = null;
    const sayCaret = () => {
      due ??= setTimeout(() => {
        due = null;
        said = performance.now();
        attempt(engine.call('presence', { campaign, entry: id, caret: view.state.selection.main.head }));
      }, Math.max(0, PRESENCE_MS - (performance.now() - said)));
    };
    const view: EditorView = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: entry.body,
        extensions: [
          // Only "\n" ends a line: positions are then the engine's positions.
          EditorState.lineSeparator.of('\n'),
          history(),
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
          markdown,
          syntaxHighlighting(ink),
          autocompletion({ override: [completeLinks(campaign)], icons: false }),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': `Text of ${entry.title}`, 'data-testid': 'body-editor', spellcheck: 'true' }),
          placeholder('What the table should remember. Markdown, and [[links]].'),
          otherCarets,
          look,
          EditorView.updateListener.of((update) => {
            for (const transaction of update.transactions) {
              if (transaction.docChanged && transaction.annotation(Transaction.remote) !== true) collab.edited(transaction.changes);
            }
            if (update.selectionSet || update.docChanged) sayCaret();
          }),
        ],
      }),
    });
    const collab: Collab = new Collab(
      {
        splice: async (base, splices) => {
          const result = await engine.call('splice', { entry: id, base, splices });
          if (result.outcome !== 'stale') return result;
          return { outcome: 'stale', revision: result.current.revision, body: result.current.body };
        },
        read: async () => {
          const now = await engine.call('get', { entry: id });
          return now === null ? null : { text: now.body, revision: now.revision };
        },
        apply: (changes) => {
          view.dispatch({ changes, annotations: [Transaction.remote.of(true), Transaction.addToHistory.of(false)] });
        },
        report: setSave,
        later: (ms, work) => {
          const timer = setTimeout(work, ms);
          return () => clearTimeout(timer);
        },
      },
      { text: entry.body, revision: entry.revision },
    );
    const endChanges = onChanged((event) => {
      if (event.entries.includes(id) || event.forgotten.includes(id)) collab.changed();
    });
    const endMembers = members.subscribe((all) => {
      const carets = all.flatMap(({ device, author, here, editing }) =>
        here && !author.self && editing?.entry === id && editing.caret !== null
          ? [{ id: device, name: authorName(author), at: editing.caret }]
          : [],
      );
      view.dispatch({ effects: setCarets.of(carets) });
    });
    const hide = () => collab.flush();
    document.addEventListener('visibilitychange', hide);
    view.focus();
    sayCaret();
    return () => {
      document.removeEventListener('visibilitychange', hide);
      endChanges();
      endMembers();
      if (due !== null) clearTimeout(due);
      collab.close();
      view.destroy();
    };
    // One editor for one entry: its text comes in by changes, never by drawing anew.
  }, [entry.id]);

  return (
    <div>
      <div ref={host} />
      <p class="editor-state" role="status" data-testid="save-state" data-state={save.kind}>
        {SAVE_WORDS[save.kind]} {save.kind === 'failing' && describeError(save.error)}
      </p>
    </div>
  );
}
