/** A value as a person types it in a shell: in quotes if the shell would read something else into it. */
export function shellWord(value: string): string {
  return /^[\w./:@%+,=-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
