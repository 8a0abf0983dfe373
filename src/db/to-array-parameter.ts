/**
 * An array of Postgres as one parameter, of values that need no quotes: digits, hexadecimal digits, letters. Null when all of them are:
 * a column that says nothing is not sent.
 */
export function toArrayParameter(values: readonly (string | number | boolean | null)[]): string | null {
  if (values.every((value) => value === null)) return null;
  return `{${values.map((value) => value ?? 'null').join()}}`;
}
