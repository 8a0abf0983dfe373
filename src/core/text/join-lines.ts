/** Joins lines. A part is a line or several; parts that are null or false are left out. */
export function joinLines(...parts: readonly (string | readonly string[] | null | false)[]): string {
  return parts.flatMap((part) => (part === null || part === false ? [] : part)).join('\n');
}
