import { Readable } from 'node:stream';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { decodeText } from '../../../src/intake/decode/decode-text.ts';
import { collect, holdReason, inPieces, knownError } from '../../store/source-settings.ts';

function decode(bytes: Uint8Array, encoding = 'utf-8', pieceBytes = 64 * 1_024): Promise<Buffer> {
  return collect(decodeText(inPieces(bytes, pieceBytes), { encoding, uri: 's3://shop/orders.csv' }));
}

async function text(bytes: Uint8Array, encoding = 'utf-8'): Promise<string> {
  return (await decode(bytes, encoding)).toString();
}

describe('a byte order mark', () => {
  it.each(['utf-8', 'utf-16le', 'windows-1252', 'cp850'])(
    'determines the encoding, regardless of the configured one: %s',
    async (encoding) => {
      expect(await text(Buffer.from('\ufeffa€'), encoding)).toBe('a€');
      expect(await text(iconv.encode('a€', 'utf-16le', { addBOM: true }), encoding)).toBe('a€');
      expect(await text(iconv.encode('a€', 'utf-16be', { addBOM: true }), encoding)).toBe('a€');
      expect(await text(iconv.encode('a€😀', 'utf-32le', { addBOM: true }), encoding)).toBe('a€😀');
    },
  );

  it('is removed once, and an empty file stays empty', async () => {
    expect(await text(Buffer.from('\ufeff\ufeffa'))).toBe('\ufeffa');
    expect(await text(Buffer.from('\ufeff'))).toBe('');
    expect(await text(Buffer.alloc(0))).toBe('');
  });
});

describe('a file that is no CSV', () => {
  it.each([
    ['\ufeff<!DOCTYPE html>\n<html lang="en"><title>Sign in</title>', 'an HTML page'],
    ['<table border="1"><tr><td>Name</td></tr></table>', 'an HTML page'],
    ['<?xml version="1.0"?><orders/>', 'XML'],
    ['{"errors": [{"message": "Throttled"}]}', 'JSON'],
    ['{"id":1}\n{"id":2}\n', 'JSON'],
    ['[\n  {"id": "1", "email": "a"}\n]', 'JSON'],
    ['[]', 'JSON'],
    ['%PDF-1.7\n', 'a PDF'],
    ['PAR1\u0015\u0004', 'a Parquet file'],
  ])('is held, and the reason says what it is: %j', async (content, name) => {
    for (const pieceBytes of [1, 1_024]) {
      const reason = await holdReason(decode(Buffer.from(content), 'windows-1252', pieceBytes));
      expect(reason).toMatchObject({
        code: 'not_csv',
        message: `s3://shop/orders.csv is ${name}, not a CSV.`,
      });
    }
  });

  it('is held if it is an old workbook, which is not valid UTF-8 either', async () => {
    const { message } = await holdReason(decode(Buffer.from('d0cf11e0a1b11ae1', 'hex')));
    expect(message).toBe('s3://shop/orders.csv is an old Excel workbook (.xls), not a CSV.');
  });

  it('is not every file with brackets in its header', async () => {
    const headers = [
      '[Name],[Email]\n',
      '["Name"],b\n',
      '{id},b\n',
      '{,}\n',
      '<id>,<email>\n',
      '# {"a": 1}\na\n',
    ];
    for (const header of headers) expect(await text(Buffer.from(header))).toBe(header);
  });
});

describe('a UTF-8 file', () => {
  it('is passed through without copying its buffers', async () => {
    const pieces = [Buffer.from('a,b\n'), Buffer.from('1,é\n')];
    const passed: Uint8Array[] = [];
    for await (const chunk of decodeText(Readable.from(pieces), { encoding: 'utf8', uri: 'x' })) {
      passed.push(chunk);
    }
    expect(passed.map(({ buffer }) => buffer)).toEqual(pieces.map(({ buffer }) => buffer));
  });

  it.each([
    ['a lone lead byte', 'é', [0xe9, 0x2c]],
    ['a lone continuation byte', '', [0x80]],
    ['an overlong form', '', [0xc0, 0xaf]],
    ['a surrogate', '', [0xed, 0xa0, 0x80]],
    ['too high a code point', '', [0xf4, 0x90, 0x80, 0x80]],
    ['a cut end', '', [0xf0, 0x9f, 0x98]],
  ])('is held with the position of %s, regardless of how it is split', async (_, before, bad) => {
    const good = Buffer.from(`Name,Total\r\nJosé,1\r\n${before}`);
    const bytes = Buffer.concat([good, Buffer.from(bad)]);
    for (const pieceBytes of [1, 2, 3, 5, 64]) {
      const reason = await holdReason(decode(bytes, 'utf-8', pieceBytes));
      expect(reason).toMatchObject({ code: 'bad_encoding', help: expect.stringContaining('windows-1252') });
      expect(reason.message).toContain(`byte ${good.length} of its content, on line 3`);
    }
  });

  it('is held with the right line after line breaks with CR only', async () => {
    const reason = await holdReason(decode(Buffer.from('a\rb\rc\r\xff', 'latin1')));
    expect(reason.message).toContain('on line 4');
  });

  it('is held with a position that includes the byte order mark', async () => {
    const reason = await holdReason(decode(Buffer.from('\xef\xbb\xbfab\xff', 'latin1')));
    expect(reason.message).toContain('byte 5');
  });

  it('is held with a hint if it looks like UTF-16 without a byte order mark', async () => {
    const reason = await holdReason(decode(Buffer.from('Name', 'utf16le')));
    expect(reason).toMatchObject({ code: 'bad_encoding', help: expect.stringContaining('utf-16le') });
  });

  it('is held without a word about encodings if it has bytes that no text has', async () => {
    const reason = await holdReason(decode(Buffer.from([0x41, 0x0a, 0x00, 0x9f, 0x07, 0xff, 0x80])));
    expect(reason).toMatchObject({ code: 'bad_encoding', help: expect.not.stringContaining('encoding') });
    // Their characters are not UTF-8, but they are text: the end of a DOS file, and a shift of JIS.
    const dos = await holdReason(decode(Buffer.from([0xe9, 0x0a, 0x1a, 0x1b])));
    expect(dos.help).toContain('windows-1252');
  });

  it('can contain NUL bytes', async () => {
    expect(await text(Buffer.from('a\0b\n'))).toBe('a\0b\n');
  });
});

describe('a file in another encoding', () => {
  it.each([
    ['windows-1252', [0x80, 0x9f, 0xe9], '€Ÿé'],
    ['iso-8859-15', [0xa4], '€'],
    ['windows-1251', [0xcf], 'П'],
    ['shift_jis', [0x93, 0xfa], '日'],
    ['gb18030', [0xc4, 0xe3], '你'],
    ['cp850', [0x82, 0xd5], 'éı'],
    ['utf-16', [0x61, 0x00], 'a'],
    ['utf-16be', [0x00, 0x61], 'a'],
  ])('is decoded: %s', async (encoding, bytes, expected) => {
    expect(await text(Buffer.from(bytes), encoding)).toBe(expected);
  });

  it.each([
    ['shift_jis', 'latin1', 'a,b\r\n1,\x80\xff'],
    ['utf-16le', 'latin1', 'a\0,\0\r\0\n\0\x00\xd8a\0'],
    ['iso-8859-3', 'latin1', 'a,b\r\n1,\xa5'],
    ['cp864', 'latin1', 'a,b\r\n1,\xa6'],
  ])(
    'such as %s is held with the line of invalid bytes, regardless of how it is split',
    async (encoding, byteEncoding, content) => {
      for (const pieceBytes of [1, 3, 64]) {
        const reason = await holdReason(
          decode(Buffer.from(content, byteEncoding as 'latin1'), encoding, pieceBytes),
        );
        expect(reason.code).toBe('bad_encoding');
        expect(reason.message).toContain('on line 2');
      }
    },
  );

  it('such as UTF-16 is held if its last character is incomplete', async () => {
    const reason = await holdReason(decode(Buffer.from('\xff\xfea\0b', 'latin1')));
    expect(reason).toMatchObject({ code: 'bad_encoding', message: expect.stringContaining('byte 5') });
  });

  it('is held with the position of invalid bytes, even far into the file', async () => {
    const rows = 'a,b\r\n'.repeat(20_000);
    const bytes = Buffer.concat([Buffer.from(rows), Buffer.from([0x80, 0xff]), Buffer.from(rows)]);
    const reason = await holdReason(decode(bytes, 'shift_jis'));
    expect(reason.message).toMatch(/byte 10000[01] of its content, on line 20001,/);
  });

  it('that is unknown is a configuration error', async () => {
    const error = await knownError(decode(Buffer.from('a'), 'utf-9'));
    expect(error).toMatchObject({ code: 'encoding_unknown', exitCode: 2 });
  });
});

describe('any split of a file', () => {
  it.each(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'shift_jis', 'gb18030', 'cp850', 'utf-32le'])(
    'yields the same text: %s',
    async (encoding) => {
      await fc.assert(
        fc.asyncProperty(
          fc.string({ unit: 'binary', maxLength: 200 }),
          fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }),
          async (content, sizes) => {
            // A letter first, so that no random text begins like JSON, a PDF or another format. Control characters
            // that no export contains are refused in most encodings.
            const text = `x${content.replaceAll(/[\ufeff\u0080-\u009f]/g, '')}`;
            const encoded = iconv.encode(text, encoding);
            const whole = iconv.decode(encoded, encoding, { stripBOM: false });
            // Characters that the encoding lacks are question marks by now. Characters that only iconv knows
            // are out of scope.
            fc.pre(!whole.includes('\ufffd') && !isDisputed(whole, encoded, encoding));
            async function* pieces(): AsyncGenerator<Uint8Array> {
              for (let at = 0, turn = 0; at < encoded.length; turn += 1) {
                const size = sizes[turn % sizes.length] ?? 1;
                yield encoded.subarray(at, at + size);
                at += size;
              }
            }
            const decoded = await collect(decodeText(pieces(), { encoding, uri: 'x' }));
            expect(decoded.toString()).toBe(whole);
          },
        ),
        { numRuns: 200 },
      );
    },
  );
});

/** Returns true for a text that begins like UTF-16, and for bytes that the two libraries read differently. */
function isDisputed(whole: string, encoded: Buffer, encoding: string): boolean {
  const zeros = [...encoded.subarray(0, 4)].map((byte) => (byte === 0 ? '0' : 'x')).join('');
  if (encoding === 'utf-8') return zeros === 'x0x0' || zeros === '0x0x';
  if (!['shift_jis', 'gb18030', 'windows-1252'].includes(encoding))
    return /^(fffe|feff|efbbbf)/.test(encoded.toString('hex'));
  return new TextDecoder(encoding).decode(encoded) !== whole;
}
