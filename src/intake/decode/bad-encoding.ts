import { FileHeld } from '../../core/held/file-held.ts';

/** Describes the text for messages. */
export type EncodedFile = {
  readonly uri: string;
  readonly encoding: string;
  /** Number of bytes before the first one that a decoder sees (the byte order mark). */
  readonly firstByte: number;
};

/**
 * Creates the hold for an invalid byte. @param found `offset`: number of valid content bytes before it,
 * without the mark; `line`: 1-based.
 */
export function badEncoding(
  { uri, encoding, firstByte }: EncodedFile,
  { offset, line, help }: { readonly offset: number; readonly line: number; readonly help?: string },
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
