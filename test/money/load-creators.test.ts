import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { KnownError } from '../../src/core/known-error.ts';
import { findAddressee, loadCreators } from '../../src/money/load-creators.ts';
import { makeTestFolder } from '../support/setup.ts';

function load(...rows: readonly string[]) {
  const creators = join(makeTestFolder(), 'creators.csv');
  writeFileSync(creators, ['deal_id,influencer_handle,name,address,email,language', ...rows].join('\n'));
  return loadCreators({ creators });
}

it('a statement goes to the row of its deal, else to that of its creator, else to nobody', () => {
  const creators = load(
    'D1,,Mia GmbH,A; B;,mia@example.com,DE',
    ',@Mia.test,Mia,,,',
    ',ben,,,ben@example.com,',
    'D3,,Zoe,,,',
  );
  const to = (dealId: string, influencerHandle: string | null) =>
    findAddressee(creators, { dealId, influencerHandle });
  expect(to('D1', 'mia.test')).toEqual({
    dealId: 'D1',
    influencerHandle: null,
    name: 'Mia GmbH',
    address: ['A', 'B'],
    email: 'mia@example.com',
    language: 'de',
  });
  expect(to('D2', 'MIA.test')).toEqual({
    dealId: null,
    influencerHandle: 'mia.test',
    name: 'Mia',
    address: [],
    email: null,
    language: null,
  });
  expect(to('D2', 'ben')).toMatchObject({ name: null, email: 'ben@example.com' });
  expect(to('D3', 'ben')).toMatchObject({ name: 'Zoe' });
  expect([to('D2', null), to('D2', 'zoe')]).toEqual([null, null]);
  expect(loadCreators({ creators: null })).toEqual([]);
});

it.each([
  ['names a deal twice', ['D1,,A,,,', 'D1,,B,,,'], 3],
  ['names a creator twice', [',mia,A,,,', ',@MIA,B,,,'], 3],
  ['names both a deal and a creator', ['D1,mia,A,,,'], 2],
  ['names neither', [',,A,,,'], 2],
  ['has an e-mail address with a name', ['D1,,A,,Mia <mia@example.com>,'], 2],
  ['has a language without texts', ['D1,,A,,,xx'], 2],
])('a file that %s is refused as a whole, with the line', (_what, rows, line) => {
  let thrown: unknown;
  try {
    load(...rows);
  } catch (error) {
    thrown = error;
  }
  expect(thrown instanceof KnownError ? thrown.details : thrown).toMatchObject({
    code: 'creators_unusable',
    exitCode: 2,
    problems: [{ where: expect.stringContaining(`creators.csv:${line} `) }],
  });
});

it('a file of creators needs a deal or a creator and one thing to know of them, and has no other columns', () => {
  const folder = makeTestFolder();
  /** How many rows are loaded, or why none is. */
  const of = (content: string | Buffer | null): unknown => {
    const creators = join(folder, 'creators.csv');
    if (content !== null) writeFileSync(creators, content);
    try {
      return loadCreators({ creators }).length;
    } catch (error) {
      if (!(error instanceof KnownError)) throw error;
      const { code, exitCode, message, where, safe } = error.details;
      return [code, exitCode, message, basename(where ?? ''), safe].join(' | ');
    }
  };
  const unusable = (message: string) =>
    `creators_unusable | 2 | ${message} | creators.csv | Nothing was sent.`;
  expect(of(null)).toBe(unusable('The file of creators cannot be read.'));
  expect(of(Buffer.from([0x64, 0xe9]))).toBe(unusable('The file of creators is not UTF-8.'));
  const refused = unusable('Rows of the file of creators cannot be used.');
  for (const [column, value] of Object.entries({
    name: 'A',
    address: 'B',
    email: 'a@example.com',
    language: 'de',
  }))
    for (const who of ['deal_id', 'influencer_handle'])
      expect(of(`${who},${column}\nx,${value}\n`), `${who} ${column}`).toBe(1);
  expect(of('deal_id,influencer_handle\nx,\n')).toBe(refused);
  expect(of('name,email\nA,a@example.com\n')).toBe(refused);
  expect(of('deal_id,name,iban\nx,A,1\n')).toBe(refused);
  // A spreadsheet may add a blank cell to every row.
  expect(of('deal_id,name\nx,A,\ny,B,\n')).toBe(2);
  expect(of('deal_id,name\nx,A,\ny,B\nz,C,D\n')).toBe(refused);
});
