import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { listRejectedCauses } from '../../src/reports/files/list-rejected.ts';
import { setup } from '../support/setup.ts';
import { seedRuns } from './seed.ts';

it('a cause counts rows and files, except for files that are still being read, and shows the reason of its first row', async () => {
  const { db } = await setup();
  const { runId } = await seedRuns(db);
  const { rows } = await sql<{ id: string }>`
    select source_file_id as id from intake.source_files order by state = 'reading', source_file_id`.execute(
    db,
  );
  const [first, second, third, reading] = rows.map(({ id }) => id);
  await sql`
    insert into intake.rejected_rows (source_file_id, line_no, record_no, code, row_count, reason, help, run_id)
    values (${first}, 10, 9, 'bad_time', 3, 'later', 'later', ${runId}), (${first}, 5, 4, 'bad_time', 2, 'first', 'of all', ${runId}),
      (${second}, 2, 1, 'bad_time', 1, 'another file', '', ${runId}), (${third}, 2, 1, 'bad_time', 1, 'held', '', ${runId}),
      (${reading}, 2, 1, 'bad_time', 9, 'not yet', '', ${runId})`.execute(db);
  const causes = await listRejectedCauses(db);
  expect(causes.map(({ code }) => code)).toEqual(['bad_time', 'bad_money']);
  expect(causes[0]).toEqual({
    code: 'bad_time',
    reason: 'first',
    help: 'of all',
    rows: 7,
    orderRows: 7,
    files: 3,
    since: expect.any(Date),
  });
  expect(await listRejectedCauses(db, { file: '2026-03', code: 'bad_time' })).toMatchObject([
    { rows: 5, files: 1 },
  ]);
});
