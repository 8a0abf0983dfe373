import { encode } from 'iconv-lite';
import { expect, onTestFinished, test } from 'vitest';
import { sourceAt } from '../../src/config/load-config-file.ts';
import { loadLayout } from '../../src/map/layout/load-layout.ts';
import { FileHeld } from '../../src/model/held/file-held.ts';
import { openRecords } from '../../src/pipeline/open-records.ts';
import { listFiles } from '../../src/source/list-files.ts';
import { openSourceClients } from '../../src/source/source-clients.ts';
import { folderWith } from './recognise/look.ts';

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
