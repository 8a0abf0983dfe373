import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { EXIT } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';

/** The head of a document for somebody outside, in their language. Its lines are shown as they are. */
export type Letterhead = {
  /** BCP 47 tag of the document's language. */
  readonly language: string;
  readonly logo: Logo | null;
  readonly sender: readonly string[];
  readonly addressee: readonly string[];
  /** Says that characters were replaced, because the fonts of a PDF lack them. */
  readonly lossy: string;
};

export type Logo = { readonly type: 'image/png' | 'image/jpeg'; readonly content: Buffer };

const MAX_LOGO_BYTES = 500_000;
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

/**
 * Loads a logo. A PNG is unpacked once, because the PDF library would do so later and outside of any handler of errors.
 *
 * @throws KnownError `logo_unusable` (exit 2)
 */
export function loadLogo(path: string | null): Logo | null {
  if (path === null) return null;
  try {
    const content = readFileSync(path);
    if (content.length > MAX_LOGO_BYTES) throw new Error('too large');
    if (content.subarray(0, 2).equals(Buffer.from('ffd8', 'hex'))) return { type: 'image/jpeg', content };
    if (!content.subarray(0, PNG.length).equals(PNG)) throw new Error('another format');
    inflateSync(Buffer.concat([...imageData(content)]));
    return { type: 'image/png', content };
  } catch (cause) {
    throw new KnownError({
      code: 'logo_unusable',
      message: 'The logo of statements cannot be used.',
      where: path,
      help: 'Save it as PNG or JPEG of at most 500 kB, and check the path in statements.sender.logo.',
      safe: 'Nothing was sent.',
      exitCode: EXIT.configuration,
      cause,
    });
  }
}

/** The contents of the IDAT chunks of a PNG. */
function* imageData(png: Buffer): Generator<Buffer> {
  for (let at = PNG.length; at + 8 <= png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') yield png.subarray(at + 8, at + 8 + length);
    at += length + 12;
  }
}
