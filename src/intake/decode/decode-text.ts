import { isUtf8 } from 'node:buffer';
import { FileHeld } from '../../core/held/file-held.ts';
import { configurationError } from '../../core/known-error.ts';
import { peek } from './peek.ts';

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

const LF = 0x0a;
const CR = 0x0d;

/** Counts line ends: LF and CRLF, or lone CR in a file without any LF so far (old Mac files). */
type LineCounter = {
  readonly add: (bytes: Uint8Array) => void;
  /** Returns the physical line, 1-based, of the byte after those added. */
  readonly line: () => number;
};

function countLines(): LineCounter {
  let lineFeeds = 0;
  let returns = 0;
  return {
    add: (bytes) => {
      const feeds = countByte(bytes, LF);
      if (lineFeeds === 0 && feeds === 0) returns += countByte(bytes, CR);
      lineFeeds += feeds;
    },
    line: () => 1 + (lineFeeds > 0 ? lineFeeds : returns),
  };
}

/** Uses `indexOf`, which scans many bytes at once: 3 GB/s for lines of 250 bytes. */
function countByte(bytes: Uint8Array, byte: number): number {
  let count = 0;
  for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1)) count += 1;
  return count;
}

/** NUL and control bytes, but not those that set or end lines and files, or shift Japanese and Korean characters. */
function isControlByte(byte: number): boolean {
  return byte < 0x09 || (byte > 0x0f && byte < 0x20 && byte !== 0x1a && byte !== 0x1b);
}

/** Describes the text for messages. */
type EncodedFile = {
  readonly uri: string;
  readonly encoding: string;
  /** Number of bytes before the first one that a decoder sees (the byte order mark). */
  readonly firstByte: number;
};

/**
 * Creates the hold for an invalid byte. @param found `offset`: number of valid content bytes before it,
 * without the mark; `line`: 1-based.
 */
function badEncoding(
  { uri, encoding, firstByte }: EncodedFile,
  { offset, line, help }: { offset: number; line: number; help?: string },
): FileHeld {
  const usual =
    encoding === 'utf-8'
      ? 'Set `encoding: windows-1252` for the source if the file comes from Excel or an old shop, else the encoding of the export.'
      : 'Set `encoding` of the source to the encoding of the export, for example utf-8 or windows-1252.';
  return new FileHeld({
    code: 'bad_encoding',
    message: `${uri} is not ${encoding}: byte ${firstByte + offset} of its content, on line ${line}, does not fit.`,
    help: help ?? usual,
  });
}

/**
 * Decoders do not report the position of an error, so they are fed small pieces that can be searched byte by
 * byte.
 */
const PIECE_BYTES = 4_096;

async function* transcode(bytes: AsyncIterable<Uint8Array>, place: EncodedFile): AsyncGenerator<Uint8Array> {
  const createDecoder = await decoderFor(place.encoding);
  const decoder = createDecoder();
  const lines = countLines();
  let offset = 0;

  for await (const chunk of bytes) {
    let text = '';
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const piece = chunk.subarray(at, at + PIECE_BYTES);
      const decoded = decoder.write(piece);
      if (decoded === null) {
        const isMidUnit = place.encoding.startsWith('utf-16') && offset % 2 === 1;
        const valid = search(createDecoder(), { piece, from: isMidUnit ? 1 : 0 });
        lines.add(Buffer.from(text + valid.text));
        throw badEncoding(place, { offset: offset + valid.bytes, line: lines.line() });
      }
      text += decoded;
      offset += piece.length;
    }
    if (text === '') continue;
    const utf8 = Buffer.from(text);
    lines.add(utf8);
    yield utf8;
  }
  const last = decoder.end();
  if (last === null) throw badEncoding(place, { offset, line: lines.line() });
  if (last !== '') yield Buffer.from(last);
}

/** Decodes a piece that is known to be invalid byte by byte, up to the byte that the decoder refuses. */
function search(
  decoder: Decoder,
  { piece, from }: { piece: Uint8Array; from: number },
): { readonly bytes: number; readonly text: string } {
  let text = '';
  for (let at = from; at < piece.length; at += 1) {
    const decoded = decoder.write(piece.subarray(at, at + 1));
    if (decoded === null) return { bytes: at, text };
    text += decoded;
  }
  return { bytes: 0, text: '' };
}

/** Decodes bytes to text, piece by piece. */
type Decoder = {
  /** Returns null if the bytes are not valid in the encoding. */
  readonly write: (bytes: Uint8Array) => string | null;
  readonly end: () => string | null;
};

/** Both kinds of decoder are strict: an invalid byte is never replaced by a question mark and posted. */
async function decoderFor(encoding: string): Promise<() => Decoder> {
  if (hasTextDecoder(encoding)) return () => strictTextDecoder(encoding);
  const { default: iconv } = await import('iconv-lite');
  return () => {
    const decoder = iconv.getDecoder(encoding);
    return {
      write: (bytes) =>
        unlessReplaced(decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))),
      end: () => unlessReplaced(decoder.end() ?? ''),
    };
  };
}

function hasTextDecoder(encoding: string): boolean {
  try {
    new TextDecoder(encoding);
    return true;
  } catch {
    return false;
  }
}

function strictTextDecoder(encoding: string): Decoder {
  // The byte order mark was removed before. Another one within the text is a character.
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  const isUnicode = encoding.startsWith('utf-');
  const decode = (bytes?: Uint8Array): string | null => {
    try {
      const text = decoder.decode(bytes, { stream: bytes !== undefined });
      return isUnicode ? text : unlessUndefined(text);
    } catch {
      return null;
    }
  };
  return { write: decode, end: () => decode() };
}

/** iconv-lite has no strict mode. U+FFFD occurs in none of the code pages for which it is used. */
function unlessReplaced(text: string): string | null {
  return text.includes('\ufffd') ? null : unlessUndefined(text);
}

/**
 * A byte that an encoding leaves undefined (0x81 in windows-1252) is decoded to a control character by the
 * standard. No export contains one, so the text has another encoding: 0x81 begins characters of Shift-JIS.
 */
function unlessUndefined(text: string): string | null {
  return /[\u0080-\u009f]/.test(text) ? null : text;
}

/** Maximum length of a character in bytes. */
const LONGEST = 4;

/**
 * Passes UTF-8 through and validates it (12 GB/s). Only a character that is split between two pieces is
 * moved, so that every piece that is passed on is valid by itself.
 */
async function* validateUtf8(
  bytes: AsyncIterable<Uint8Array>,
  place: EncodedFile,
): AsyncGenerator<Uint8Array> {
  const lines = countLines();
  let offset = 0;
  let cut: Uint8Array = new Uint8Array();

  function check(piece: Uint8Array): Uint8Array {
    if (!isUtf8(piece)) {
      const valid = validLength(piece);
      lines.add(piece.subarray(0, valid));
      const isBinary = piece.some(isControlByte);
      throw badEncoding(place, {
        offset: offset + valid,
        line: lines.line(),
        ...(isBinary && { help: 'It has bytes that no text has. Look at what it is, and export it as CSV.' }),
      });
    }
    lines.add(piece);
    offset += piece.length;
    return piece;
  }

  for await (const chunk of bytes) {
    let whole = chunk;
    if (cut.length > 0) {
      // Complete the cut character alone: copying the chunk for it would cost more than checking it.
      const missing = Math.min(lengthOf(cut[0] ?? 0) - cut.length, chunk.length);
      cut = Buffer.concat([cut, chunk.subarray(0, missing)]);
      whole = chunk.subarray(missing);
      if (cut.length < lengthOf(cut[0] ?? 0)) continue;
      yield check(cut);
    }
    const end = whole.length - cutLength(whole);
    cut = whole.subarray(end);
    if (end > 0) yield check(whole.subarray(0, end));
  }
  if (cut.length > 0) throw badEncoding(place, { offset, line: lines.line() });
}

/** Returns the number of bytes at the end that begin a character which continues in the next piece. */
function cutLength(bytes: Uint8Array): number {
  for (let back = 1; back < LONGEST && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (!isContinuation) return lengthOf(byte) > back ? back : 0;
  }
  return 0;
}

/**
 * Returns the length in bytes of the character that begins with this byte; 1 if no multi-byte character can
 * begin with it.
 */
function lengthOf(lead: number): number {
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  return 1;
}

/**
 * Returns the length of the valid part at the beginning. Called only once, for the piece that is known to be
 * invalid.
 */
function validLength(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const length = lengthOf(bytes[at] ?? 0);
    if (at + length > bytes.length || !isUtf8(bytes.subarray(at, at + length))) return at;
    at += length;
  }
  return at;
}
