import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openWorkshop, type Workshop } from '../runs/workshop.ts';

const IBANS = {
  mia: 'DE89370400440532013000',
  ben: 'NL91ABNA0417164300',
  zoe: 'FR1420041010050500013M02606',
};
const flowOf = (payments: string) => `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
statements:
  terms: ./terms.csv
  return_window_days: 0
  payments: {${payments}}
`;
const PAYMENTS = `from: 2026-04, payees: ./payees.csv, minimum: {EUR: 5}, name: Saffi & Söhne, iban: ${IBANS.ben}`;
const CODES = `code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to
MIA10,4819,mia.test,DEALMIA,,,
BEN15,4819,ben.test,DEALBEN,,,
ZOE20,4819,zoe.test,DEALZOE,,,
`;
const HEADER = 'order_id,order_revenue,currency,discount_codes,placed_at,status';
const APRIL = `${HEADER}
1,100.00,EUR,MIA10,2026-04-10T10:00:00Z,paid
2,50.00,USD,MIA10,2026-04-10T10:01:00Z,paid
3,80.00,EUR,BEN15,2026-04-10T10:02:00Z,paid
4,30.00,EUR,ZOE20,2026-04-10T10:03:00Z,paid
`;
const MAY = `${HEADER}
5,40.00,EUR,ZOE20,2026-05-10T10:00:00Z,paid
6,70.00,EUR,MIA10,2026-05-10T10:01:00Z,paid
`;
const PAYEES = `creator;name;iban;bic;country;currency
@Mia.Test;Mia Müller;${IBANS.mia.replace(/(.{4})/g, '$1 ')};COBADEFFXXX;de;eur
DEALBEN;=Ben;${IBANS.ben};;;EUR
zoe.test;Zoë 日本;${IBANS.zoe};;;EUR
`;

/** A shop whose statement of April is closed. */
async function openShop(payments = PAYMENTS): Promise<Workshop> {
  const shop = await openWorkshop({ flow: flowOf(payments) });
  shop.write('codes.csv', CODES);
  shop.write(
    'terms.csv',
    'deal_id,code,rate,fixed_fee,currency,valid_from\nDEALMIA,,10,,,\nDEALBEN,,10,,,\nDEALZOE,,10,,,\n,BEN15,,7,EUR,2026-04-01\n',
  );
  shop.write('payees.csv', PAYEES);
  shop.drop('1-april.csv', APRIL);
  await shop.run();
  await close(shop, '2026-04');
  return shop;
}

async function close(shop: Workshop, month: string): Promise<void> {
  expect((await shop.cli('statement', 'close', '--month', month, '--reason', 'month end')).exitCode).toBe(0);
}

const propose = (shop: Workshop, month: string, ...more: string[]) =>
  shop.cli('payments', 'propose', month, '--reason', 'month end', ...more);

/** What a command says on standard error, however it is wrapped. */
const said = ({ stderr }: { readonly stderr: string }): string => stderr.replace(/\s+/g, ' ');

/** What each creator has in payments of each state, and what nothing has claimed. */
async function totals(shop: Workshop): Promise<Record<string, string>> {
  const { rows } = await sql<{ what: string; amount: string }>`
    select creator || ' ' || currency || ' ' || state as what, sum(amount)::numeric(18,2)::text as amount from ops.payments group by 1 order by 1`.execute(
    shop.db,
  );
  return Object.fromEntries(rows.map(({ what, amount }) => [what, amount]));
}

describe('payments of closed statements', () => {
  it('claim each amount once, carry forward what they leave, and are the same for the bank however often they are exported', async () => {
    const shop = await openShop();
    const before = await shop.cli('accruals', '2026-04', '--format', 'csv');
    expect(before.stdout).toContain('2026-04,closed,2026-04,4819,EUR,0,21.0000\r\n');
    const first = await propose(shop, '2026-04');
    expect(first.exitCode).toBe(3);
    // The fee of Ben's code is paid with the orders of Ben's deal: payees.csv names the deal, and the code has an owner.
    expect(await totals(shop)).toEqual({ 'dealben EUR proposed': '15.00', 'mia.test EUR proposed': '10.00' });
    expect(first.stdout).toMatch(/No bank data, carried forward: 5\.00 USD/);
    expect(first.stdout).toMatch(/Below the minimum, carried forward: 3\.00 EUR/);
    expect(`${first.stdout}${first.stderr}`).not.toContain(IBANS.mia);
    expect(first.stdout).toContain('…3000');
    expect((await propose(shop, '2026-04')).stdout).toContain('There is nothing to pay.');
    const dry = await shop.cli('payments', 'export', '1', '--format', 'csv', '--dry-run');
    expect(dry.stdout).toMatch(/Dry run.*2 payments would be exported/s);

    const exported = await shop.cli('payments', 'export', '1', '--format', 'csv');
    expect(exported.stdout).toMatch(/^end_to_end_id,name,iban,bic,country,amount,currency,text\r?\n/);
    expect(exported.stdout).toMatch(
      /IS-[0-9A-F]{26},'=Ben,NL91ABNA0417164300,,,15\.00,EUR,"Earnings until 2026-04, IS-/,
    );
    const again = await shop.cli('payments', 'export', '1', '--format', 'csv');
    expect(again.stdout).toBe(exported.stdout);
    // A payment is in files of one kind only.
    const other = await shop.cli('payments', 'export', '1', '--format', 'pain.001');
    expect([other.exitCode, said(other)]).toEqual([2, expect.stringMatching(/2 exported as csv/)]);
    // Another account than in the first file is refused, and named without the account.
    shop.write('payees.csv', PAYEES.replace(/DE89.*?;/, `${IBANS.zoe};`));
    const moved = await shop.cli('payments', 'export', '1', '--format', 'csv');
    expect([moved.exitCode, said(moved)]).toEqual([
      2,
      expect.stringMatching(/account has changed.*mia\.test/s),
    ]);
    expect(moved.stderr).not.toContain(IBANS.zoe);
    shop.write('payees.csv', PAYEES);

    // It may be at the bank, so it is cancelled only by somebody who says that it is not.
    const refused = await shop.cli('payments', 'cancel', '1', '--reason', 'wrong');
    expect([refused.exitCode, said(refused)]).toEqual([
      2,
      expect.stringMatching(/may already be at the bank/),
    ]);
    expect((await shop.cli('payments', 'cancel', '1', '--reason', 'stopped', '--not-at-bank')).exitCode).toBe(
      0,
    );
    const later = await propose(shop, '2026-04');
    expect(later.stdout).toMatch(/To pay: 15\.00 EUR/);
    const { rows } = await sql<{ references: number }>`
      select count(distinct reference)::integer as references from ops.payments`.execute(shop.db);
    expect(rows[0]?.references).toBe(3);

    // In May, Zoe reaches the minimum with what April carried forward; dollars were paid by hand, and are never proposed.
    shop.drop('2-may.csv', MAY);
    await shop.run();
    await close(shop, '2026-05');
    expect(said(await propose(shop, '2026-04'))).toMatch(/statement of 2026-05 is closed, too/);
    const settled = await shop.cli(
      ...['payments', 'settle', '2026-05', '--creator', '@MIA.test', '--currency', 'usd'],
      ...['--on', '2026-06-02', '--reason', 'by card'],
    );
    expect(settled.stdout).toContain('5.00 USD to mia.test counts as paid on 2026-06-02.');
    const may = await propose(shop, '2026-05');
    expect(may.exitCode).toBe(0);
    expect(may.stdout).toMatch(/zoe\.test +7\.00 EUR +…2606 +2026-04, 2026-05/);
    expect(await totals(shop)).toEqual({
      ...{
        'dealben EUR cancelled': '15.00',
        'dealben EUR proposed': '15.00',
        'mia.test EUR exported': '10.00',
      },
      ...{ 'mia.test EUR proposed': '7.00', 'mia.test USD paid': '5.00', 'zoe.test EUR proposed': '7.00' },
    });
    // At the end of May nothing was paid: the dollars went out in June, and Mia and Ben are in payments that the bank has not booked.
    expect(
      (await shop.cli('accruals', '2026-05', '--format', 'csv')).stdout.trim().split('\r\n').slice(1),
    ).toEqual([
      '2026-05,in_payment,2026-04,,EUR,0,7.0000',
      '2026-05,in_payment,2026-04,4819,EUR,0,21.0000',
      '2026-05,in_payment,2026-05,4819,EUR,0,11.0000',
      '2026-05,in_payment,2026-04,4819,USD,0,5.0000',
    ]);
    // The index refuses what the code did not see: the amount of a live payment in another one.
    await expect(
      sql`update ops.payments set state = 'proposed', exported_as = null, exported_at = null, exported_by = null, account_mark = null,
        settled_by = null, settle_reason = null where state = 'cancelled'`.execute(shop.db),
    ).rejects.toThrow(/payment_items_claimed_once/);
  });

  it('are proposed only for statements that are closed and that the tool is to pay', async () => {
    const shop = await openShop('payees: ./payees.csv');
    const unknown = await propose(shop, '2026-04');
    expect([unknown.exitCode, said(unknown)]).toEqual([
      2,
      expect.stringMatching(/not known which statements were paid before.*from:\s+2026-04/s),
    ]);
    const config = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
    shop.write('pipeline.yaml', config.replace('payments: {', 'payments: {from: 2026-05, '));
    expect(said(await propose(shop, '2026-04'))).toMatch(/before 2026-05 were paid elsewhere/);
    expect(said(await propose(shop, '2026-05'))).toMatch(/statement of 2026-05 is not closed/);
  });
});
