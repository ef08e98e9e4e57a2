/** The one search field, always there, and the questions suggested beside it. */
import { useEffect, useRef } from 'preact/hooks';
import { openOverlay } from '../state/panels.ts';
import { route } from '../state/route.ts';
import { askNow, clearQuestion, question, typeQuestion } from '../state/search.ts';
import { learning, status } from '../state/session.ts';
import { suggestions } from '../state/suggestions.ts';
import { IconButton } from './bits.tsx';
import { SignGlyph } from './glyphs.tsx';
import { stepCard } from './keys.ts';

function EmbeddingNote() {
  const embedding = status.value?.embedding;
  if (embedding === undefined) return null;
  if (embedding.state === 'unavailable') {
    return (
      <p class="search-note" data-testid="embedding-note">
        Words answer. Meaning is not available{embedding.note === null ? '.' : `: ${embedding.note}`}
      </p>
    );
  }
  if (!learning.value) return null;
  const { done, total } = embedding;
  return (
    <p class="search-note" data-testid="embedding-note">
      <progress max={Math.max(1, total)} value={done} aria-label="Learning what your entries mean" />
      {total > 0 ? `Learning meanings, ${done} of ${total}. Words answer meanwhile.` : 'Waking the model. Words answer meanwhile.'}
    </p>
  );
}

export function SearchBar() {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // The signal owns the text: a suggested question fills the field too.
    if (input.current !== null && input.current.value !== question.value) input.current.value = question.value;
  }, [question.value]);
  const asked = suggestions.value;
  return (
    <>
      <form
        class="search"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          askNow(question.value);
        }}
      >
        <span class="phone-only">
          <IconButton sign="menu" label="Campaigns and kinds" testId="open-rail" onClick={() => openOverlay('rail')} />
        </span>
        <div class="search-field">
          <SignGlyph sign="search" size={18} />
          <input
            ref={input}
            id="search"
            type="search"
            autocomplete="off"
            spellcheck={false}
            enterkeyhint="search"
            placeholder="Ask the codex"
            aria-label="Ask the codex"
            data-testid="search"
            onInput={(event) => typeQuestion(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'ArrowDown') {
                event.preventDefault();
                stepCard(1);
              }
              if (event.key !== 'Escape') return;
              event.stopPropagation();
              if (question.value === '') event.currentTarget.blur();
              else clearQuestion();
            }}
          />
          {question.value === '' ? (
            <kbd aria-hidden="true">/</kbd>
          ) : (
            <IconButton
              sign="close"
              label="Clear the question"
              testId="search-clear"
              onClick={() => {
                clearQuestion();
                input.current?.focus();
              }}
            />
          )}
        </div>
      </form>
      <EmbeddingNote />
      {asked.length > 0 && question.value === '' && route.value.view === 'codex' && (
        <div class="suggestions" role="group" aria-label="Suggested questions">
          {asked.map((text) => (
            <button key={text} type="button" class="suggestion" data-testid="suggestion" onClick={() => askNow(text)}>
              {text}
            </button>
          ))}
        </div>
      )}
    </>
  );
}
