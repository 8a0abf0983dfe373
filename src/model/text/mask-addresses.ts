/**
 * What stands around an @, however long: RFC 5321 allows far less, but nothing that could reach a person stays readable. It begins only
 * where a word begins, so that a long word without an @ is looked at once and not from each of its letters.
 */
const ADDRESS = /(?<![^\s@"'<>(),;:])[^\s@"'<>(),;:]+@[^\s@"'<>(),;:]+/g;

/**
 * Replaces every e-mail address in a text by its first letter: `jane@example.com` becomes `j***@***`.
 * Handles such as `@jane` stay as they are.
 */
export function maskAddresses(text: string): string {
  if (!text.includes('@')) return text;
  return text.replace(ADDRESS, (address) => `${String.fromCodePoint(address.codePointAt(0) ?? 0)}***@***`);
}

/** Whether an e-mail address stands in a text. */
export function hasAddress(text: string): boolean {
  return maskAddresses(text) !== text;
}
