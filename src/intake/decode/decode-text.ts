import { FileHeld } from '../../core/held/file-held.ts';
import { configurationError } from '../../core/known-error.ts';
import { badEncoding } from './bad-encoding.ts';
import { peek } from './peek.ts';
import { transcode } from './transcode.ts';
import { validateUtf8 } from './validate-utf8.ts';

export type DecodeTextOptions = {
  /** WHATWG or iconv label. A byte order mark in the file takes precedence. */
  readonly encoding: string;
  /** Address of the file, for messages. */
  readonly uri: string;
  /** Called once, before the first byte. `isUnchanged`: the bytes are passed through unchanged. */
  readonly onEncoding?: (found: { readonly encoding: string; readonly isUnchanged: boolean }) => void;
};

/**
 * Converts text to valid UTF-8 without a byte order mark. UTF-8 is passed through and only validated.
 *
 * @throws FileHeld `not_csv` if the content has another format; `bad_encoding`, with the position of the first
 * invalid byte.
 * @throws KnownError `encoding_unknown` (exit 2).
 */
export async function* decodeText(
  bytes: AsyncIterable<Uint8Array>,
  { encoding, uri, onEncoding }: DecodeTextOptions,
): AsyncGenerator<Uint8Array> {
  const configured = await resolveEncoding(encoding);
  const { head, all } = await peek(bytes, LONGEST_MARK_BYTES + FORMAT_BYTES);
  const mark = findMark(head);
  const found = mark?.encoding ?? configured;
  onEncoding?.({ encoding: found, isUnchanged: mark === null && found === 'utf-8' });
  const content = skip(all, mark?.length ?? 0);
  const otherFormat = findOtherFormat(head.subarray(mark?.length ?? 0), uri);
  if (otherFormat !== null) {
    await content.return(undefined);
    throw otherFormat;
  }
  const place = { uri, encoding: found, firstByte: mark?.length ?? 0 };
  if (found !== 'utf-8') return yield* transcode(content, place);
  if (mark === null && looksLikeUtf16(head.subarray(0, 4))) {
    await content.return(undefined);
    throw badEncoding(place, {
      offset: 0,
      line: 1,
      help: 'It looks like UTF-16: set `encoding: utf-16le` (or utf-16be) for the source.',
    });
  }
  yield* validateUtf8(content, place);
}

/**
 * Returns the canonical name of an encoding that TextDecoder knows, or else the label if iconv-lite knows it.
 */
async function resolveEncoding(label: string): Promise<string> {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    const { default: iconv } = await import('iconv-lite');
    if (iconv.encodingExists(label)) return label;
    throw configurationError({
      code: 'encoding_unknown',
      message: `"${label}" is not a text encoding.`,
      where: 'encoding',
      help: 'Use a name such as utf-8, utf-16le, windows-1252, iso-8859-15, shift_jis or cp850.',
      safe: 'Nothing was read.',
    });
  }
}

async function* skip(
  bytes: AsyncIterable<Uint8Array>,
  length: number,
): AsyncGenerator<Uint8Array, undefined> {
  let left = length;
  for await (const chunk of bytes) {
    const kept = left === 0 ? chunk : chunk.subarray(left);
    left -= Math.min(left, chunk.length);
    if (kept.length > 0) yield kept;
  }
  return undefined;
}

/** A byte order mark at the beginning of a text, which identifies its encoding. */
type ByteOrderMark = { readonly encoding: string /** In bytes. */; readonly length: number };

const LONGEST_MARK_BYTES = 4;

/**
 * Finds the byte order mark of a text; null if it has none. UTF-32 LE is checked first, because it begins
 * like UTF-16 LE.
 */
export function findMark(head: Buffer): ByteOrderMark | null {
  const hex = head.toString('hex');
  if (hex.startsWith('fffe0000')) return { encoding: 'utf-32le', length: 4 };
  if (hex.startsWith('0000feff')) return { encoding: 'utf-32be', length: 4 };
  if (hex.startsWith('efbbbf')) return { encoding: 'utf-8', length: 3 };
  if (hex.startsWith('fffe')) return { encoding: 'utf-16le', length: 2 };
  if (hex.startsWith('feff')) return { encoding: 'utf-16be', length: 2 };
  return null;
}

/**
 * Two ASCII characters in UTF-16 are also valid UTF-8, with a NUL next to each. No header of an export begins
 * like that.
 */
function looksLikeUtf16(head: Buffer): boolean {
  const zeros = [...head].map((byte) => (byte === 0 ? '0' : 'x')).join('');
  return zeros === 'x0x0' || zeros === '0x0x';
}

/** Number of bytes that are enough to recognise each format. */
const FORMAT_BYTES = 256;

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
function findOtherFormat(head: Buffer, uri: string): FileHeld | null {
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
