/** RFC 5321 allows far more; what matters is that nothing that could reach a person stays readable. */
const ADDRESS = /([^\s@"'<>(),;:]{1,254})@([^\s@"'<>(),;:]{1,254})/g;

/**
 * Replaces every e-mail address in a text by its first letter: `jane@example.com` becomes `j***@***`.
 * Handles such as `@jane` stay as they are.
 */
export function maskAddresses(text: string): string {
  if (!text.includes('@')) return text;
  return text.replace(ADDRESS, (_, local: string) => `${[...local][0] ?? ''}***@***`);
}

/** Whether an e-mail address stands in a text. */
export function hasAddress(text: string): boolean {
  return maskAddresses(text) !== text;
}
