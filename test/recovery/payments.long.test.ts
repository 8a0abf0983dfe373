import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openPaymentShop } from '../money/payments/payment-shop.ts';
import { waitFor } from '../support/wait-for.ts';

it('two processes that propose at the same time make one proposal, and one killed after its claim leaves a file that is written again, the same', async () => {
  const shop = await openPaymentShop();
  const propose = () => shop.start('payments', 'propose', '2026-04', '--reason', 'month end');
  await Promise.all([propose().ended, propose().ended, propose().ended]);
  const { rows } = await sql<{ payments: number; proposals: number; claims: number }>`
    select (select count(*) from ops.payments)::integer as payments, (select count(*) from ops.payment_proposals)::integer as proposals,
      (select count(*) from ops.payment_items)::integer as claims`.execute(shop.db);
  expect(rows).toEqual([{ payments: 2, proposals: 1, claims: 3 }]);
  const [{ id = '' } = {}] = (
    await sql<{ id: string }>`select proposal_id as id from ops.payment_proposals`.execute(shop.db)
  ).rows;

  const killed = shop.start('payments', 'export', id, '--format', 'pain.001', '--on', '2026-05-04');
  await waitFor(async () => {
    const { rows: exported } = await sql`select from ops.payments where state = 'exported'`.execute(shop.db);
    return exported.length === 2;
  });
  killed.kill('SIGKILL');
  await killed.ended;
  const write = () => shop.cli('payments', 'export', id, '--format', 'pain.001', '--on', '2026-05-04');
  const [first, second] = [await write(), await write()];
  expect(first.stdout).toBe(second.stdout);
  expect(first.stdout.match(/<EndToEndId>/g)).toHaveLength(2);
  expect((await shop.cli('payments', 'propose', '2026-04', '--reason', 'again')).stdout).toContain(
    'There is nothing to pay.',
  );
});
