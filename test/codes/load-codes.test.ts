import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { loadCodes } from '../../src/codes/load-codes.ts';
import type { Database } from '../../src/db/connect.ts';
import { ENGINES, openShop, useDatabase } from '../intake/story.ts';
import { BRAND, HEADER } from '../jobs/attribute-orders/decide/story.ts';
import { makeTestFolder } from '../support/setup.ts';

describe.each(ENGINES)('codes.csv on %s', (engine) => {
  const database = useDatabase(engine);

  async function load(text: string | Uint8Array, given: { timeZone?: string; job?: string } = {}) {
    const path = join(makeTestFolder(), 'codes.csv');
    writeFileSync(path, text);
    const job = given.job ?? (await openShop(database())).source;
    const loaded = await loadCodes(database(), {
      job,
      path,
      timeZone: given.timeZone ?? null,
      brandId: BRAND,
      linkParameters: [],
    });
    return { ...loaded, job, rows: await stored(database(), job) };
  }

  test('interprets a date without a time as the whole day in the time zone of the job', async () => {
    const { rows } = await load(
      `${HEADER}\nA,,m,,,2026-03-29,2026-03-29\nB,,m,,,2026-04-01 18:30,2026-04-30T00:00:00Z\nC,,m,,,,9999-12-31`,
      { timeZone: 'Europe/Amsterdam' },
    );
    expect(
      rows.map(({ valid_from, valid_to }) => [valid_from?.toISOString(), valid_to?.toISOString()]),
    ).toEqual([
      // The clocks go forward on that day, so it has 23 hours.
      ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
      ['2026-04-01T16:30:00.000Z', '2026-04-30T00:00:00.000Z'],
      [undefined, '9999-12-30T23:00:00.000Z'],
    ]);
  });

  test('is used without the rows and columns that cannot be, and says which', async () => {
    const { rows, problems } = await load(`${HEADER},Remarks,Campaign\nA,,m,,,,,,\nB,,,,,,,,`);
    expect(rows).toMatchObject([
      { code: 'A', code_folded: 'a', handle_folded: 'm', target: 'handle:m', line_no: 2 },
    ]);
    expect(problems.map(({ line, column }) => [line, column])).toEqual([
      [3, 'influencer_handle'],
      [1, 'campaign'],
    ]);
  });

  test('reports both lines if two owners have a code at the same time, but not if one follows the other', async () => {
    const { problems } = await load(
      [
        HEADER,
        'A,,m,,,,',
        'a ,,n,,,2026-01-01,',
        'B,,m,,,,2026-01-31',
        'B,,n,,,2026-02-01,',
        'A,777,o,,,,',
        'A,,M,,,,',
      ].join('\n'),
    );
    expect(problems.map(({ line, value }) => [line, value])).toEqual([
      [2, 'A'],
      [3, 'a'],
      [7, 'A'],
    ]);
  });

  test('replaces all codes of a job when they change, and leaves them alone otherwise', async () => {
    const first = await load(`${HEADER}\nA,,m,,,,\nB,,m,,,,`);
    const stamp = () =>
      sql`select loaded_at from intake.code_lists where job = ${first.job}`.execute(database());
    const before = await stamp();
    const same = await load(`${HEADER}\r\nA,,m,,,,\r\nB,,m,,,,\r\n`, { job: first.job });
    expect([same.hash, (await stamp()).rows]).toEqual([first.hash, before.rows]);
    const other = await load(`${HEADER}\nC,,m,,,,`, { job: first.job });
    expect(other.hash).not.toBe(first.hash);
    expect(other.rows.map(({ code }) => code)).toEqual(['C']);
  });

  test('stops the run and keeps the codes if the file is missing, in another encoding or without the required columns', async () => {
    const { job } = await load(`${HEADER}\nA,,m,,,,`);
    const path = join(makeTestFolder(), 'codes.csv');
    const options = { job, path, timeZone: null, brandId: BRAND, linkParameters: [] };
    await expect(loadCodes(database(), options)).rejects.toMatchObject({
      details: { code: 'codes_missing', exitCode: 2 },
    });
    writeFileSync(path, Buffer.from([0x63, 0xe9]));
    await expect(loadCodes(database(), options)).rejects.toMatchObject({
      details: { code: 'codes_unreadable' },
    });
    writeFileSync(path, 'Rabattcode,influencer_handle\nA,m');
    await expect(loadCodes(database(), options)).rejects.toMatchObject({ details: { code: 'codes_header' } });
    rmSync(path);
    expect((await stored(database(), job)).map(({ code }) => code)).toEqual(['A']);
  });

  test('loads no codes for a job without a file of codes', async () => {
    const { source: job } = await openShop(database());
    expect(
      await loadCodes(database(), { job, path: null, timeZone: null, brandId: BRAND, linkParameters: [] }),
    ).toMatchObject({ codes: 0, problems: [] });
  });
});

type Stored = {
  code: string;
  code_folded: string;
  handle_folded: string | null;
  target: string;
  line_no: number;
  valid_from: Date | null;
  valid_to: Date | null;
};

async function stored(db: Database, job: string): Promise<Stored[]> {
  return (await sql<Stored>`select * from intake.codes where job = ${job} order by line_no`.execute(db)).rows;
}
