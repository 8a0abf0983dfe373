/** Characters that the text format of COPY escapes. NUL is dropped, because Postgres refuses it in text. */
const SPECIAL = /[\\\t\n\r\0]/;
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '',
};
const NULL = '\\N';

/**
 * Rows for `copy … from stdin`, in the text format: cells of `toCopyCell` with tabs between them, and a line feed
 * after each row. The statement has them as its only parameter, within a comment, because COPY has no parameters.
 * Only for a server (`canCopy`): the embedded database does not read from its client.
 */
export class CopyRows {
  readonly bytes: Buffer;

  /** Creates the parameter. @param text lone surrogates in it become U+FFFD, because Postgres refuses them. */
  constructor(text: string) {
    this.bytes = Buffer.from(text.toWellFormed());
  }
}

/** Encodes one value. */
export function toCopyCell(value: string | number | null): string {
  if (value === null) return NULL;
  if (typeof value === 'number') return String(value);
  return SPECIAL.test(value) ? value.replace(/[\\\t\n\r\0]/g, (one) => ESCAPES[one] ?? '') : value;
}
