import { RE2JS } from 're2js';

/**
 * A regular expression of a layout, run by RE2: the time it takes grows with the text and no faster, whatever the expression and whatever
 * stands in the text. JavaScript's own expressions try again and again, and a cell that was made for it would stop the process.
 * RE2 has no back-references and no lookahead. Case does not count.
 */
export type LinearPattern = {
  test(text: string): boolean;
  /** What each match says: its first group, or all of it where it has none. In their order, one at a time. */
  matches(text: string): Iterable<string>;
};

/** @throws Error where RE2 cannot run the expression; the message says what it does not know. */
export function linearPattern(source: string): LinearPattern {
  const flags = RE2JS.CASE_INSENSITIVE | RE2JS.LOOKBEHINDS;
  const pattern = RE2JS.compile(RE2JS.translateRegExp(source), flags);
  return {
    test: (text) => pattern.test(text),
    *matches(text) {
      for (const [whole, group] of pattern.matchAll(text)) yield group ?? whole;
    },
  };
}
