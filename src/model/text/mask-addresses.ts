/**
 * Matches the text around an @, of any length. RFC 5321 allows far less, but nothing that could identify a
 * person should stay readable. A match begins only at the start of a word, so that a long word without an @
 * is scanned once and not again from each of its letters.
 */
const ADDRESS = /(?<![^\s@"'<>(),;:])[^\s@"'<>(),;:]+@[^\s@"'<>(),;:]+/g;

/**
 * Replaces every e-mail address in a text by its first letter: `jane@example.com` becomes `j***@***`. Handles
 * such as `@jane` are kept.
 */
export function maskAddresses(text: string): string {
  if (!text.includes('@')) return text;
  return text.replace(ADDRESS, (address) => `${String.fromCodePoint(address.codePointAt(0) ?? 0)}***@***`);
}

/** True if a text contains an e-mail address. */
export function hasAddress(text: string): boolean {
  return maskAddresses(text) !== text;
}
