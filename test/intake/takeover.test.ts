import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { stageBatch } from '../../src/intake/orders/create-stager.ts';
import { setup } from '../support/setup.ts';
import { countBlocked, waitFor } from '../support/wait-for.ts';
import { open, openShop, order, rejection, toBatch } from './story.ts';

test('a takeover of a file removes what the old reader is staging at the same time', async () => {
  const { db } = await setup();
  const shop = await openShop(db);
  const uri = 'file:///orders.csv';
  const reader = randomUUID();
  const old = { sourceFileId: await open({ ...shop, uri, reader }), reader };
  const batch = toBatch({ orders: [order('1')], rejected: [rejection()] });

  let takeover: Promise<string> | undefined;
  await db.transaction().execute(async (trx) => {
    expect(await stageBatch(trx, { ...old, ...shop, batch, sums: false })).toMatchObject({ new: 1 });
    takeover = open({ ...shop, uri, reader: randomUUID() });
    // The query runs outside the transaction: within one, Postgres keeps showing the connections of the first
    // query.
    await waitFor(async () => (await countBlocked(db)) === 1);
  });

  expect(await takeover).toBe(old.sourceFileId);
  const { rows } = await sql`
    select order_id from intake.orders union all select code from intake.rejected_rows`.execute(db);
  expect(rows).toEqual([]);
});
