import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
    ...{ dealId: 'D1', influencerHandle: null, name: 'Mia GmbH', address: ['A', 'B'] },
    ...{ email: 'mia@example.com', language: 'de' },
  });
  expect(to('D2', 'MIA.test')).toEqual({
    ...{ dealId: null, influencerHandle: 'mia.test', name: 'Mia', address: [] },
    ...{ email: null, language: null },
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
    ...{ code: 'creators_unusable', exitCode: 2 },
    problems: [{ where: expect.stringContaining(`creators.csv:${line} `) }],
  });
});
