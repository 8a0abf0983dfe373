import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { manyRows, openWorkshop, repeated, toCsv } from '../runs/workshop.ts';
import { layEmbeddedDatabase } from '../support/embedded-database.ts';

/** A deployment with an embedded ledger that has posted two orders. */
async function openEmbedded() {
  const shop = await openWorkshop({ embedded: true });
  const state = join(shop.folder, 'state');
  shop.env.XDG_STATE_HOME = state;
  const data = join(shop.folder, '.data');
  await layEmbeddedDatabase(data, 'migrated');
  shop.drop('one.csv', toCsv(manyRows(2, 'a')));
  expect((await shop.run()).exitCode).toBe(0);
  return { shop, data, state };
}

it('an older copy of the whole data folder is refused, also after it was moved, and usable after `ledger recover`: nothing is posted twice', async () => {
  const { shop, data } = await openEmbedded();
  cpSync(data, join(shop.folder, 'copy'), { recursive: true });
  shop.drop('two.csv', toCsv(manyRows(3, 'b')));
  expect((await shop.run()).exitCode).toBe(0);
  rmSync(data, { recursive: true });
  shop.env.INFLUENCER_SYNC_DATA = join(shop.folder, 'copy');
  const refused = await shop.cli('run', 'orders');
  expect(repeated(await shop.posted())).toEqual([]);
  expect(refused.exitCode).toBe(7);
  const message = refused.stderr.replace(/\s+/g, ' ');
  expect(message).toMatch(/The ledger lost claims.*3 orders \(6.06 EUR\).*the service accepted 3 of them/);
  expect(message).toMatch(/replaced by an older copy of its data folder.*ledger recover/);
  expect((await shop.cli('doctor')).stdout).toContain('The ledger lost claims');
  expect((await shop.cli('ledger', 'recover', '--reason', 'an old copy')).stdout).toContain(
    '3 accepted by the service',
  );
  expect(await shop.run()).toMatchObject({ exitCode: 0, finished: { counts: { entries: { already: 5 } } } });
  expect(await shop.posted()).toHaveLength(5);
});

it('where no record can be kept outside the data folder, each run says what it cannot see, and so does doctor; it posts', async () => {
  const { shop, data, state } = await openEmbedded();
  const [ledger = ''] = readdirSync(join(state, 'influencer-sync', 'ledgers'));
  expect(readdirSync(join(state, 'influencer-sync', 'ledgers', ledger)).sort()).toEqual([
    expect.stringMatching(/\.ndjson$/),
    'place.json',
  ]);
  rmSync(state, { recursive: true });
  const upgraded = await shop.cli('run', 'orders');
  expect(upgraded.exitCode).toBe(0);
  expect((upgraded.stdout + upgraded.stderr).replace(/\s+/g, ' ')).toMatch(
    /cannot detect an older copy of \.data that was put back: there is no record of the ledger in .* yet/,
  );
  rmSync(state, { recursive: true });
  // A file where the folder would be, since the administrator may write everywhere.
  shop.write('state', '');
  shop.drop('two.csv', toCsv(manyRows(3, 'b')));
  const blind = await shop.cli('run', 'orders');
  expect(blind.exitCode).toBe(0);
  expect((blind.stdout + blind.stderr).replace(/\s+/g, ' ')).toMatch(
    /cannot detect an older copy of \.data that was put back: no record of the ledger can be kept in .* \(it cannot be written, ENOTDIR\)/,
  );
  expect((await shop.cli('doctor')).stdout.replace(/\s+/g, ' ')).toContain(
    'no record of the ledger can be kept',
  );
  expect(await shop.posted()).toHaveLength(5);
  expect(existsSync(data)).toBe(true);
});
