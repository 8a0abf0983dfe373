import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { excludeRemovedSources } from '../../../../jobs/attribute-orders/decide/removed-sources.ts';
import { inTransaction } from '../../../../src/db/in-transaction.ts';
import { order } from '../../../intake/story.ts';
import { rowsRead } from '../../../support/rows-read.ts';
import { makeTestFolder, setup } from '../../../support/setup.ts';
import { bring, openContext } from './story.ts';

const ORDERS = 500;

it('a run after a first load does not read the decisions of that load, whose statistics are from before it posted', async () => {
  const { db } = await setup();
  const path = join(makeTestFolder(), 'codes.csv');
  const context = await openContext(db, { path, writeCodes: (text) => writeFileSync(path, text) });
  await context.read({
    orders: Array.from({ length: ORDERS }, (_, index) => order(String(index), { codes: ['MIRA'] })),
  });
  await context.attribute({ codes: 'MIRA,,mira,D1,,,' });
  await sql`analyze intake.attributions`.execute(db);
  expect(await context.prepare()).toMatchObject({ created: ORDERS });
  await bring(context, 'accepted');

  const { of } = await rowsRead(db, (trx) =>
    inTransaction(trx, (same) =>
      excludeRemovedSources(same, { job: context.job, sources: [context.source] }),
    ),
  );
  expect(of('intake.attributions')).toBeLessThan(10);
});
