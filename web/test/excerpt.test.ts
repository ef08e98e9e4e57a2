import { describe, expect, test } from 'vitest';
import { firstLines, plainSpan } from '../src/text/excerpt.ts';

/** The words that the ranges mark. */
const marked = ({ text, ranges }: ReturnType<typeof plainSpan>): string[] => ranges.map(([from, to]) => text.slice(from, to));
const range = (text: string, word: string): [number, number] => [text.indexOf(word), text.indexOf(word) + word.length];

describe('the first lines of a text', () => {
  test('are plain: no signs of Markdown, links as their words', () => {
    expect(firstLines('# The gate\n\n- **Aldous** keeps [[Lantern Narrows|the Narrows]], see [here](https://a.example).')).toBe(
      'The gate Aldous keeps the Narrows, see here.',
    );
  });

  test('end at a word when they are too long', () => {
    const text = firstLines('word '.repeat(200));
    expect(text.length).toBeLessThanOrEqual(281);
    expect(text).toMatch(/word…$/);
  });
});

describe('a span as it reads', () => {
  test('keeps the words and drops the signs', () => {
    const text = '## At the gate\nHe wears *black* thread, **always**; see [[Corin Wick]] and [[Lantern Narrows|the Narrows]].\n> `old`';
    expect(plainSpan(text, []).text).toBe('At the gate\nHe wears black thread, always; see Corin Wick and the Narrows.\nold');
  });

  test('moves the marks with their words', () => {
    const text = 'First **bold**, then [[The dye-works at Redwater]] and rings.';
    const ranges = [range(text, 'bold'), range(text, 'dye-works'), range(text, 'rings')];
    expect(marked(plainSpan(text, ranges))).toEqual(['bold', 'dye-works', 'rings']);
  });

  test('cuts a mark to what is left of it, and drops what lies outside', () => {
    const text = 'a [[b|c]] d';
    expect(marked(plainSpan(text, [range(text, '[[b|c]]'), range(text, '[[b'), [90, 99]]))).toEqual(['c']);
  });

  test('leaves signs that are part of words alone', () => {
    const text = 'snake_case_name and 2 * 3 * 4, - a dash';
    expect(plainSpan(text, []).text).toBe(text);
  });

  test('never lengthens a text, whatever it holds', () => {
    for (const text of ['[[', '[[]]', '**', '[](', '[[a|]]', '> ', '*', '_ _', '`'.repeat(7), '[[a]][[b]]', '# # #']) {
      expect(plainSpan(text, [[0, text.length]]).text.length).toBeLessThanOrEqual(text.length);
    }
  });
});
