import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listHeldGroups } from '../../src/reports/held/held-orders.ts';
import { answerOrder } from '../../src/reports/lives/answer-order.ts';
import { explainOrder } from '../../src/reports/lives/explain-order.ts';
import { order, useDatabase } from '../intake/story.ts';
import { bring, openContext } from '../jobs/attribute-orders/decide/story.ts';
import { makeTestFolder } from '../support/setup.ts';

const database = useDatabase('a Postgres server');

test.each([
  ['total_less_refunds', null, '60.0000', 'The refund of 40.00 EUR is already subtracted.'],
  ['total', '40.0000', '100.0000', 'Refunded by now: 40.00 EUR.'],
] as const)(
  'a posted order that is held was refunded once, whatever revenue is: %s',
  async (revenue, sentRefunded, sentAmount, said) => {
    const path = join(makeTestFolder(), 'codes.csv');
    const context = await openContext(database(), { path, writeCodes: (text) => writeFileSync(path, text) });
    const stated = { codes: ['MIRA'], total: '100.00', subtotal: '90.00', refunded: '40.00' };
    const rules = { codes: 'MIRA,,mira,D1,,,', revenue, credited: ['paid'] };
    await context.read({ orders: [order(revenue, stated)] });
    await context.attribute(rules);
    await context.prepare();
    await bring(context, 'accepted');
    await context.read({ orders: [order(revenue, { ...stated, status: 'mystery' })] });
    await context.attribute(rules);
    await context.prepare();
    expect(await listHeldGroups(context.db, { source: context.source })).toMatchObject([
      { reason: 'unknown_status', sent: 1, sentAmount, sentRefunded },
    ]);
    const [life] = await explainOrder(context.db, { source: context.source, order: revenue });
    expect(life && answerOrder(life).text).toContain(said);
  },
);
