import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { loadCodes } from '../../src/attribute/load-codes.ts';
import type { Database } from '../../src/db/connect.ts';
import { ENGINES, openShop, useDatabase } from '../intake/story.ts';
import { makeTestFolder } from '../support/setup.ts';
import { BRAND, HEADER } from './story.ts';

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

  test('may have its columns in any order, a byte order mark, semicolons, blanks and empty lines', async () => {
    const { rows, problems } = await load(
      '\ufeffInfluencer_Handle ; CODE\r\n @Mira.Glow ; été 20 \r\n\r\n;\r\n"b;c";X\r\n',
    );
    expect(problems).toEqual([]);
    expect(
      rows.map(({ code, code_folded, handle_folded, target, line_no }) => [
        code,
        code_folded,
        handle_folded,
        target,
        line_no,
      ]),
    ).toEqual([
      ['été 20', 'été20', 'mira.glow', 'handle:mira.glow', 2],
      ['X', 'x', 'b;c', 'handle:b;c', 5],
    ]);
  });

  test('targets the deal, else the collaboration, else the handle', async () => {
    const { rows } = await load(`${HEADER}\nA,,mira,D1,C1,,\nB,,mira,,C1,,\nC,,Mira,,,,`);
    expect(rows.map(({ target }) => target)).toEqual(['deal:D1', 'collab:C1', 'handle:mira']);
  });

  test('interprets a date without a time as the whole day in the time zone of the job', async () => {
    const { rows } = await load(
      `${HEADER}\nA,,m,,,2026-03-29,2026-03-29\nB,,m,,,2026-04-01 18:30,2026-04-30T00:00:00Z`,
      { timeZone: 'Europe/Amsterdam' },
    );
    expect(
      rows.map(({ valid_from, valid_to }) => [valid_from?.toISOString(), valid_to?.toISOString()]),
    ).toEqual([
      // The clocks go forward on that day, so it has 23 hours.
      ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
      ['2026-04-01T16:30:00.000Z', '2026-04-30T00:00:00.000Z'],
    ]);
  });

  test('reports an invalid row with its line and column, and loads the others', async () => {
    const { rows, problems } = await load(
      [
        HEADER,
        'A,,m,,,,',
        ',,m,,,,',
        'B,,,,,,',
        'C,,m,,,31.12.2026,',
        'D,,m,,,,2026-02-30',
        'E,,m,,,,,surplus',
      ].join('\n'),
    );
    expect(rows.map(({ code }) => code)).toEqual(['A']);
    expect(problems.map(({ line, column, value }) => [line, column, value])).toEqual([
      [3, 'code', null],
      [4, 'influencer_handle', null],
      [5, 'valid_from', '31.12.2026'],
      [6, 'valid_to', '2026-02-30'],
      [7, null, null],
    ]);
    expect(problems.every(({ reason, help }) => reason !== '' && help !== '')).toBe(true);
  });

  test('takes blank cells that a spreadsheet has added to every row for padding, and nothing else', async () => {
    const padded = await load([`${HEADER},,`, 'A,,m,,,,,,', 'B,,m,,,,, ,'].join('\n'));
    expect([padded.rows.length, padded.problems]).toEqual([2, []]);
    // A cell with text has moved the others, and nobody knows from where.
    const moved = await load([HEADER, 'A,,m,,,,,x', 'B,,m,,,,,'].join('\n'));
    expect(moved.rows).toEqual([]);
    expect(moved.problems.map(({ line }) => line)).toEqual([2, 3]);
    const ragged = await load([HEADER, 'A,,m,,,,', 'B,,m,,,,,'].join('\n'));
    expect(ragged.rows.map(({ code }) => code)).toEqual(['A']);
  });

  test('reports an unclosed quote on the line where it opens, not at the end of the file', async () => {
    const { rows, problems } = await load('code,influencer_handle\nA,m\n"B,m\nC,m\nD,m\n');
    expect(rows.map(({ code }) => code)).toEqual(['A']);
    expect(problems).toMatchObject([{ line: 3, reason: expect.stringContaining('never closed') }]);
  });

  test('reports an unknown column', async () => {
    const { problems } = await load('code,influencer_handle,valid_form\nA,m,2026-01-01');
    expect(problems).toMatchObject([{ line: 1, column: 'valid_form' }]);
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
    ).toMatchObject({
      codes: 0,
      problems: [],
    });
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
