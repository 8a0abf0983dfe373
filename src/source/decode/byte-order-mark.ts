/** A mark at the beginning of a text that names its encoding. */
export type ByteOrderMark = { readonly encoding: string /** In bytes. */; readonly length: number };

export const LONGEST_MARK_BYTES = 4;

/** The byte order mark that a text begins with; null when it has none. UTF-32 LE begins like UTF-16 LE, so it is looked for first. */
export function findMark(head: Buffer): ByteOrderMark | null {
  const hex = head.toString('hex');
  if (hex.startsWith('fffe0000')) return { encoding: 'utf-32le', length: 4 };
  if (hex.startsWith('0000feff')) return { encoding: 'utf-32be', length: 4 };
  if (hex.startsWith('efbbbf')) return { encoding: 'utf-8', length: 3 };
  if (hex.startsWith('fffe')) return { encoding: 'utf-16le', length: 2 };
  if (hex.startsWith('feff')) return { encoding: 'utf-16be', length: 2 };
  return null;
}

/** Two ASCII characters in UTF-16 are valid UTF-8 with a NUL beside each: no header of an export begins so. */
export function looksLikeUtf16(head: Buffer): boolean {
  const zeros = [...head].map((byte) => (byte === 0 ? '0' : 'x')).join('');
  return zeros === 'x0x0' || zeros === '0x0x';
}
