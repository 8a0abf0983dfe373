import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../../src/db/in-transaction.ts';
import { findUnpaid } from '../../../src/money/payments/find-unpaid.ts';
import { matchBookings } from '../../../src/money/payments/match-bookings.ts';
import { parseBankFile } from '../../../src/money/payments/parse-bank-file.ts';
import type { Workshop } from '../../runs/workshop.ts';
import { CODES, closeMonth, IBANS, MAY, openPaymentShop, PAYEES } from './payment-shop.ts';

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
    const shop = await openPaymentShop();
    const before = await shop.cli('accruals', '2026-04', '--format', 'csv');
    expect(before.stdout).toContain('2026-04,closed,2026-04,4819,EUR,0,21.0000\r\n');
    // A fee of a code is paid to the owner to whom it was closed. If the line names nobody, then to the only owner it ever had.
    const payees = [
      { creator: 'dealben', name: 'Ben', iban: IBANS.ben, bic: null, country: null, currency: 'EUR' },
    ];
    const ofFee = async () => {
      const unpaid = await findUnpaid(shop.db, { month: '2026-04', from: '2026-04', minimum: {}, payees });
      return unpaid
        .filter(({ items }) => items.some(({ subject }) => subject.startsWith('fee:code')))
        .map(({ creator, amount, becomes }) => `${creator} ${amount} ${becomes}`);
    };
    const moveCode = (handle: string, dealId: string) =>
      sql`update intake.codes set influencer_handle = ${handle}, handle_folded = ${handle}, deal_id = ${dealId} where code = 'BEN15'`.execute(
        shop.db,
      );
    const nameOwner = (handle: string | null, brandId: string | null = null) =>
      sql`update ops.statement_lines set influencer_handle = ${handle}, brand_id = ${brandId} where subject like 'fee:code%'`.execute(
        shop.db,
      );
    expect(await ofFee()).toEqual(['dealben 15.0000 pay']);
    await moveCode('mia.test', 'DEALMIA');
    expect(await ofFee()).toEqual(['ben.test 7.0000 no_bank_data']);
    await sql`alter table ops.statement_lines disable trigger statement_lines_are_closed`.execute(shop.db);
    await nameOwner(null);
    expect(await ofFee()).toEqual(['fee:code ben15:2026-04-01 7.0000 no_bank_data']);
    await moveCode('ben.test', 'DEALBEN');
    expect(await ofFee()).toEqual(['dealben 15.0000 pay']);
    await nameOwner('ben.test');
    const first = await propose(shop, '2026-04');
    expect(first.exitCode).toBe(3);
    // The fee of Ben's code is paid with the orders of Ben's deal: payees.csv names the deal, and the code has an owner.
    expect(await totals(shop)).toEqual({ 'dealben EUR proposed': '15.00', 'mia.test EUR proposed': '10.00' });
    expect(first.stdout).toMatch(/No bank data, carried forward \(\d+\): 5\.00 USD/);
    expect(first.stdout).toMatch(/Below the minimum, carried forward \(\d+\): 3\.00 EUR/);
    expect(`${first.stdout}${first.stderr}`).not.toContain(IBANS.mia);
    expect(first.stdout).toContain('…3000');
    expect((await propose(shop, '2026-04')).stdout).toContain('There is nothing to pay.');
    const dry = await shop.cli('payments', 'export', '1', '--format', 'csv', '--dry-run');
    expect(dry.stdout).toMatch(/Dry run.*2 payments would be exported/s);

    // Another account than was proposed is refused, and named without the account.
    shop.write('payees.csv', PAYEES.replace(/DE89.*?;/, `${IBANS.zoe};`));
    const moved = await shop.cli('payments', 'export', '1', '--format', 'csv');
    expect([moved.exitCode, said(moved)]).toEqual([
      2,
      expect.stringMatching(/account has changed.*mia\.test/s),
    ]);
    expect(moved.stderr).not.toContain(IBANS.zoe);
    shop.write('payees.csv', PAYEES);
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
    expect(later.stdout).toMatch(/To pay \(\d+\): 15\.00 EUR/);
    const { rows } = await sql<{ references: number }>`
      select count(distinct reference)::integer as references from ops.payments`.execute(shop.db);
    expect(rows[0]?.references).toBe(3);

    // In May, Zoe reaches the minimum with what April carried forward; dollars were paid by hand, and are never proposed. An
    // order of Mia's was credited by her handle alone.
    shop.write('codes.csv', `${CODES}EVE5,4819,mia.test,DEALMIA,,,\n`);
    shop.write('terms.csv', `${readFileSync(join(shop.folder, 'terms.csv'), 'utf8')},EVE5,5,,,\n`);
    shop.drop('2-may.csv', `${MAY}7,60.00,EUR,EVE5,2026-05-10T10:02:00Z,paid\n`);
    await shop.run();
    await sql`
      update ledger.entries
      set deal_id = null, body = replace(body, '"deal_id":"DEALMIA"', '"influencer_handle":"mia.test"')
      where order_id = '7'`.execute(shop.db);
    await closeMonth(shop, '2026-05');
    expect(said(await propose(shop, '2026-04'))).toMatch(/statement of 2026-05 is closed, too/);
    const settle = (...more: string[]) =>
      shop.cli(
        ...['payments', 'settle', '2026-05', '--creator', '@MIA.test', '--currency', 'usd'],
        ...['--on', '2026-06-02', '--reason', 'by card', ...more],
      );
    expect((await settle('--dry-run', '--json')).stdout).toContain('"proposal_id":null');
    const settled = await settle();
    expect(settled.stdout).toContain('5.00 USD to mia.test counts as paid on 2026-06-02.');
    const may = await propose(shop, '2026-05');
    expect(may.exitCode).toBe(3);
    expect(may.stdout).toMatch(
      /Not payable, because the orders name no deal; carried forward \(\d+\): 3\.00 EUR/,
    );
    expect(may.stdout).toMatch(/zoe\.test +7\.00 EUR +…2606 +2026-04, 2026-05/);
    expect(await totals(shop)).toEqual({
      'dealben EUR cancelled': '15.00',
      'dealben EUR proposed': '15.00',
      'mia.test EUR exported': '10.00',
      'mia.test EUR proposed': '7.00',
      'mia.test USD paid': '5.00',
      'zoe.test EUR proposed': '7.00',
    });
    // At the end of May nothing was paid: the dollars went out in June, and Mia and Ben are in payments that the bank has not booked.
    expect(
      (await shop.cli('accruals', '2026-05', '--format', 'csv')).stdout.trim().split('\r\n').slice(1),
    ).toEqual([
      '2026-05,closed,2026-05,4819,EUR,0,3.0000',
      '2026-05,in_payment,2026-04,,EUR,0,7.0000',
      '2026-05,in_payment,2026-04,4819,EUR,0,21.0000',
      '2026-05,in_payment,2026-05,4819,EUR,0,11.0000',
      '2026-05,in_payment,2026-04,4819,USD,0,5.0000',
    ]);
    const noDeal = ['--creator', 'mia.test without a deal', '--currency', 'EUR', '--on', '2026-06-02'];
    expect((await shop.cli('payments', 'settle', '2026-05', ...noDeal, '--reason', 'cash')).stdout).toContain(
      '3.00 EUR to mia.test without a deal counts as paid on 2026-06-02.',
    );
    // The order that was settled is cancelled, so Mia's deal earns that much less. Whose the next one is, nothing says.
    shop.drop(
      '3-june.csv',
      `${MAY.split('\n')[0]}
7,60.00,EUR,EVE5,2026-05-10T10:02:00Z,cancelled
8,100.00,EUR,MIA10,2026-06-10T10:00:00Z,paid
9,20.00,EUR,EVE5,2026-06-10T10:01:00Z,paid
`,
    );
    await shop.run();
    await sql`update ledger.entries set deal_id = null where order_id = '9'`.execute(shop.db);
    await sql`update intake.attributions set influencer_handle = null where order_id = '9'`.execute(shop.db);
    await closeMonth(shop, '2026-06');
    const june = (await propose(shop, '2026-06', '--dry-run')).stdout;
    expect(june).toMatch(/mia\.test +7\.00 EUR +…3000 +2026-06/);
    expect(june).toMatch(/order:\d+ without a deal +1\.00 EUR/);
    // It is paid in cash, and cancelled. Nobody is named of whom to take it back, so a person settles it.
    const nobody = /order:\d+ without a deal/.exec(june)?.[0] ?? '';
    const settleNobody = (month: string, ...more: string[]) =>
      shop.cli(
        ...['payments', 'settle', month, '--creator', nobody, '--currency', 'EUR'],
        ...['--on', '2026-07-02', '--reason', 'cash', ...more],
      );
    expect(said(await settleNobody('2026-06', '--owed'))).toMatch(
      /owes nothing: 1\.00 EUR is unpaid.*without --owed/,
    );
    expect((await settleNobody('2026-06')).exitCode).toBe(0);
    shop.drop(
      '4-july.csv',
      `${MAY.split('\n')[0]}\n9,20.00,EUR,EVE5,2026-06-10T10:01:00Z,cancelled\n10,50.00,EUR,MIA10,2026-07-10T10:00:00Z,paid\n`,
    );
    await shop.run();
    await closeMonth(shop, '2026-07');
    expect((await propose(shop, '2026-07', '--dry-run')).stdout).toMatch(
      /corrections prevail; carried forward \(\d+\): -1\.00 EUR/,
    );
    // Who means to record a payment does not waive a debt: nothing undoes that.
    const debt = await settleNobody('2026-07');
    expect([debt.exitCode, said(debt)]).toEqual([
      2,
      expect.stringMatching(
        /nothing to pay: with the corrections, order:\d+ without a deal owes 1\.00 EUR.*--owed/,
      ),
    ]);
    expect((await settleNobody('2026-07', '--owed')).stdout.replace(/\s+/g, ' ')).toContain(
      `What ${nobody} owes, 1.00 EUR, counts as settled on 2026-07-02.`,
    );
    // A debt is no payment: not in the audit, not in the list, not in what analysts add up.
    const { rows: audited } = await sql<{ summary: string }>`
      select summary from ops.audit where action = 'record_payment' order by audit_id desc limit 1`.execute(
      shop.db,
    );
    expect(audited[0]?.summary).toBe(
      `1.00 EUR that ${nobody} owed of 2026-07 and before are settled on 2026-07-02.`,
    );
    const listed = (await shop.cli('payments', '--state', 'paid')).stdout.replace(/ +/g, ' ');
    expect(listed).toContain('debt settled 1 -1.00 EUR');
    expect(listed).toContain('1.00 EUR owed, settled on 2026-07-02');
    const { rows: inBi } = await sql`
      select amount, sum(amount) over ()::numeric(18,2)::text as amounts, sum(paid_amount) over ()::numeric(18,2)::text as paid
      from bi.payments where influencer_handle = ${nobody} order by amount limit 1`.execute(shop.db);
    expect(inBi).toEqual([{ amount: '-1.0000', amounts: '0.00', paid: '1.00' }]);
    expect((await propose(shop, '2026-07', '--dry-run')).stdout).not.toContain(nobody);
    expect(said(await settleNobody('2026-07', '--owed'))).toMatch(/Nothing in EUR is open with this creator/);
    const of = (csv: string) => csv.split('\r\n').filter((row) => row.includes('closed,2026-07'));
    expect(of((await shop.cli('accruals', '2026-07', '--format', 'csv')).stdout)).toEqual([
      '2026-07,closed,2026-07,4819,EUR,0,5.0000',
    ]);
    // The fee is taken back from the creator to whom it was closed, in that brand, although the code is somebody else's by now.
    await nameOwner('ben.test', '4819');
    const codes = CODES.replace('BEN15,4819,ben.test,DEALBEN', 'BEN15,4819,mia.test,DEALMIA');
    shop.write('codes.csv', `${codes}BEN20,4819,ben.test,DEALBEN,,,\n`);
    shop.write('terms.csv', 'deal_id,rate\nDEALMIA,10\nDEALBEN,10\nDEALZOE,10\n');
    shop.drop('5-august.csv', `${MAY.split('\n')[0]}\n11,200.00,EUR,BEN20,2026-08-10T10:00:00Z,paid\n`);
    await shop.run();
    await closeMonth(shop, '2026-08');
    const { rows: taken } = await sql`
      select influencer_handle, brand_id, amount::text from ops.statement_lines where subject like 'fee:code%' and amount < 0`.execute(
      shop.db,
    );
    expect(taken).toEqual([{ influencer_handle: 'ben.test', brand_id: '4819', amount: '-7.0000' }]);
    expect((await propose(shop, '2026-08', '--dry-run', '--json')).stdout).toContain(
      '"creator":"dealben","currency":"EUR","amount":"13.0000","becomes":"pay"',
    );
    // The index refuses what the code did not see: the amount of a live payment in another one.
    await expect(
      sql`update ops.payments set state = 'proposed', exported_as = null, exported_at = null, exported_by = null, account_mark = null,
        settled_by = null, settle_reason = null where state = 'cancelled'`.execute(shop.db),
    ).rejects.toThrow(/payment_items_claimed_once/);
  });

  it('are proposed only for statements that are closed and that the tool is to pay', async () => {
    const shop = await openPaymentShop('payees: ./payees.csv');
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

  it('are paid when the bank says so: by reference at once, by amount and account when a person confirms, each booking once', async () => {
    const shop = await openPaymentShop();
    // Somebody else gets the deal after the closing: what is closed is still Mia's.
    await sql`update intake.codes set influencer_handle = 'eve.test' where deal_id = 'DEALMIA'`.execute(
      shop.db,
    );
    // A handle on two platforms may be two people, whom only a row for the deal tells apart.
    await sql`
      with known as (
        insert into mirror.known_deals (deal_id, first_way, ways) select unnest(array['DEALMIA', 'OTHER']), 'list', array['list'])
      insert into mirror.deal_versions (deal_id, influencer_handle, platform, raw, row_hash, valid_from, first_seen_at, run_id)
      values ('DEALMIA', '@Mia.test', 'instagram', '{}', '', now(), now(), 1), ('OTHER', 'mia.test', 'tiktok', '{}', '', now(), now(), 1)`.execute(
      shop.db,
    );
    const several = await propose(shop, '2026-04', '--dry-run');
    expect(several.stdout).toMatch(/No bank data, carried forward \(\d+\): 10\.00 EUR, 5\.00 USD/);
    await sql`update mirror.deal_versions set platform = null where deal_id = 'OTHER'`.execute(shop.db);
    const unknown = await propose(shop, '2026-04', '--dry-run');
    expect(unknown.stdout).toMatch(/No bank data, carried forward \(\d+\): 10\.00 EUR, 5\.00 USD/);
    await sql`delete from mirror.deal_versions`.execute(shop.db);
    // Whoever has the deal today: if it was unknown when the statement was closed, only a row for the deal says who is paid.
    await sql`alter table ops.statement_headings disable trigger all`.execute(shop.db);
    const closedTo = (handle: string | null) =>
      sql`update ops.statement_headings set influencer_handle = ${handle} where deal_id = 'DEALMIA'`.execute(
        shop.db,
      );
    await closedTo(null);
    const nobody = await propose(shop, '2026-04', '--dry-run');
    expect(nobody.stdout).toMatch(/No bank data, carried forward \(\d+\): 10\.00 EUR, 5\.00 USD/);
    expect(nobody.stdout).toMatch(/Dry run.*A proposal would pay 1 creator\./s);
    expect(nobody.stdout).not.toContain('is made');
    await closedTo('mia.test');
    await propose(shop, '2026-04');
    expect(await totals(shop)).toEqual({ 'dealben EUR proposed': '15.00', 'mia.test EUR proposed': '10.00' });

    // A database that was restored from before the proposal: the bank has booked what it proposes again.
    const { rows: lost } = await sql<{ reference: string }>`
      select reference from ops.payments where creator = 'dealben'`.execute(shop.db);
    const lose = sql`truncate ops.payments_elsewhere, ops.payment_items, ops.payments, ops.payment_proposals, ops.bank_entries restart identity`;
    await expect(lose.execute(shop.db)).rejects.toThrow('ops.payments_elsewhere is append-only');
    await sql`alter table ops.payments_elsewhere disable trigger append_only`.execute(shop.db);
    await lose.execute(shop.db);
    await sql`alter table ops.payments_elsewhere enable trigger append_only`.execute(shop.db);
    shop.write(
      'lost.csv',
      `reference;amount;currency;day;type\n${lost[0]?.reference};15.00;EUR;2026-05-06;paid\n`,
    );
    const exports = async () => said(await shop.cli('payments', 'export', '1', '--format', 'csv'));
    await shop.cli('payments', 'read', 'lost.csv');
    await propose(shop, '2026-04');
    expect(await exports()).toMatch(/booking 1 of 15\.00 EUR is held/);
    await shop.cli('payments', 'read', 'lost.csv');
    const { rows: held } = await sql`
      select p.creator, b.hold_reason as why from ops.bank_entries b join ops.payments p using (payment_id)`.execute(
      shop.db,
    );
    expect(held).toEqual([{ creator: 'dealben', why: 'not_exported' }]);
    await sql`update ops.bank_entries set amount = 14`.execute(shop.db);
    expect(await exports()).toMatch(/booking 1 of 14\.00 EUR is held/);
    await sql`truncate ops.bank_entries restart identity`.execute(shop.db);
    const file = await shop.cli('payments', 'export', '1', '--format', 'pain.001', '--on', '2026-05-04');
    const xml = file.stdout;
    // pain-001.test.ts says what SEPA allows.
    expect(
      xml
        .replace(/>[^<]*</g, '><')
        .match(/<\w+/g)
        ?.map((tag) => tag.slice(1))
        .join(' '),
    ).toBe(
      [
        'Document CstmrCdtTrfInitn GrpHdr MsgId CreDtTm NbOfTxs CtrlSum InitgPty Nm PmtInf PmtInfId PmtMtd BtchBookg NbOfTxs CtrlSum PmtTpInf SvcLvl Cd',
        'ReqdExctnDt Dt Dbtr Nm DbtrAcct Id IBAN DbtrAgt FinInstnId Othr Id ChrgBr CdtTrfTxInf PmtId EndToEndId Amt InstdAmt Cdtr Nm CdtrAcct Id IBAN RmtInf Ustrd',
        'CdtTrfTxInf PmtId EndToEndId Amt InstdAmt CdtrAgt FinInstnId BICFI Cdtr Nm PstlAdr Ctry CdtrAcct Id IBAN RmtInf Ustrd',
      ].join(' '),
    );
    expect(xml).toContain('<CtrlSum>25.00</CtrlSum>');
    expect(xml).toContain('<Nm>Saffi + Sohne</Nm>');
    expect(xml).toContain('<Nm>.Ben</Nm>');
    expect(xml.match(/>[^<]*[^\sA-Za-z0-9/\-?:().,'+<>][^<]*</g)).toBeNull();
    expect(
      (await shop.cli('payments', 'export', '1', '--format', 'pain.001', '--on', '2026-05-04')).stdout,
    ).toBe(xml);
    // What the first file left out is not added to it: the bank knows its MsgId.
    const leave = (state: string, values: string) =>
      sql`
        update ops.payments set state = ${state}, (exported_as, exported_at, exported_by, account_mark) = (${sql.raw(values)})
        where creator = 'mia.test'`.execute(shop.db);
    await leave('proposed', 'null, null, null, null');
    const rest = await shop.cli('payments', 'export', '1', '--format', 'pain.001', '--on', '2026-05-04');
    expect(rest.stdout).toContain('<CtrlSum>15.00</CtrlSum>');
    await leave('exported', `'pain.001', now(), 'test', 'DE893000'`);
    const [ben = '', mia = ''] = xml.match(/IS-[0-9A-F]{26}(?=<\/EndToEndId)/g) ?? [];

    // Ben is paid in two parts, one of them in a booking for several; Mia's has no reference, and something else is paid, too.
    shop.write(
      'may.xml',
      camt([
        entry({ amount: '9.00', reference: ben, bank: 'B1' }),
        entry({ amount: '10.00', reference: 'NOTPROVIDED', iban: IBANS.mia, bank: 'B2' }),
        entry({ amount: '99.00', reference: 'RENT', bank: 'B3' }),
        entry({ amount: '6.00', reference: ben, bank: 'B4', status: 'PDNG' }),
        entry({ amount: '6.00', reference: `IS-${'0'.repeat(26)}`, bank: 'B5' }),
      ]),
    );
    const read = await shop.cli('payments', 'read', 'may.xml');
    expect(read.exitCode).toBe(3);
    expect(read.stdout).toMatch(
      /3 new bookings about payments, 0 known already\. Other bookings: 1, which are not\s+kept\. Only announced: 1/,
    );
    expect(read.stdout).toMatch(/partly paid: 9\.00 EUR on 2026-05-05/);
    expect(read.stdout).toMatch(/same amount and account/);
    const again = await shop.cli('payments', 'read', 'may.xml');
    expect(again.stdout).toMatch(/0 new bookings about payments, 3 known already/);
    // It resembles the payment, and waits: until then, nobody cancels or pays it.
    expect((await shop.cli('payments', 'cancel', '2', '--not-at-bank', '--reason', 'x')).exitCode).toBe(2);
    expect((await shop.cli('payments', 'confirm', '2', '--reason', 'asked the bank')).stdout).toContain(
      '10.00 EUR: counted.',
    );
    expect(await totals(shop)).toEqual({ 'dealben EUR partly_paid': '15.00', 'mia.test EUR paid': '10.00' });

    // As CSV: the rest of Ben's, more than that, another currency, and Mia's that comes back, so that it can be proposed again.
    shop.write(
      'june.csv',
      `reference;amount;currency;day;type
${ben};6.00;EUR;2026-05-06;paid
${ben};6.00;EUR;2026-05-06;paid
${ben};1.00;USD;2026-05-06;paid
${mia};9.50;EUR;2026-05-07;returned
${mia};ten;EUR;2026-05-07;returned
`,
    );
    const june = await shop.cli('payments', 'read', 'june.csv');
    expect(june.stdout).toMatch(/6\.00 EUR paid on 2026-05-06, payment 1\s+more than the payment/);
    expect(june.stdout).toMatch(/1\.00 USD paid on 2026-05-06, payment 1\s+another currency/);
    expect(june.stdout).toMatch(/june\.csv:6 amount: This is not an amount above zero with a decimal point/);
    expect(await totals(shop)).toEqual({ 'dealben EUR paid': '15.00', 'mia.test EUR partly_paid': '10.00' });
    // The bank kept charges of what came back, so a person says that nothing was paid. What only one of two bookings paid stays.
    shop.write('july.csv', `reference;amount;currency;day;type\n${ben};6.00;EUR;2026-05-08;returned\n`);
    await shop.cli('payments', 'read', 'july.csv');
    // The same booking from another file of the bank, which has more columns, is not counted a second time.
    shop.write(
      'july-2.csv',
      `reference;bank_reference;amount;currency;day;type\n${ben};B9;6.00;EUR;2026-05-08;returned\n`,
    );
    for (const read of ['first', 'second'])
      expect((await shop.cli('payments', 'read', 'july-2.csv')).exitCode, read).toBe(3);
    expect((await shop.cli('payments', '--held')).stdout.replace(/\s+/g, ' ')).toMatch(
      /same day and amount: if it is the same one/,
    );
    const { rows: twice } = await sql<{ id: string }>`
      select bank_entry_id as id from ops.bank_entries where hold_reason = 'may_be_known'`.execute(shop.db);
    await shop.cli('payments', 'dismiss', twice[0]?.id ?? '', '--reason', 'the same');
    expect(await totals(shop)).toMatchObject({ 'dealben EUR partly_paid': '15.00' });
    expect((await shop.cli('payments', '--state', 'partly_paid')).stdout).toContain('partly paid: 9.00 EUR');
    await shop.cli('payments', 'dismiss', '5', '--reason', 'other');
    await shop.cli('payments', 'dismiss', '6', '--reason', 'other');
    expect(said(await shop.cli('payments', 'cancel', '1', '--reason', 'x'))).toMatch(
      /It is partly paid.*payments complete/,
    );
    expect((await shop.cli('payments', 'cancel', '2', '--reason', 'charges')).exitCode).toBe(0);
    expect(await totals(shop)).toEqual({
      'dealben EUR partly_paid': '15.00',
      'mia.test EUR cancelled': '10.00',
    });
    await propose(shop, '2026-04');
    expect(await totals(shop)).toMatchObject({
      'mia.test EUR proposed': '10.00',
      'mia.test EUR cancelled': '10.00',
    });
    const accruals = await shop.cli('accruals', '2026-04', '--format', 'csv');
    expect(accruals.stdout).toContain('2026-04,in_payment,2026-04,4819,EUR,0,18.0000');

    // What is really too much is confirmed, and comes back: Ben is paid, neither more nor less.
    shop.write('more.csv', `reference;amount;currency;day;type\n${ben};8.00;EUR;2026-07-01;paid\n`);
    await shop.cli('payments', 'read', 'more.csv');
    const decideExcess = async (decision: string) => {
      const { rows: over } = await sql<{ id: string }>`
        select bank_entry_id as id from ops.bank_entries where hold_reason = 'too_much'`.execute(shop.db);
      await shop.cli('payments', decision, over[0]?.id ?? '', '--reason', 'asked the bank');
    };
    await decideExcess('confirm');
    const over = (await shop.cli('payments')).stdout.replace(/\s+/g, ' ');
    expect(over).toMatch(/Paid beyond what was owed \(1\) .* payment 1: 2\.00 EUR to dealben/i);
    expect(over).toContain('paid on 2026-07-01, and 2.00 EUR too much');
    shop.write('back.csv', `reference;amount;currency;day;type\n${ben};2.00;EUR;2026-07-02;returned\n`);
    await shop.cli('payments', 'read', 'back.csv');
    expect(await totals(shop)).toMatchObject({ 'dealben EUR paid': '15.00' });
    const left = (await shop.cli('payments')).stdout.replace(/\s+/g, ' ');
    expect(left).not.toContain('too much');
    // The payment keeps the day on which it was paid.
    expect(left).toContain('paid on 2026-07-01; came back: 6.00 EUR on 2026-05-08, 2.00 EUR on 2026-07-02');

    // A part comes back, and a person pays it in another way: what the bank books after that is held.
    const complete = (day = '2026-07-04') =>
      shop.cli('payments', 'complete', '1', '--on', day, '--reason', 'by another bank');
    expect(said(await complete())).toMatch(/It is paid/);
    shop.write('part.csv', `reference;amount;currency;day;type\n${ben};5.00;EUR;2026-07-03;returned\n`);
    await shop.cli('payments', 'read', 'part.csv');
    expect(said(await complete('2026-05-04'))).toMatch(/first paid a part of it on 2026-05-05/);
    expect((await complete()).stdout).toContain('Payment 1 counts as paid, with 5.00 EUR on 2026-07-04.');
    shop.write('late.csv', `reference;amount;currency;day;type\n${ben};5.00;EUR;2026-07-05;paid\n`);
    const late = await shop.cli('payments', 'read', 'late.csv');
    expect(late.stdout.replace(/\s+/g, ' ')).toMatch(/5\.00 EUR paid on 2026-07-05, .* you paid the rest/);
    expect(await totals(shop)).toMatchObject({ 'dealben EUR paid': '15.00' });
    const july = (await shop.cli('accruals', '2026-07', '--format', 'csv')).stdout;
    expect(july).toContain('in_payment,2026-04,4819,EUR,0,10.0000');
    expect(july).not.toContain('paid_in_part');
    // The bank's part comes back, too: what was paid elsewhere stays with Ben, and the rest can be completed again.
    await decideExcess('dismiss');
    shop.write('all.csv', `reference;amount;currency;day;type\n${ben};10.00;EUR;2026-08-01;returned\n`);
    expect((await shop.cli('payments', 'read', 'all.csv')).stdout).toMatch(
      /partly paid: 5\.00 EUR on 2026-07-04/,
    );
    expect(said(await shop.cli('payments', 'cancel', '1', '--reason', 'x'))).toMatch(/It is partly paid/);
    const august = (await shop.cli('accruals', '2026-08', '--format', 'csv')).stdout;
    expect(august).toContain('paid_in_part,,,EUR,0,-5.0000');
    expect(await shop.cli('accruals', '2026-07', '--format', 'csv')).toMatchObject({ stdout: july });
    expect((await complete('2026-08-02')).stdout).toContain('paid, with 10.00 EUR on 2026-08-02.');
    // Each part that was paid elsewhere is kept: those of before stay what they were.
    expect(await shop.cli('accruals', '2026-07', '--format', 'csv')).toMatchObject({ stdout: july });
    expect((await shop.cli('payments', '--creator', 'dealben')).stdout.replace(/\s+/g, ' ')).toContain(
      'paid on 2026-08-02, of which elsewhere: 5.00 EUR on 2026-07-04, 10.00 EUR on 2026-08-02',
    );
    expect(await totals(shop)).toMatchObject({ 'dealben EUR paid': '15.00' });

    // Analysts see the accruals of the last month as the last run knew them.
    await sql`update reporting.accruals set kept_at = kept_at - interval '61 minutes'`.execute(shop.db);
    await shop.run();
    const [, ...kept] = (await shop.cli('accruals', '--format', 'csv')).stdout.trim().split('\r\n');
    const { rows: seen } = await sql<{ row: string }>`
      select concat_ws(',', to_char(month_local, 'YYYY-MM'), state, coalesce(to_char(earned_month_local, 'YYYY-MM'), ''), coalesce(brand_id, ''), currency,
        orders, coalesce(accrued_amount::text, '')) as row from bi.accruals`.execute(shop.db);
    expect(kept.length).toBeGreaterThan(1);
    expect(seen.map(({ row }) => row).toSorted()).toEqual(kept.toSorted());
  });

  it('that the bank paid in another currency are completed, since that says nothing of what is open', async () => {
    const shop = await openPaymentShop();
    await propose(shop, '2026-04');
    const { stdout } = await shop.cli('payments', 'export', '1', '--format', 'csv');
    const [reference = ''] = stdout.match(/IS-[0-9A-F]{26}/) ?? [];
    const complete = () =>
      shop.cli('payments', 'complete', '1', '--on', '2026-05-06', '--reason', 'converted by the bank');
    expect(said(await complete())).toMatch(/It is exported.*paid in part, or in another currency/);
    shop.write('usd.csv', `reference;amount;currency;day;type\n${reference};17.00;USD;2026-05-06;paid\n`);
    expect((await shop.cli('payments', 'read', 'usd.csv')).stdout.replace(/\s+/g, ' ')).toContain(
      'another currency than the payment: dismiss it; if the bank paid the payment with it, then record that with payments complete',
    );
    expect(said(await complete())).toMatch(/waits for a decision: booking 1/);
    await shop.cli('payments', 'dismiss', '1', '--reason', 'in USD');
    expect((await complete()).stdout).toContain('Payment 1 counts as paid, with 15.00 EUR on 2026-05-06.');
    expect(await totals(shop)).toMatchObject({ 'dealben EUR paid': '15.00' });
  });

  it('are paid once by a booking that several files or rows have, whichever of them says more', async () => {
    const shop = await openPaymentShop();
    await propose(shop, '2026-04');
    // Both are at the bank, and another one of the amount and the account of Mia's.
    const { rows: payments } = await sql<{ reference: string }>`
      with exported as (
        update ops.payments set state = 'exported', exported_as = 'csv', exported_at = now(), exported_by = 'jane' returning *
      ), later as (
        insert into ops.payments (proposal_id, creator, currency, amount, reference, state, exported_as, exported_at, exported_by, account_mark)
        select proposal_id, 'mia.later', currency, amount, 'IS-LATER', state, exported_as, exported_at, exported_by, account_mark
        from exported where creator = 'mia.test')
      select reference from exported order by payment_id`.execute(shop.db);
    const [ben = '', mia = ''] = payments.map(({ reference }) => reference);
    const read = async (...rows: readonly string[]) => {
      const text = `reference;bank_reference;iban;amount;currency;day;type\n${rows.map((row) => `${row};EUR;2026-06-06;paid\n`).join('')}`;
      const { bookings } = parseBankFile(text, { where: 'bank.csv', now: new Date() });
      await inTransaction(shop.db, (trx) => matchBookings(trx, { bookings, file: 'bank.csv', by: 'jane' }));
      const { rows: booked } = await sql<{ what: string }>`
        select concat_ws(' ', payment_id, matched_by, amount::numeric(18,2), coalesce(hold_reason, outcome)) as what
        from ops.bank_entries order by bank_entry_id`.execute(shop.db);
      return booked.map(({ what }) => what);
    };
    const forget = () =>
      sql`
        with gone as (delete from ops.bank_entries)
        update ops.payments set state = 'exported', paid_amount = 0, paid_on = null`.execute(shop.db);
    // Within a file, two references of the bank are two payments. A row without one may be either of them.
    expect(await read(`${ben};;;6.00`, `${ben};B1;;6.00`, `${ben};B2;;6.00`)).toEqual([
      ...['1 reference 6.00 may_be_known', '1 reference 6.00 counted', '1 reference 6.00 counted'],
    ]);
    await forget();
    // Read again once the database knows the payment, the booking of the second file is no second one.
    const lose = (reference: string) =>
      sql`update ops.payments set reference = ${reference} where payment_id = 1`.execute(shop.db);
    await lose('IS-LOST');
    await read(`${ben};;;6.00`);
    expect(await read(`${ben};B1;;6.00`)).toEqual(Array(2).fill('6.00 unknown_reference'));
    await lose(ben);
    await read(`${ben};;;6.00`);
    expect(await read(`${ben};B1;;6.00`)).toEqual([
      ...['1 reference 6.00 counted', '1 reference 6.00 may_be_known'],
    ]);
    await forget();
    // A guess does not keep the booking with the reference from counting; it waits, and names that one.
    await read(`;;${IBANS.mia};10.00`);
    expect(await read(`${mia};B1;${IBANS.mia};10.00`)).toEqual([
      ...['2 account 10.00 may_be_known', '2 reference 10.00 counted'],
    ]);
    await forget();
    // Nor is it the next payment of this amount to the account without a warning.
    await read(`${mia};B1;;10.00`);
    expect(await read(`;;${IBANS.mia};10.00`)).toEqual([
      ...['2 reference 10.00 counted', '3 account 10.00 may_be_known'],
    ]);
    expect((await shop.cli('payments', '--held')).stdout.replace(/\s+/g, ' ')).toMatch(
      /another booking of this payment or account has the same day and amount: .* It resembles booking \d+ of payment 2/,
    );
    await forget();
    // One file that has both says that they are two.
    expect(await read(`;;${IBANS.mia};10.00`, `;;${IBANS.mia};10.00`)).toEqual([
      ...['2 account 10.00 to_confirm', '3 account 10.00 to_confirm'],
    ]);
    await forget();
    expect(await read(`IS-LATER;B2;;10.00`, `;B1;${IBANS.mia};10.00`)).toEqual([
      ...['3 reference 10.00 counted', '2 account 10.00 to_confirm'],
    ]);
  });

  it.each([
    ['a document type', '<!DOCTYPE a [<!ENTITY b "c">]><Document/>', /declares a document type/],
    ['broken XML', '<Document><BkToCstmrStmt>', /not whole/],
    ['another message', '<Document><BkToCstmrDbtCdtNtfctn/></Document>', /no camt\.053/],
    ['a table of something else', 'name,amount\na,1\n', /lacks reference or iban/],
  ])('a file of the bank with %s is refused', (_, text, why) => {
    expect(() => parseBankFile(text, { where: 'may.xml', now: new Date() })).toThrow(why);
  });

  it('a booking in two files counts once, and two equal ones in a file are two', () => {
    const one = entry({ amount: '5.00', reference: 'R', bank: '' });
    const keys = (entries: readonly string[]) =>
      parseBankFile(camt(entries), { where: 'a.xml', now: new Date() }).bookings.map(({ key }) => key);
    const [first, second] = keys([one, one]);
    expect(keys([one])).toEqual([first]);
    expect(second).not.toBe(first);
    // What banks write in place of a reference is none.
    const without = parseBankFile(camt([one, one.replace('>R<', '>NOTPROVIDED<')]), {
      where: 'a.xml',
      now: new Date(),
    }).bookings;
    expect(without.map(({ endToEndId }) => endToEndId)).toEqual(['R', null]);
    // Some banks change the case of a reference.
    const ours = `IS-${'A1'.repeat(13)}`;
    const lower = parseBankFile(camt([one.replace('>R<', `>${ours.toLowerCase()}<`)]), {
      where: 'a.xml',
      now: new Date(),
    }).bookings;
    expect(lower.map(({ endToEndId }) => endToEndId)).toEqual([ours]);
    // What is not known is no payment: an entry without a direction, a day or an amount that belongs to it.
    const odd = [
      one.replace('<CdtDbtInd>DBIT</CdtDbtInd>', ''),
      one.replace('2026-05-05', '05.05.2026'),
      one.replace('5.00', '5,00'),
      one.replace('</NtryDtls>', '<TxDtls/></NtryDtls>'),
    ];
    const read = parseBankFile(camt(odd), { where: 'a.xml', now: new Date() });
    expect([read.bookings, read.problems.length]).toEqual([[], 5]);
  });
});

function camt(entries: readonly string[]): string {
  return `<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>${entries.join('')}</Stmt></BkToCstmrStmt></Document>`;
}

function entry({
  amount,
  reference,
  bank,
  iban = null,
  status = 'BOOK',
}: {
  readonly amount: string;
  readonly reference: string;
  readonly bank: string;
  readonly iban?: string | null;
  readonly status?: string;
}): string {
  const account =
    iban === null ? '' : `<RltdPties><CdtrAcct><Id><IBAN>${iban}</IBAN></Id></CdtrAcct></RltdPties>`;
  return `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>${status}</Cd></Sts><BookgDt><Dt>2026-05-05</Dt></BookgDt><AcctSvcrRef>${bank}</AcctSvcrRef><NtryDtls><TxDtls><Refs><EndToEndId>${reference}</EndToEndId></Refs>${account}</TxDtls></NtryDtls></Ntry>`;
}
