import { badEncoding, type EncodedFile } from './bad-encoding.ts';
import { countLines } from './count-lines.ts';

/**
 * Decoders do not report the position of an error, so they are fed small pieces that can be searched byte by
 * byte.
 */
const PIECE_BYTES = 4_096;

/**
 * Converts text of another encoding to UTF-8.
 *
 * @throws FileHeld `bad_encoding`. The reported byte is where the decoder detected the error, at most a few
 * bytes after the invalid one.
 */
export async function* transcode(
  bytes: AsyncIterable<Uint8Array>,
  place: EncodedFile,
): AsyncGenerator<Uint8Array> {
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
  { piece, from }: { readonly piece: Uint8Array; readonly from: number },
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
export type Decoder = {
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
