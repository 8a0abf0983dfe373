/** Turns bytes into text, piece by piece. */
export type Decoder = {
  /** Null when the bytes are not of the encoding. */
  readonly write: (bytes: Uint8Array) => string | null;
  readonly end: () => string | null;
};

/** Both kinds of decoder are strict: a byte that means nothing is never turned into a question mark and posted. */
export async function decoderFor(encoding: string): Promise<() => Decoder> {
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
  // The mark was taken off before; another one inside is a character.
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  const decode = (bytes?: Uint8Array): string | null => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      return null;
    }
  };
  return { write: decode, end: () => decode() };
}

/** iconv-lite has no strict mode; U+FFFD is in none of the pages that it is used for. */
function unlessReplaced(text: string): string | null {
  return text.includes('\ufffd') ? null : text;
}
