import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { ORDER_COLUMNS } from '../../../src/core/order.ts';
import { hashMeaning } from '../../../src/intake/orders/map/build-order.ts';
import { STORED_COLUMNS, toOrderRow } from '../../../src/intake/orders/order-columns.ts';
import { setup } from '../../support/setup.ts';
import { order } from '../story.ts';

/** Fields of an order that are not part of its meaning. */
const BOOKKEEPING = [
  'changedAt',
  'contentHash',
  'customerKey',
  'items',
  'line',
  'lines',
  'note',
  'record',
  'rowCount',
];

it('every field of an order is in the list of columns, so that neither staging nor the digest omits it: add it there', () => {
  const listed = ORDER_COLUMNS.map(({ field }) => field);
  expect([...listed, ...BOOKKEEPING].toSorted()).toEqual(Object.keys(order('1')).toSorted());
});

it('every column in the list is a column of intake.orders with the same type', async () => {
  const { db } = await setup();
  const { rows } = await sql<{ column: string; type: string }>`
    select attname as column, replace(format_type(atttypid, atttypmod), 'timestamp with time zone', 'timestamptz') as type
    from pg_attribute where attrelid = 'intake.orders'::regclass and attnum > 0 and not attisdropped`.execute(
    db,
  );
  const known = rows.map(({ column, type }) => `${column} ${type}`);
  expect(known).toEqual(expect.arrayContaining(ORDER_COLUMNS.map(({ column, type }) => `${column} ${type}`)));
});

it('every column in the list is part of the digest and is sent', () => {
  const sample = order('1');
  for (const { field, type } of ORDER_COLUMNS) {
    const other = type === 'text[]' ? ['other'] : type.startsWith('numeric') ? '7.77' : 'other';
    expect(hashMeaning({ ...sample, [field]: other }), field).not.toBe(hashMeaning(sample));
    const row = toOrderRow({ ...sample, [field]: other });
    for (const [at, column] of STORED_COLUMNS.entries())
      if (column.field === field)
        expect(row[at], column.column).toBe(type === 'text[]' ? '{"other"}' : other);
  }
});
