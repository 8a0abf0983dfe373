import { FileHeld } from '../../core/held/file-held.ts';

/** Number of bytes that are enough to recognise each format. */
export const FORMAT_BYTES = 256;

const AS_CSV = 'Export the data as CSV.';

/**
 * Formats that are stored in place of an export, with the way they begin. No row of a CSV begins like this:
 * a header with `<html` or `{"` would be a name that no shop uses.
 */
const FORMATS: readonly { readonly name: string; readonly begins: RegExp | string; readonly help: string }[] =
  [
    {
      name: 'an HTML page',
      begins: /^\s*<(!doctype html|html|head|body|table|script|meta)[\s>]/i,
      help: 'Open it in a browser: it may be a sign-in page or an error that was saved in place of the export, or a table that was given the name of a CSV. Export the data again as CSV.',
    },
    { name: 'XML', begins: /^\s*<\?xml\s/i, help: AS_CSV },
    {
      name: 'JSON',
      // An object with a first name, an empty one, or a list of objects or lists.
      begins: /^\s*(\{\s*("[^"]*"\s*:|\})|\[\s*[{[\]])/,
      help: `${AS_CSV} It may also be an error message that was saved in place of the export.`,
    },
    { name: 'a PDF', begins: '%PDF-', help: AS_CSV },
    {
      name: 'an old Excel workbook (.xls)',
      begins: '\u00d0\u00cf\u0011\u00e0',
      help: 'Export the sheet as CSV UTF-8.',
    },
    { name: 'a Parquet file', begins: 'PAR1', help: AS_CSV },
    { name: 'an Avro file', begins: 'Obj\u0001', help: AS_CSV },
  ];

/**
 * Explains that a file is no CSV at all, instead of the errors that a CSV parser finds in it.
 *
 * @param head the first `FORMAT_BYTES` bytes after a byte order mark.
 * @returns the reason `not_csv`; null if the file may be a CSV.
 */
export function findOtherFormat(head: Buffer, uri: string): FileHeld | null {
  const text = head.toString('latin1');
  const format = FORMATS.find(({ begins }) =>
    typeof begins === 'string' ? text.startsWith(begins) : begins.test(text),
  );
  if (format === undefined) return null;
  return new FileHeld({
    code: 'not_csv',
    message: `${uri} is ${format.name}, not a CSV.`,
    help: format.help,
  });
}
