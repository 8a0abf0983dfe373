import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { sumMoney } from '../../src/core/money.ts';
import { openWorkshop } from '../runs/workshop.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { CODES, MARGIN, makeSyntheticYear, RATES, YEAR } from './synthetic-year.ts';

const FLOW = `
customers: {hash_key: "test-only-0123456789abcdef0123456789abcdef"}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC, customer_key: true, order_lines: true, limits: {max_cancelled_share: 1}}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
  mirror: {kind: mirror-account, refresh_after_hours: 0}
  tell: {kind: tell-corrections, of: orders, as: note, from: 2026-01-01}
statements:
  {terms: ./terms.csv, margin_percent: ${MARGIN}, reporting_currency: EUR, fx: ./fx.csv, time_zone: UTC, payments: {from: ${YEAR}-01, payees: ./payees.csv}}
`;

const PAYEES = `creator;name;iban;currency
mia.test;Mia;DE89370400440532013000;EUR
DEALBEN;Ben;NL91ABNA0417164300;EUR
`;

type Earned = { readonly amount: string; readonly unknown: number };
type Replayed = {
  readonly event: string;
  readonly month: string;
  readonly deal_id: string;
  readonly currency: string;
  readonly today: Earned;
  readonly draft: Earned;
};

const years = Array.from({ length: propertyRuns(1) }, (_, index) => ({
  seed: 17 + index,
  perMonth: index === 0 ? 12 : 60,
}));

it.each(years)(
  'every view and command returns the exact amounts of a year: seed $seed',
  async ({ seed, perMonth }) => {
    const year = makeSyntheticYear({ seed, perMonth, now: Date.now() });
    const shop = await openWorkshop({ flow: FLOW });
    shop.write('codes.csv', CODES);
    shop.write('terms.csv', year.terms);
    shop.write('fx.csv', RATES);
    // The mirror reads totals before any order is posted.
    await shop.cli('run', 'mirror');
    for (const { name, content } of year.exports) {
      shop.drop(name, content);
      const { finished } = await shop.run();
      expect(finished?.counts.files, name).toBe(1);
    }

    const returns = await sql`
    select month_utc::text as month, deal_id, currency, orders, sent_amount, net_amount, unrated_orders, unlined_orders, cost_amount, profit_amount, new_customers,
      returning_orders, unknown_orders, unconverted_orders, net_reporting_amount, cost_reporting_amount
    from bi.returns_monthly order by month_utc, deal_id, currency`.execute(shop.db);
    expect(returns.rows).toEqual(year.returns);
    // The command sums up the same amounts for each deal.
    const summed = (await shop.cli('returns', '--by', 'deal', '--json')).stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as Record<string, string | null>);
    for (const deal of summed) {
      const months = year.returns.filter(
        ({ deal_id, currency }) => deal_id === deal.key && currency === deal.currency,
      );
      const sumOf = (column: string): string | null => {
        const amounts = months.map((month) => month[column] ?? null);
        return amounts.includes(null) ? null : sumMoney(amounts.filter((amount) => amount !== null));
      };
      expect(deal).toMatchObject({
        net_amount: sumOf('net_amount'),
        cost_amount: sumOf('cost_amount'),
        profit_amount: sumOf('profit_amount'),
        new_customers: months.reduce((sum, month) => sum + Number(month.new_customers), 0),
      });
    }
    expect(summed.length).toBe(new Set(year.returns.map((row) => `${row.deal_id} ${row.currency}`)).size);
    expect(year.returns.some(({ unconverted_orders: lost }) => lost !== '0')).toBe(true);
    const cohorts = await sql`
    select month_utc::text as month, deal_id, currency, new_customers, repeat_customers, net_30_amount, net_90_amount, net_365_amount
    from bi.customer_cohorts order by month_utc, deal_id, currency`.execute(shop.db);
    expect(cohorts.rows).toEqual(year.cohorts);

    const conflicts = await sql`
      select order_id, conflict, amount, disposition, target, first_target, last_target, explicit_target
      from bi.conflicts order by ordered_at`.execute(shop.db);
    expect(conflicts.rows).toEqual(year.conflicts);
    expect(new Set(year.conflicts.map(({ conflict }) => conflict))).toEqual(new Set(['codes', 'named']));
    const listed = (await shop.cli('conflicts', '--limit', '1000', '--json')).stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as Record<string, string | null>);
    const cents = (rows: readonly Readonly<Record<string, string | null>>[]): number =>
      rows.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0);
    expect(cents(listed.filter(({ event }) => event === 'conflicting_order'))).toBe(cents(year.conflicts));
    // Each rule distributes the same total revenue, some of it to no owner.
    for (const rule of ['credited', 'first', 'last', 'explicit'])
      expect(
        cents(
          listed.filter(({ event }) => event === 'rule_sum').map((row) => ({ amount: row[rule] ?? null })),
        ),
      ).toBe(cents(year.conflicts));

    // A preview says exactly what another rule would move, and changes nothing.
    for (const rule of ['first', 'last'] as const) {
      const moved = (await shop.cli('conflicts', 'preview', rule, '--json')).stdout
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text) as Record<string, unknown>)
        .map((one) => [one.before, one.after, one.currency, one.is_sent, one.amount, one.orders])
        .toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
      expect(moved).toEqual(year.changes[rule]);
      expect(moved.length).toBeGreaterThan(2);
    }
    expect((await shop.cli('conflicts', 'preview', 'code')).stdout).toMatch(
      /By code, orders decides every order/,
    );
    expect((await shop.cli('conflicts', 'preview', 'last')).stdout).toContain(
      'write attribution: last under jobs.orders',
    );

    // Every claim of a creator gets the answer that is true, and no amount is added up that nobody states.
    shop.write(
      'claims.csv',
      `creator,order_id,amount,currency,day,code\n${year.claims.map(([line]) => line).join('\n')}\n`,
    );
    await shop.cli('claims', 'add', 'claims.csv');
    const claims = (await shop.cli('claims', '--json')).stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as { event: string; claim_id: string; answer: { kind: string } })
      .filter(({ event }) => event === 'claim');
    expect(
      claims
        .map(({ claim_id, answer }) => [year.claims[Number(claim_id) - 1]?.[0], answer.kind])
        .toReversed(),
    ).toEqual(year.claims);
    expect(new Set(year.claims.map(([, truth]) => truth)).size).toBeGreaterThanOrEqual(9);

    // The statement of a month after all return windows contains all earnings of the orders, and the fee.
    const { stdout } = await shop.cli('statement', '--month', `${YEAR + 1}-03`, '--json');
    const earned = new Map<string, number>();
    let [withoutLines, unknown] = [0, 0];
    for (const line of stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as Record<string, string>)) {
      if (line.why === 'unknown_lines') withoutLines += Number(line.orders);
      if (line.why?.startsWith('unknown_')) unknown += Number(line.orders);
      const of = `${line.deal_id} ${line.currency}`;
      if (line.event === 'statement_line' && line.kind === 'order')
        earned.set(of, (earned.get(of) ?? 0) + Math.round(Number(line.amount) * 100));
    }
    expect(Object.fromEntries([...earned].map(([of, sum]) => [of, `${(sum / 100).toFixed(2)}00`]))).toEqual(
      year.earned,
    );
    expect(withoutLines).toBe(year.withoutLines);
    expect(withoutLines).toBeGreaterThan(0);

    // The terms of today reproduce each closed statement to the cent, and a draft that is like them does, too.
    for (const month of [`${YEAR}-04`, `${YEAR}-09`, `${YEAR + 1}-02`])
      expect((await shop.cli('statement', 'close', '--month', month, '--reason', 'paid')).exitCode).toBe(0);
    const draft = year.terms.replace('DEALMIA,,10,', 'DEALMIA,,20,').replace('GIFT-*', '');
    shop.write('draft.csv', `${draft}NOBODY,,,99,EUR,${YEAR}-06-01,,,,,\n`);
    const thisMonth = new Date().getUTCFullYear() * 12 + new Date().getUTCMonth();
    /** The months from one of the year until the last that is over. */
    const replay = async (file: string, first = 0) =>
      (
        await shop.cli(
          ...['terms', 'replay', '--from', join(shop.folder, file), '--json'],
          ...['--months', String(thisMonth - (YEAR * 12 + first))],
        )
      ).stdout
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text) as Replayed)
        .filter(({ event }) => event === 'replayed_month');
    const { rows: closed } = await sql`
      select to_char(l.due_on, 'YYYY-MM') as month, l.deal_id, l.currency, sum(l.amount)::text as amount
      from ops.statement_lines l where l.kind <> 'correction' group by 1, 2, 3 order by 1, 2, 3`.execute(
      shop.db,
    );
    const same = await replay('terms.csv');
    const earnedOf = (which: 'today' | 'draft') =>
      same.flatMap(({ month, deal_id, currency, [which]: { amount } }) =>
        Number(amount) === 0 ? [] : [{ month, deal_id, currency, amount }],
      );
    expect(earnedOf('today')).toEqual(closed);
    expect(earnedOf('draft')).toEqual(closed);
    expect(same.reduce((sum, { today }) => sum + today.unknown, 0)).toBe(unknown);
    expect(await replay('terms.csv', 5)).toEqual(same.filter(({ month }) => month >= `${YEAR}-06`));
    // Under the draft, MIA earns twice as much, and for gift cards as well; the others earn what they earned. A fee of a
    // deal that nobody knows is not owed.
    const drafted = await replay('draft.csv');
    expect(drafted.filter(({ deal_id }) => deal_id === 'NOBODY')).toMatchObject([
      {
        month: `${YEAR}-06`,
        today: { amount: '0.0000', unknown: 0 },
        draft: { amount: '0.0000', unknown: 1 },
      },
    ]);
    for (const { deal_id, today, draft: then } of drafted)
      if (deal_id === 'DEALMIA')
        expect(Number(then.amount)).toBeGreaterThanOrEqual(2 * Number(today.amount) - 0.2);
      else if (deal_id !== 'NOBODY') expect(then).toEqual(today);

    // What the statements owe is proposed, each amount once; the bank pays a euro less to one, and nobody knows two accounts.
    shop.write('payees.csv', PAYEES);
    // payees.csv names the deal of Ben's euros; the others are called by their handles.
    const owed = Object.entries(year.earned)
      .map(([of, earned]): readonly [string, string, string] => {
        const [deal = '', currency = ''] = of.split(' ');
        return of === 'DEALBEN EUR'
          ? ['dealben', currency, sumMoney([earned, '200'])]
          : [`${deal.slice(4).toLowerCase()}.test`, currency, earned];
      })
      .toSorted();
    const proposed = await shop.cli(
      'payments',
      'propose',
      `${YEAR + 1}-02`,
      '--reason',
      'month end',
      '--json',
    );
    expect(proposed.exitCode).toBe(3);
    const unpaid = proposed.stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as Record<string, string>)
      .filter(({ event }) => event === 'payment_unpaid');
    expect(unpaid.map(({ creator, currency, amount }) => [creator, currency, amount]).toSorted()).toEqual(
      owed,
    );
    const paid = (await shop.cli('payments', 'export', '1', '--format', 'csv')).stdout
      .trim()
      .split(/\r?\n/)
      .slice(1)
      .map((row) => row.split(','));
    shop.write(
      'bank.csv',
      `reference;amount;currency;day;type\n${paid.map(([reference, name, , , , amount]) => `${reference};${(Number(amount) - (name === 'Ben' ? 1 : 0)).toFixed(2)};EUR;${YEAR + 1}-03-05;paid\n`).join('')}`,
    );
    for (const counted of [2, 0])
      expect((await shop.cli('payments', 'read', 'bank.csv')).stdout).toContain(`${counted} new booking`);
    const accrued = async (month: string) => {
      const { stdout: csv } = await shop.cli('accruals', month, '--format', 'csv');
      const rows = csv.split('\r\n').map((row) => row.split(','));
      const of = (currency: string) =>
        sumMoney(
          rows.flatMap(([, standing = '', , , money, , amount = '']) =>
            ['closed', 'in_payment', 'paid_in_part'].includes(standing) && money === currency ? amount : [],
          ),
        );
      return [of('EUR'), of('USD')];
    };
    const sumOf = (isOwed: (creator: string, currency: string) => boolean) =>
      sumMoney(owed.flatMap(([creator, currency, amount]) => (isOwed(creator, currency) ? amount : [])));
    const dollars = sumOf((_, currency) => currency === 'USD');
    expect(await accrued(`${YEAR + 1}-02`)).toEqual([sumOf((_, currency) => currency === 'EUR'), dollars]);
    expect(await accrued(`${YEAR + 1}-03`)).toEqual([
      sumMoney([sumOf((creator, currency) => creator === 'zoe.test' && currency === 'EUR'), '1']),
      dollars,
    ]);

    // Notes tell each order that changed after it was posted, on its deal, once.
    for (const run of ['first', 'second']) expect((await shop.cli('run', 'tell')).exitCode, run).toBe(0);
    const { rows: notes } = await sql<{ line: string }>`
      select body::json ->> 'deal_id' || ' ' || line as line
      from ledger.entries, lateral string_to_table(body::json ->> 'note_description', E'\n') line
      where effect = 'note' and state = 'accepted' and line like '- %'`.execute(shop.db);
    expect(notes.map(({ line }) => line).toSorted()).toEqual(year.told);
    expect(year.told.length).toBeGreaterThan(3);

    await shop.cli('run', 'mirror');
    const reconciled = await shop.cli('reconcile', '--json');
    const deals = reconciled.stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as Record<string, unknown>)
      .filter(({ event }) => event === 'reconciled_deal');
    expect(reconciled.exitCode).toBe(0);
    expect(
      Object.fromEntries(deals.map((deal) => [deal.deal_id, [deal.theirs, deal.ours, deal.unexplained]])),
    ).toEqual(
      Object.fromEntries(Object.entries(year.counted).map(([deal, orders]) => [deal, [orders, orders, 0]])),
    );
  },
);
