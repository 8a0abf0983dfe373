import { RE2JS } from 're2js';

/**
 * A regular expression of a layout, run by RE2. Its run time is linear in the length of the text, whatever
 * the expression and the text are. JavaScript's own expressions backtrack, so a malicious cell could block
 * the process. RE2 has no back-references and no lookahead. Case is ignored.
 */
export type LinearPattern = {
  test(text: string): boolean;
  /**
   * Yields the result of each match in order, lazily: its first group, empty if that took no part, or the
   * whole match if there is no group.
   */
  matches(text: string): Iterable<string>;
};

/** Compiles an expression. @throws Error if RE2 cannot run it; the message names the unsupported syntax. */
export function linearPattern(source: string): LinearPattern {
  const flags = RE2JS.CASE_INSENSITIVE | RE2JS.LOOKBEHINDS;
  const pattern = RE2JS.compile(RE2JS.translateRegExp(source), flags);
  const hasGroup = pattern.groupCount() > 0;
  return {
    test: (text) => pattern.test(text),
    *matches(text) {
      for (const [whole, group] of pattern.matchAll(text)) yield hasGroup ? (group ?? '') : whole;
    },
  };
}
