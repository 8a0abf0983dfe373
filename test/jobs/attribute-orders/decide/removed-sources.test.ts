import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { excludeRemovedSources } from '../../../../jobs/attribute-orders/decide/decide-orders.ts';
import { inTransaction } from '../../../../src/db/in-transaction.ts';
import { openShop, order } from '../../../intake/story.ts';
import { rowsRead } from '../../../support/rows-read.ts';
import { makeTestFolder, setup } from '../../../support/setup.ts';
import { adjustments, bring, openContext } from './story.ts';

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

it('what was sent for a source that was renamed follows the state of the order under the new name, if that is another', async () => {
  const { db } = await setup();
  const path = join(makeTestFolder(), 'codes.csv');
  const writeCodes = (text: string) => writeFileSync(path, text);
  const [before, now] = [await openShop(db), await openShop(db)];
  const open = (shop: typeof now) =>
    openContext(db, { ...{ path, writeCodes, shops: [shop], job: before.source }, platforms: ['shopify'] });
  const first = await open(before);
  const codes = 'MIRA,,mira,D1,,,';
  const mira = (id: string, given = {}) => order(id, { codes: ['MIRA'], ...given });
  await before.read({ orders: ['1', '2', '3', '4'].map((id) => mira(id)) });
  await first.attribute({ codes });
  await first.prepare();
  await bring(first, 'accepted');

  const second = await open(now);
  await now.read({
    orders: [
      mira('1', { refunded: '4.00' }),
      mira('2', { total: '7.00' }),
      mira('3', { currency: 'USD' }),
      mira('4'),
    ],
  });
  await second.attribute({ codes });
  await second.prepare();
  const { rows } = await sql`
    select a.order_id, case o.source when ${now.source} then 'now' else 'before' end as states, o.order_id as of, a.entry_id is not null as sent
    from intake.attributions a join intake.orders o using (order_version_id)
    where a.job = ${first.job} and a.source = ${before.source} order by 1`.execute(db);
  expect(rows).toEqual([
    { order_id: '1', states: 'now', of: '1', sent: true },
    { order_id: '2', states: 'now', of: '2', sent: true },
    { order_id: '3', states: 'now', of: '3', sent: true },
    { order_id: '4', states: 'before', of: '4', sent: true },
  ]);
  expect((await adjustments(first)).toSorted()).toEqual(['2: changed 10 → 7', '3: held 10 → -']);
});
