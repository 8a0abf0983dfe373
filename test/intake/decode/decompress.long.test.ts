import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SourceLimits } from '../../../src/config/source-fields.ts';
import { decompress } from '../../../src/intake/decode/decompress.ts';
import { collect, holdReason, inPieces } from '../../store/source-settings.ts';

const MEBIBYTE = 1_024 ** 2;
const LIMITS = { maxBytes: 100 * MEBIBYTE, maxRatio: 200 };
const text = (name: string, lines = 700): Buffer =>
  Buffer.from(
    Array.from({ length: lines }, (_, index) => `${name},${index},${(index * 7_919) % 1_009}\n`).join(''),
  );

function open(
  stored: Buffer,
  { pieceBytes = 64 * 1_024, ...limits }: Partial<SourceLimits> & { pieceBytes?: number } = {},
) {
  return collect(
    decompress(inPieces(stored, pieceBytes), { uri: 's3://shop/x.csv', limits: { ...LIMITS, ...limits } }),
  );
}

async function codeOf(stored: Buffer, options: Parameters<typeof open>[1] = {}): Promise<string> {
  return (await holdReason(open(stored, options))).code;
}

/** Returns a zip file as a shop would create it; `damage` changes the stored checksum. */
function zip(files: Readonly<Record<string, Buffer>>, { damage = 0, flags = 0 } = {}): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const data = deflateRawSync(content);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(flags, 2);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE((crc32(content) ^ damage) >>> 0, 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(content.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    central.push(
      Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, rest, Buffer.from(name)]),
    );
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(central.length, 8);
  end.writeUInt16LE(central.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

describe('the format of a file is detected from its bytes', () => {
  const content = text('order');

  it.each([
    ['plain', content],
    ['gzip', gzipSync(content)],
    ['zstd', zstdCompressSync(content)],
    ['zip', zip({ 'orders.csv': content })],
  ])('%s', async (format, stored) => {
    for (const pieceBytes of [1, 7, 64 * 1_024]) {
      const seen: string[] = [];
      const options = { uri: 'x', limits: LIMITS, onFormat: (found: string) => void seen.push(found) };
      const found = await collect(decompress(inPieces(stored, pieceBytes), options));
      expect(seen).toEqual([format]);
      expect(found.equals(content)).toBe(true);
    }
  });

  it.each(['', 'P', 'PK', 'a,b', '\x1f'])('a short file %j is plain', async (content) => {
    expect((await open(Buffer.from(content, 'latin1'))).toString('latin1')).toBe(content);
  });
});

describe.each([
  ['gzip', (content: Buffer): Buffer => gzipSync(content)],
  ['zstd', (content: Buffer): Buffer => zstdCompressSync(content)],
])('%s', (format, compress) => {
  const parts = [text('a'), text('b'), text('c', 1)];
  const members = parts.map(compress);
  const whole = Buffer.concat(members);

  it('can contain several members, regardless of how the stream is split', async () => {
    for (const pieceBytes of [1, 2, 13, members[0]?.length ?? 0, 4_096, whole.length]) {
      expect((await open(whole, { pieceBytes })).equals(Buffer.concat(parts))).toBe(true);
    }
  });

  it('is held if it is truncated anywhere except between two members', async () => {
    const [first = 0, second = 0] = members.map(({ length }) => length);
    for (let at = 4; at < whole.length; at += 23) {
      if (at === first || at === first + second) continue;
      expect(await codeOf(whole.subarray(0, at), { pieceBytes: 1_000 })).toBe(`truncated_${format}`);
    }
    expect(await codeOf(whole.subarray(0, -1))).toBe(`truncated_${format}`);
  });

  it('is held if other data follows it, regardless of how the stream is split', async () => {
    for (const rest of ['junk junk', '\0'.repeat(20), 'PK\x03\x04 a zip?', 'a,b\n1,2\n']) {
      const stored = Buffer.concat([whole, Buffer.from(rest, 'latin1')]);
      for (const pieceBytes of [1, 50, whole.length, stored.length]) {
        expect(await codeOf(stored, { pieceBytes })).toMatch(/^(damaged|truncated)_/);
      }
    }
  });

  it('is held if a bit was changed', async () => {
    const stored = Buffer.from(gzipOrChecked(format, text('a')));
    for (let at = 20; at < stored.length; at += 301) {
      const damaged = Buffer.from(stored);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      expect(await codeOf(damaged)).toMatch(/^(damaged|truncated)_/);
    }
  });

  it('is held as a compression bomb', async () => {
    expect(await codeOf(compress(Buffer.alloc(50 * MEBIBYTE)))).toBe('compression_bomb');
  });

  it('is held if its content exceeds the limit of the source', async () => {
    expect(await codeOf(compress(text('a')), { maxBytes: 5_000 })).toBe('too_large');
  });

  it('can have a high compression ratio if it is small', async () => {
    const equalRows = Buffer.from('a,b\n'.repeat(100_000));
    expect((await open(compress(equalRows))).equals(equalRows)).toBe(true);
  });
});

/** zstd verifies its content only if the option was set at compression. */
function gzipOrChecked(format: string, content: Buffer): Buffer {
  return format === 'gzip' ? gzipSync(content) : zstdCompressSync(content, { params: { 201: 1 } });
}

describe('zip', () => {
  const csv = text('order');

  it('can contain other files, folders and macOS metadata besides its only CSV', async () => {
    const stored = zip({
      'export/': Buffer.alloc(0),
      'export/orders.CSV': csv,
      'export/readme.pdf': Buffer.from('x'),
      '__MACOSX/export/._orders.csv': Buffer.from('x'),
      'export/.DS_Store': Buffer.from('x'),
    });
    expect((await open(stored)).equals(csv)).toBe(true);
  });

  it('is held with the names of its files unless it contains exactly one CSV', async () => {
    const two = await holdReason(open(zip({ 'a.csv': csv, 'b.csv': csv })));
    expect(two).toMatchObject({
      code: 'zip_not_one_csv',
      message: expect.stringContaining('a.csv, b.csv'),
      help: expect.stringContaining('Unpack it'),
    });
    expect((await holdReason(open(zip({ 'a.pdf': csv })))).code).toBe('zip_not_one_csv');
    expect((await holdReason(open(zip({})))).message).toContain('no file');
    const workbook = await holdReason(open(zip({ 'xl/workbook.xml': csv, '[Content_Types].xml': csv })));
    expect(workbook.message).toContain('Excel');
  });

  it('is held if its checksum is wrong, if it is truncated and if it is encrypted', async () => {
    expect(await codeOf(zip({ 'a.csv': csv }, { damage: 1 }))).toBe('damaged_zip');
    const whole = zip({ 'a.csv': csv });
    for (let at = 4; at < whole.length; at += 211)
      expect(await codeOf(whole.subarray(0, at))).toBe('damaged_zip');
    expect((await holdReason(open(whole.subarray(0, 4)))).message).toMatch(/damaged zip file: .*[^.]\.$/);
    expect(await codeOf(zip({ 'a.csv': csv }, { flags: 1 }))).toBe('encrypted_zip');
  });

  it('is held as a compression bomb or if it is too large', async () => {
    expect(await codeOf(zip({ 'a.csv': Buffer.alloc(50 * MEBIBYTE) }))).toBe('compression_bomb');
    expect(await codeOf(zip({ 'a.csv': csv }), { maxBytes: 5_000 })).toBe('too_large');
  });

  it('leaves no temporary file, also after an error or an early end', async () => {
    const own = mkdtempSync(join(tmpdir(), 'spool-'));
    vi.stubEnv('TMPDIR', own);
    onTestFinished(() => {
      vi.unstubAllEnvs();
      rmSync(own, { recursive: true });
    });
    const large = zip({ 'a.csv': text('a', 200_000) });
    for await (const _ of decompress(inPieces(large), { uri: 'x', limits: LIMITS })) {
      expect(readdirSync(own)).toEqual([]);
      break;
    }
    await codeOf(zip({ 'a.csv': csv }, { damage: 1 }));
    expect(readdirSync(own)).toEqual([]);
  });
});

it('a plain file is held if it exceeds the limit of the source', async () => {
  expect(await codeOf(text('a'), { maxBytes: 5_000 })).toBe('too_large');
});

it('an error of the input is passed on unchanged', async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield gzipSync('a,b\n').subarray(0, 12);
    throw new Error('the network is down');
  }
  await expect(collect(decompress(broken(), { uri: 'x', limits: LIMITS }))).rejects.toThrow(
    'the network is down',
  );
});

it('a file of very many tiny zstd frames is held as a compression bomb', async () => {
  const frames = (count: number, content: Buffer) =>
    Buffer.concat(Array.from({ length: count }, () => zstdCompressSync(content)));
  expect(await codeOf(frames(2_000, Buffer.alloc(0)))).toBe('compression_bomb');
  expect(await open(frames(900, Buffer.from('a,b\n')))).toHaveLength(3_600);
});
