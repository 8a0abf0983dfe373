import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { startS3Server } from '../support/s3-server.ts';
import { HEADER, manyRows, openWorkshop, toCsv, type Workshop } from './workshop.ts';

const FIRST_DAY_MS = Date.parse('2026-04-01T06:00:00Z');
const HOUR_MS = 3_600_000;

/** Writes files `000.csv` and up, which arrive one every six hours. */
function dropAll(shop: Workshop, files: readonly string[]): void {
  for (const [index, text] of files.entries()) {
    const name = nameOf(index);
    shop.drop(name, text);
    const at = new Date(FIRST_DAY_MS + 6 * index * HOUR_MS);
    utimesSync(join(shop.folder, 'exports', name), at, at);
  }
}

function nameOf(index: number): string {
  return `${String(index).padStart(3, '0')}.csv`;
}

/** A small file with orders of its own. */
function plain(index: number, count = 3): string {
  return toCsv(manyRows(count, `${index}-`));
}

/** Everything that reading leaves in the database, except for times, ids, and who read it. */
async function contentsOf({ db }: Workshop): Promise<unknown> {
  const file = sql`regexp_replace(f.uri, '^.*/', '')`;
  const without = (...names: readonly string[]) => sql`${[...names]}::text[]`;
  const { rows } = await sql`
    select 'file' as what, ${file} as name, (to_jsonb(f) - ${without('source_file_id', 'uri', 'first_seen_at', 'sealed_at', 'duplicate_of')})
        || jsonb_build_object('duplicate', (select regexp_replace(d.uri, '^.*/', '') from intake.source_files d where d.source_file_id = f.duplicate_of),
          'place', row_number() over (order by source_file_id)) as row
    from intake.source_files f
    union all
    select 'order', ${file}, (to_jsonb(o) - ${without('order_version_id', 'source_file_id', 'replaces', 'first_seen_at')})
        || jsonb_build_object('replaces', (select r.content_hash from intake.orders r where r.order_version_id = o.replaces),
          'place', row_number() over (order by order_version_id))
    from intake.orders o join intake.source_files f using (source_file_id)
    union all
    select 'statistics', ${file}, to_jsonb(s) - ${without('source_file_id', 'checked_at')}
    from intake.file_statistics s join intake.source_files f using (source_file_id)
    union all
    select 'rejected', ${file}, to_jsonb(r) - ${without('source_file_id', 'rejected_row_id', 'first_seen_at')}
    from intake.rejected_rows r join intake.source_files f using (source_file_id)
    union all
    select 'finding', ${file}, to_jsonb(g) - ${without('source_file_id', 'finding_id', 'found_at')}
    from intake.check_findings g join intake.source_files f using (source_file_id)
    union all
    select 'unchanged', ${file}, '{}' from intake.unchanged_orders u join intake.source_files f using (source_file_id)
    order by 1, 2, 3`.execute(db);
  return JSON.parse(JSON.stringify(rows).replaceAll(/file:[^"]*\/exports\//g, 'exports/'));
}

/** Numbers of files that were sealed by one transaction each, in the order of the files. */
async function commitsOf({ db }: Workshop): Promise<readonly number[]> {
  const { rows } = await sql<{ files: number }>`
    select count(*)::int as files from intake.source_files where state = 'sealed'
    group by xmin::text order by min(source_file_id)`.execute(db);
  return rows.map(({ files }) => files);
}

async function readBothWays(files: readonly string[]) {
  const [together, alone] = [await openWorkshop(), await openWorkshop()];
  for (const shop of [together, alone]) dropAll(shop, files);
  const ended = await together.run();
  // Files that are requested by name are read one by one.
  const expected = await alone.run('--file', '.csv');
  expect(ended.exitCode).toBe(expected.exitCode);
  expect(ended.finished?.counts).toEqual(expected.finished?.counts);
  expect(await contentsOf(together)).toEqual(await contentsOf(alone));
  expect(new Set(await commitsOf(alone))).toEqual(new Set([1]));
  return { commits: await commitsOf(together), finished: ended.finished, shop: together };
}

it('small files are read up to 16 together, and leave the same in the database as one by one', async () => {
  const { commits, finished } = await readBothWays(Array.from({ length: 20 }, (_, index) => plain(index)));
  expect(commits).toEqual([16, 4]);
  expect(finished?.counts).toMatchObject({ files: 20, rows: 60, orders: 60 });
});

it.each<{ what: string; file: string }>([
  {
    what: 'repeats an order of the file before it',
    file: `${plain(1)}0-1,9.99,EUR,MIA10,2026-04-10T11:11:26Z,paid\n`,
  },
  {
    what: 'has an order of the file before it unchanged',
    file: `${plain(0)}1-9,9.99,EUR,,2026-04-10T11:11:26Z,paid\n`,
  },
  { what: 'has the same content as the file before it', file: plain(0) },
  {
    what: 'states an order twice, differently',
    file: `${plain(1)}1-1,7.77,EUR,,2026-04-10T11:11:26Z,paid\n`,
  },
  { what: 'has a row that is rejected', file: `${plain(1)}1-9,many,EUR,,2026-04-10T11:11:26Z,paid\n` },
  { what: 'has no rows', file: `${HEADER}\n` },
  { what: 'is empty', file: '' },
  { what: 'has the header of another format', file: 'a,b,c\n1,2,3\n' },
  { what: 'has only cancelled orders', file: toCsv(manyRows(30, '1-')).replaceAll(',paid', ',cancelled') },
  { what: 'is too large to be read together', file: plain(1, 2_000) },
  { what: 'ends within a quote', file: `${plain(1)}1-9,"9.99,EUR\n` },
])('a file that $what has the same result between small files as alone', async ({ file }) => {
  const files = [plain(0), file, plain(2), plain(3), plain(4)];
  await readBothWays(files);
});

it('a file that is unusual compared with the files before it is found as if it had been read alone', async () => {
  // A week of files, and one whose orders have another currency, which is judged by those before it.
  const files = Array.from({ length: 44 }, (_, index) =>
    index === 37 ? plain(index, 40).replaceAll(',EUR,', ',USD,') : plain(index, 40 + (index % 3)),
  );
  const { shop } = await readBothWays(files);
  const { rows } = await sql<{ name: string }>`
    select distinct right(f.uri, 7) as name from intake.check_findings g join intake.source_files f using (source_file_id)`.execute(
    shop.db,
  );
  expect(rows).toEqual([{ name: nameOf(37) }]);
});

it('after files that could not be read together, the next ones are read one by one before that is tried again', async () => {
  // The known order is seen only in the database.
  const shop = await openWorkshop();
  shop.drop('000.csv', plain(0));
  await shop.run();
  dropAll(shop, [plain(0), plain(1), toCsv([...manyRows(2, '2-'), ...manyRows(1, '0-')]), ...rest(3, 40)]);
  await shop.run();
  expect(await commitsOf(shop)).toEqual([1, ...Array<number>(16).fill(1), 16, 7]);
});

function rest(from: number, to: number): readonly string[] {
  return Array.from({ length: to - from }, (_, index) => plain(from + index));
}

const FLOW = `
sources:
  shop: {uri: "s3://acme-exports/orders/", layout: generic, order_platform: shopify, time_zone: UTC, force_path_style: true}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv}
`;

it('an object that is unavailable is held, and the small ones around it are read together', async () => {
  const s3 = await startS3Server();
  onTestFinished(() => s3.close());
  const shop = await openWorkshop({ flow: FLOW, env: s3.env });
  for (let index = 0; index < 40; index += 1) s3.put('acme-exports', `orders/${nameOf(index)}`, plain(index));
  s3.fail({
    operation: 'GetObject',
    key: `orders/${nameOf(20)}`,
    kind: 'error',
    status: 403,
    code: 'AccessDenied',
  });
  const { exitCode, finished } = await shop.run();
  expect(exitCode).toBe(3);
  expect(finished?.counts).toMatchObject({ files: 39, orders: 117 });
  // One file is read alone, to see whether the store still answers.
  expect(await commitsOf(shop)).toEqual([16, 4, 1, 16, 2]);
});
