import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { formatMoney } from '../../src/core/money.ts';
import { moneyText } from '../../src/db/money-text.ts';
import { setup } from '../support/setup.ts';

test('SQL writes an amount with the decimals of its currency, as everything else does', async () => {
  const { db } = await setup();
  const amounts = ['0.0000', '15000.0000', '10.5000', '-10.5000', '12.3450', '0.0700', '1234567.8901'];
  for (const currency of ['EUR', 'JPY', 'KWD', 'HUF', 'XXX'])
    for (const amount of amounts) {
      const { rows } = await sql<{ text: string }>`
        select ${moneyText(sql`a`, sql`c`)} as text from (select ${amount}::numeric(18,4) as a, ${currency}::text as c) v`.execute(
        db,
      );
      expect(rows[0]?.text).toBe(formatMoney(amount, currency).replaceAll(',', ''));
    }
});
