import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type ClickShop, clicksCsv, openClickShop } from './story.ts';

const TIME = new Date('2026-11-01T00:00:00Z');
const DAY = '2026-04-10';

/** Writes an export of the clicks of MIA10, and of BEN15 if they are given, with the time that the store shows. */
function put(shop: ClickShop, name: string, clicks: readonly number[], modifiedAt = TIME): void {
  const links = ['bit.ly/MIA10', 'bit.ly/BEN15'];
  shop.drop(name, clicksCsv(clicks.map((count, at) => [DAY, links[at] ?? '', count] as const)));
  utimesSync(join(shop.folder, 'exports', name), modifiedAt, modifiedAt);
}

/** The files that are held, as `name code`. */
async function held({ db }: ClickShop): Promise<readonly string[]> {
  const { rows } = await sql<{ said: string }>`
    select regexp_replace(uri, '.*/', '') || ' ' || hold_code as said from intake.source_files where state = 'held' order by 1`.execute(
    db,
  );
  return rows.map(({ said }) => said);
}

it('clicks of a day after their export are held until a newer file states the day, beside those of other days', async () => {
  const shop = await openClickShop();
  const write = (name: string, modifiedAt: string, days: readonly string[]) => {
    shop.drop(name, clicksCsv(days.map((day, at) => [day, 'bit.ly/MIA10', 5 + at] as const)));
    utimesSync(join(shop.folder, 'exports', name), new Date(modifiedAt), new Date(modifiedAt));
  };
  // The first day begins at 22:00 UTC. 26 hours are allowed for zones and clocks.
  write('may.csv', '2026-05-10T21:00:00Z', ['2026-05-11', '2026-05-12', '2026-11-10']);
  expect(await shop.runClicks()).toMatchObject({ code: 3, counts: { held: 7, posted: 11 } });
  expect((await shop.cli('explain', 'clicks', 'MIA10')).stdout).toContain('held: after export');
  write('november.csv', '2026-11-11T00:00:00Z', ['2026-11-10']);
  expect(await shop.runClicks()).toMatchObject({ code: 0, counts: { held: 0, posted: 5 } });
  expect(await shop.totals()).toEqual({ DEALMIA: 16 });
});

it('a file that names the same influencer otherwise for a day is held, and one that adds a name is read', async () => {
  const shop = await openClickShop();
  const file = (name: string, column: string, ...rows: readonly string[]) =>
    shop.drop(name, `day,clicks,${column}\n${rows.map((row) => `${row}\n`).join('')}`);
  file('1.csv', 'code', `${DAY},15,MIA10`);
  file('2.csv', 'link', '2026-04-11,4,https://acme.test/?ref=MIA10');
  file('3.csv', 'influencer_handle', '2026-04-12,3,@Mia.test');
  expect(await shop.runClicks()).toMatchObject({ code: 0 });
  const before = await shop.trueClicks();
  file(
    '4.csv',
    'link',
    `${DAY},15,https://acme.test/?ref=MIA10`,
    '2026-04-13,1,https://acme.test/?ref=MIA10',
  );
  file('5.csv', 'deal_id', '2026-04-12,3,DEALMIA');
  file('6.csv', 'link', '2026-04-11,4,acme.test?ref=MIA10');
  file('7.csv', 'code', `${DAY},15,MIA10`, `${DAY},2,BEN15`);
  expect(await shop.runClicks()).toMatchObject({ code: 3, counts: { posted: 2 } });
  expect(await held(shop)).toEqual(['4.csv clicks_named_otherwise', '5.csv clicks_named_otherwise']);
  expect((await shop.trueClicks()).slice(before.length)).toMatchObject([{ increase_clicks: 2 }]);
});

it('clicks keep the key that the first version gave them, with the blanks of a handle', async () => {
  const shop = await openClickShop();
  shop.drop('named.csv', `day,influencer_handle,clicks\n${DAY},@Mia Rossi,2\n`);
  await shop.runClicks();
  expect(await shop.entries()).toEqual([`handle:mia rossi ${DAY} 0+2 rejected`]);
});

describe('two files of clicks of which nothing says which is newer', () => {
  it('post nothing of the days about which they differ, whichever was read first, until a newer file states them', async () => {
    const shop = await openClickShop();
    put(shop, 'east.csv', [10, 3]);
    put(shop, 'west.csv', [14, 3]);
    const { code, counts } = await shop.runClicks();
    expect(code).toBe(3);
    expect(counts).toMatchObject({ clicks: 13, held: 10, attributed: 3, posted: 3 });
    expect((await shop.cli('files')).stdout.replaceAll(/\s+/g, ' ')).toContain(
      'Line 2 states something else than east.csv, and nothing says which of the two files is newer.',
    );
    expect(await shop.totals()).toEqual({ DEALBEN: 3 });
    expect(await held(shop)).toEqual(['west.csv conflicting_states']);
    expect((await shop.cli('explain', 'clicks', 'MIA10')).stdout).toContain('held: conflicting states');
    // Another run decides nothing.
    expect((await shop.runClicks()).counts).toMatchObject({ held: 10, posted: 0 });

    put(shop, 'all.csv', [12], new Date('2026-11-02T00:00:00Z'));
    const settled = await shop.runClicks();
    expect(settled).toMatchObject({ code: 0, counts: { held: 0, posted: 12, too_many: 0 } });
    expect(await held(shop)).toEqual([]);
    expect(await shop.totals()).toEqual({ DEALMIA: 12, DEALBEN: 3 });
  });

  it('leave what was posted as it is, without an adjustment', async () => {
    const shop = await openClickShop();
    put(shop, 'west.csv', [14]);
    await shop.runClicks();
    put(shop, 'east.csv', [10]);
    expect((await shop.runClicks()).counts).toMatchObject({ held: 14, too_many: 0, already: 14 });
    const { rows } = await sql`select from ledger.adjustments`.execute(shop.db);
    expect(rows).toEqual([]);
    expect(await shop.totals()).toEqual({ DEALMIA: 14 });
  });

  it('are both read if they state the same', async () => {
    const shop = await openClickShop();
    put(shop, 'east.csv', [10, 3]);
    put(shop, 'west-1.csv', [10]);
    expect(await shop.runClicks()).toMatchObject({ code: 0, counts: { held: 0, posted: 13 } });
    // It is newer than one of them by its number, and nothing says whether it is newer than the other.
    put(shop, 'west-2.csv', [11]);
    await shop.runClicks();
    expect(await held(shop)).toEqual(['west-2.csv conflicting_states']);
  });

  it('wait no longer about the days that a newer file states', async () => {
    const shop = await openClickShop();
    put(shop, 'east.csv', [10, 3]);
    put(shop, 'west.csv', [14, 5]);
    put(shop, 'all.csv', [12], new Date('2026-11-02T00:00:00Z'));
    expect((await shop.runClicks()).counts).toMatchObject({ attributed: 12, held: 3, posted: 12 });
    expect(await held(shop)).toEqual(['west.csv conflicting_states']);
  });

  it('still wait if a third file is newer than one of them only', async () => {
    const shop = await openClickShop();
    put(shop, 'east-3.csv', [10]);
    put(shop, 'east-3b.csv', [14]);
    put(shop, 'east-5.csv', [12]);
    expect((await shop.runClicks()).counts).toMatchObject({ held: 12, posted: 0 });
    expect(await held(shop)).toEqual(['east-3b.csv conflicting_states']);
  });

  it('are decided by a person: the held one is the newest, or it is not needed', async () => {
    for (const [decision, total] of [
      [['--newest'], 14],
      [[], 10],
    ] as const) {
      const shop = await openClickShop();
      put(shop, 'east.csv', [10]);
      put(shop, 'west.csv', [14]);
      // What the newest one contradicts waits no longer, in whichever order they are read.
      if (total === 14) put(shop, 'north.csv', [16]);
      await shop.runClicks();
      const release = ['files', 'release', 'west.csv', '--reason', 'as the vendor says', ...decision];
      expect((await shop.cli(...release)).exitCode).toBe(0);
      expect((await shop.runClicks()).counts).toMatchObject({ held: 0, posted: total });
      expect(await shop.totals()).toEqual({ DEALMIA: total });
      expect(await held(shop)).toEqual([]);
      const { rows } = await sql`select action, reason from ops.audit`.execute(shop.db);
      expect(rows).toEqual([{ action: 'release_file', reason: 'as the vendor says' }]);
      // The decision is about the files that were there.
      put(shop, 'south.csv', [15]);
      await shop.runClicks();
      expect(await held(shop)).toEqual(['south.csv conflicting_states']);
    }
  });

  it('are not decided by a word about a file that is held for another reason', async () => {
    const shop = await openClickShop();
    shop.drop('total.csv', 'link,clicks\nbit.ly/MIA10,5\n');
    await shop.runClicks();
    const answer = await shop.cli('files', 'release', 'total.csv', '--newest', '--reason', 'new');
    expect(answer).toMatchObject({ exitCode: 2 });
    expect(answer.stderr).toContain('is not held because it contradicts another file');
  });

  it('count once the time of their store tells them apart', async () => {
    const shop = await openClickShop();
    put(shop, 'east.csv', [10]);
    put(shop, 'west.csv', [14]);
    await shop.runClicks();
    put(shop, 'west.csv', [14], new Date('2026-11-03T00:00:00Z'));
    await shop.runClicks();
    expect(await shop.totals()).toEqual({ DEALMIA: 14 });
  });
});

it('a file with two rows that differ only in the number of clicks is held', async () => {
  const shop = await openClickShop();
  shop.drop(
    'joined.csv',
    clicksCsv([
      [DAY, 'bit.ly/MIA10', 10],
      [DAY, 'bit.ly/MIA10', 14],
    ]),
  );
  await shop.runClicks();
  expect((await shop.cli('files')).stdout.replaceAll(/\s+/g, ' ')).toContain(
    'Lines 2 and 3 differ only in the number of clicks.',
  );
  expect(await held(shop)).toEqual(['joined.csv conflicting_rows']);
  expect(await shop.totals()).toEqual({});
});
