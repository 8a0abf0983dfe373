import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { suitLargeStatements } from '../../src/db/large-statements.ts';
import { openShop, order } from '../intake/story.ts';
import { setup } from '../support/setup.ts';

/** As many counts as sealing a file takes, which make it worthwhile. */
const COUNTS = Array.from({ length: 40 }, (_, at) => sql`count(*) filter (where total > ${sql.lit(at)})`);

it.each([
  [100_000, 'shared by several processes of the server, although there are no statistics yet', true],
  [99_999, 'left to one process', false],
])('a statement that reads %i rows is %s', async (rows, _, isParallel) => {
  const { db } = await setup();
  const shop = await openShop(db);
  await shop.read({ orders: Array.from({ length: 20_000 }, (_, at) => order(`o${at}`)) });
  const plan = await db.transaction().execute(async (trx) => {
    await suitLargeStatements(trx, { rows });
    const explained = await sql<{ 'QUERY PLAN': string }>`
      explain select ${sql.join(COUNTS)} from intake.orders where source_file_id = 1`.execute(trx);
    return explained.rows.map((row) => row['QUERY PLAN']).join('\n');
  });
  expect(plan.includes('Workers Planned')).toBe(isParallel);
});
