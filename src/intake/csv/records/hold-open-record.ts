import { FileHeld } from '../../../core/held/file-held.ts';
import { lineBreakAt } from '../line-breaks.ts';

const QUOTE = 0x22;

/**
 * Creates the hold for a record that does not end, usually because of a quote that is never closed.
 *
 * @param bytes from the beginning of the record to the end of what was read.
 * @param line physical line on which the record begins.
 */
export function holdOpenRecord(
  bytes: Buffer,
  { line, quote, maxRecordBytes }: { line: number; quote: '"' | null; maxRecordBytes: number },
): FileHeld {
  const opening = quote === null ? -1 : findOpenQuote(bytes);
  if (opening === -1) {
    return new FileHeld({
      code: 'record_too_long',
      message: `The record on line ${line} is longer than ${maxRecordBytes} bytes.`,
      help: "Check the file there. If such a record is correct, raise the source's limits.max_record_bytes.",
    });
  }
  const quoteLine = line + countBreaks(bytes, opening);
  return new FileHeld({
    code: 'unclosed_quote',
    message: `The quote that opens on line ${quoteLine} is never closed, so the rows after it cannot be read.`,
    help: 'The file was cut off, or the cell contains a single " that must be doubled. Correct it, or export the file again.',
  });
}

/** Finds the quote that opens the cell in which the bytes end; -1 if they end outside quotes. */
function findOpenQuote(bytes: Buffer): number {
  let opening = -1;
  for (let at = bytes.indexOf(QUOTE); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    if (opening === -1) opening = at;
    else if (bytes[at + 1] === QUOTE) at += 1;
    else opening = -1;
  }
  return opening;
}

function countBreaks(bytes: Buffer, end: number): number {
  let count = 0;
  for (let at = 0; at < end; at += 1) {
    const length = lineBreakAt(bytes, at);
    if (length > 0) count += 1;
    if (length === 2) at += 1;
  }
  return count;
}
