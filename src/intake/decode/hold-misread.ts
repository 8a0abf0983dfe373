import { isAscii } from 'node:buffer';
import { FileHeld } from '../../core/held/file-held.ts';
import { otherEncodings } from './guess-encoding.ts';

/** Length of the text in which contradictions are searched: lines with letters beyond ASCII. */
const MAX_CHARS = 256 * 1024;
/** A longer line is no row. */
const MAX_LINE_CHARS = 64 * 1024;

/**
 * Passes on the decoded text of a file, and holds the file at its end if its letters contradict the encoding that
 * the source or the layout states. Every byte has a meaning in most encodings of one byte, so decoding alone shows
 * nothing: a code in cp932 becomes another code.
 *
 * @param stated the encoding that was stated. A byte order mark takes precedence, so UTF-8 may pass.
 * @throws FileHeld `wrong_encoding`.
 */
export async function* holdMisread(
  chunks: AsyncIterable<Uint8Array>,
  { stated, source }: { readonly stated: string; readonly source: string },
): AsyncGenerator<Uint8Array> {
  if (!isOfOneByte(stated)) return yield* chunks;
  const decoder = new TextDecoder();
  let seen = '';
  let rest = '';
  for await (const chunk of chunks) {
    if (seen.length >= MAX_CHARS || isAscii(chunk)) rest = '';
    else {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE_CHARS) rest = '';
      for (const line of lines) if (/[^\0-\x7f]/.test(line)) seen += `${line}\n`;
    }
    yield chunk;
  }
  const others = otherEncodings(`${seen}${rest}`, stated);
  if (others !== null) throw misread(stated, source, others);
}

/** True if an encoding has one byte for each character, so that no bytes are invalid in it. */
function isOfOneByte(label: string): boolean {
  try {
    return /^(?:windows-125|koi8|ibm866|macintosh|iso-8859)/.test(new TextDecoder(label).encoding);
  } catch {
    return false;
  }
}

function misread(stated: string, source: string, others: readonly string[]): FileHeld {
  const [first = ''] = others;
  return new FileHeld({
    code: 'wrong_encoding',
    message: `Read as ${stated}, words with letters beyond ASCII are words of no language. As ${others.join(' or ')}, all of them are.`,
    help: `Set encoding: ${first} under sources.${source}${others.length === 1 ? '' : ', or the other encoding in which the words look right'}: \`npx influencer-sync layouts test FILE --encoding ${first}\` shows them. If ${stated} is right, export the file as UTF-8. A code in the wrong encoding is another code.`,
  });
}
