import { encode } from 'iconv-lite';
import { expect, onTestFinished, test } from 'vitest';
import { sourceAt } from '../../../src/config/source-fields.ts';
import { FileHeld } from '../../../src/core/held/file-held.ts';
import { loadLayout } from '../../../src/intake/layout/load-layout.ts';
import { openRecords } from '../../../src/intake/read/open-records.ts';
import { listFiles } from '../../../src/store/list-files.ts';
import { openSourceClients } from '../../../src/store/source-clients.ts';
import { folderWith } from '../../cli/init/recognise/look.ts';

const HEADER = 'order_id,order_revenue,currency,discount_codes,colour';

/** Reads a file of generic orders to its end. Returns the number of its rows, or why it is held. */
async function read(content: string | Uint8Array, encoding: string | null = null): Promise<number | string> {
  const source = { ...sourceAt(folderWith({ 'o.csv': content })), encoding };
  const clients = openSourceClients();
  onTestFinished(() => clients.close());
  const layout = loadLayout('generic');
  let rows = 0;
  try {
    for await (const file of listFiles(source, { clients }))
      for await (const { records } of openRecords(file, layout, { source, clients }).records)
        rows += records.length;
    return rows;
  } catch (error) {
    if (error instanceof FileHeld) return `${error.reason.code}: ${error.message}`;
    throw error;
  }
}

test.each(['\ufffd', '\u0081', '\u009f'])(
  'a file is held if a column that is read has the character %j, and read if another has it',
  async (character) => {
    expect(await read(`${HEADER}\n1,2.00,EUR,MIRA10,red\n2,2.00,EUR,M${character}RA10,red\n`)).toMatch(
      /^letters_lost: Column "discount_codes" has characters on line 3/,
    );
    expect(await read(`${HEADER}\n1,2.00,EUR,MIRA10,r${character}d\n`)).toBe(1);
  },
);

test('letters beyond ASCII and signs are no damage, wherever a piece of the file ends', async () => {
  const row = '1,2.00,EUR,MÍRÄ10 €5\u00a0off £,ro\u0301se\n';
  expect(await read(`${HEADER}\n${row.repeat(20_000)}`)).toBe(20_000);
  // A large file arrives in pieces. Its only damage may lie across the end of one.
  for (const blanks of [0, 1, 2]) {
    const far = `${HEADER}\n${'x'.repeat(blanks)}${'1,2.00,EUR,MIRA10,red\n'.repeat(9_000)}2,2.00,EUR,${'\ufffd'.repeat(9)},red\n`;
    expect(await read(far)).toMatch(/^letters_lost/);
  }
});

test('a file in Shift-JIS that is read as windows-1252 is held, and read in its encoding', async () => {
  const text = encode(`${HEADER}\n1,2000,JPY,ミア10,青\n2,2000,JPY,チ,赤\n`, 'cp932');
  expect(await read(text, 'windows-1252')).toMatch(/^bad_encoding: .* is not windows-1252: byte \d+/);
  expect(await read(text, 'shift_jis')).toBe(2);
});

/** The same rows in encodings of Asia, with bytes that all have a meaning in windows-1252. */
const ASIAN: readonly (readonly [encoding: string, right: string, codes: readonly string[]])[] = [
  ['cp932', 'shift_jis', ['ミア10', 'レナ5', 'さくら']],
  ['gbk', 'gb18030', ['小米10', '李5', '春天']],
  ['euc-kr', 'euc-kr', ['안녕10', '서울5', '봄날']],
  ['big5', 'big5', ['小米10', '春5', '李']],
];

test.each(ASIAN)(
  'an export in %s that is read as windows-1252 is held, and the hold names %s',
  async (encoding, right, codes) => {
    const rows = codes.filter(
      (code) => !/[\x81\x8d\x8f\x90\x9d]/.test(encode(code, encoding).toString('latin1')),
    );
    expect(rows.length).toBeGreaterThan(0);
    const text = encode(
      `${HEADER}\n${rows.map((code, at) => `${at + 1},20,EUR,${code},red\n`).join('')}`,
      encoding,
    );
    const held = await read(text, 'windows-1252');
    expect(held).toMatch(/^wrong_encoding: Read as windows-1252, words/);
    expect(held).toContain(right);
    expect(held).not.toMatch(/[^\0-\x7f]/);
    expect(await read(text, 'latin1')).toMatch(/^wrong_encoding/);
    expect(await read(text, right)).toBe(rows.length);
  },
);

test('a contradiction anywhere in a large file is found, and a few strange words are none', async () => {
  const ascii = '1,2.00,EUR,MIRA10,red\n'.repeat(20_000);
  const far = encode(`${HEADER}\n${ascii}2,20,JPY,レナ5,red\n3,20,JPY,さくら,red\n`, 'cp932');
  expect(await read(far, 'windows-1252')).toMatch(/^wrong_encoding/);
  const names = ['Müller', 'Ærø', 'Jiøí', 'CAFÉ', 'ƒ10', '“x”', 'ÀÉÈ'];
  const western = encode(
    `${HEADER}\n${names.map((name, at) => `${at},2.00,EUR,${name},red\n`).join('')}`,
    'win1252',
  );
  expect(await read(western, 'windows-1252')).toBe(names.length);
  expect(await read(`\ufeff${HEADER}\n1,2000,JPY,ミア10,red\n`, 'windows-1252')).toBe(1);
});
