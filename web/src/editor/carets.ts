/** The others' carets in the text, each with its owner's name, carried along by every change. */
import { StateEffect, StateField, type Extension } from '@codemirror/state';
import { Decoration, EditorView, WidgetType, type DecorationSet } from '@codemirror/view';

export interface OtherCaret {
  id: string;
  name: string;
  /** Position in the text, UTF-16 code units. */
  at: number;
}

const HANDS = 6;

/** The same person keeps the same colour. */
function hand(id: string): number {
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) >>> 0;
  return (sum % HANDS) + 1;
}

class CaretWidget extends WidgetType {
  constructor(private readonly caret: OtherCaret) {
    super();
  }
  override eq(other: CaretWidget): boolean {
    return other.caret.id === this.caret.id && other.caret.name === this.caret.name;
  }
  toDOM(): HTMLElement {
    const mark = document.createElement('span');
    mark.className = 'other-caret';
    mark.dataset['testid'] = 'other-caret';
    mark.style.setProperty('--hand', `var(--hand-${hand(this.caret.id)})`);
    const name = document.createElement('span');
    name.className = 'other-caret-name';
    name.textContent = this.caret.name;
    mark.append(name);
    return mark;
  }
  override ignoreEvent(): boolean {
    return true;
  }
}

export const setCarets = StateEffect.define<readonly OtherCaret[]>();

const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(carets, transaction) {
    let next = carets.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setCarets)) continue;
      // A position from a text that is not here yet may lie past the end of this one.
      const end = transaction.state.doc.length;
      next = Decoration.set(
        effect.value.map((caret) =>
          Decoration.widget({ widget: new CaretWidget(caret), side: 1 }).range(Math.min(end, Math.max(0, caret.at))),
        ),
        true,
      );
    }
    return next;
  },
  provide: (from) => EditorView.decorations.from(from),
});

const look = EditorView.baseTheme({
  '.other-caret': { position: 'relative', borderLeft: '2px solid var(--hand)', marginLeft: '-1px', marginRight: '-1px' },
  '.other-caret-name': {
    position: 'absolute',
    bottom: '100%',
    left: '-2px',
    padding: '0 5px',
    borderRadius: '4px 4px 4px 0',
    background: 'var(--hand)',
    color: 'var(--paper)',
    font: '500 0.6875rem/1.4 var(--font-ui)',
    whiteSpace: 'nowrap',
    pointerEvents: 'none',
  },
});

export const otherCarets: Extension = [field, look];
