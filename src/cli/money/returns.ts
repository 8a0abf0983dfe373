import type { StatementSettings } from '../../config/schema.ts';
import { refusal } from '../../core/known-error.ts';
import { RETURN_GROUPS, SELF_PURCHASE_DAYS } from '../../core/money/returns.ts';
import { defineCommand, MONTH_OPTIONS, parseCount } from '../command.ts';

const DEFAULT_ROWS = 50;

const customersCommand = defineCommand({
  name: 'customers',
  description: 'show the new customers that deals won, and what they have ordered since',
  takes: [...MONTH_OPTIONS, ['--limit <count>', 'maximum rows', parseCount, DEFAULT_ROWS]],
  /**
   * Prints the customers that deals won, as of the last run, newest month first; then recent orders that creators
   * may have placed themselves.
   */
  async action({ output, open }, { from = null, to = null, limit }) {
    const { read } = await open();
    const { listCustomersWon, listSelfPurchases } = await import('../../reports/money/list-returns.ts');
    const { describeCohorts, describeMonths, describeSelfPurchases } = await import(
      '../../reports/money/returns.ts'
    );
    const days = SELF_PURCHASE_DAYS;
    const { won, own } = await read(async (db) => ({
      won: await listCustomersWon(db, { from, to, limit: limit + 1 }),
      own: await listSelfPurchases(db, { days, limit: limit + 1 }),
    }));
    const [wonShown, ownShown] = [won.slice(0, limit), own.slice(0, limit)];
    for (const row of wonShown) output.emit({ event: 'customers_won', ...row });
    for (const order of ownShown) output.emit({ event: 'self_purchase', ...order });
    const months = describeMonths({ from, to });
    output.show([
      ...describeCohorts(wonShown, { months, hasMore: won.length > limit }),
      ...describeSelfPurchases(ownShown, { days, hasMore: own.length > limit }),
    ]);
  },
});

export const returnsCommand = defineCommand({
  name: 'returns',
  summary: 'show what deals, creators or brands brought and cost',
  description: 'show what deals, creators, brands or campaigns brought and cost, net of refunds',
  takes: [
    ['--by <group>', 'what to add up', RETURN_GROUPS, 'deal'],
    ...MONTH_OPTIONS,
    ['--one-currency', 'amounts of all currencies in statements.reporting_currency'],
    ['--limit <count>', 'maximum rows', parseCount, DEFAULT_ROWS],
  ],
  examples: [
    ['returns --by creator --from 2026-01', 'creators of this year, the highest net revenue first'],
    ['returns --by month', 'the sums of each month'],
    ['returns --by creator --one-currency', 'with amounts at the exchange rates of statements.fx'],
    ['returns customers --from 2026-01', 'new customers of this year, and what they have ordered since'],
  ],
  notes:
    'The figures say which orders carried a code or link, not what a creator caused. A number that cannot be known is shown as unknown, never as 0.',
  async action({ output, open }, { by, from = null, to = null, limit, oneCurrency = false }) {
    const { listReturns } = await import('../../reports/money/list-returns.ts');
    const { describeMonths, describeReturns } = await import('../../reports/money/returns.ts');
    const { config, read } = await open();
    const inCurrency = oneCurrency ? requireReportingCurrency(config.statements) : null;
    const sums = await read((db) => listReturns(db, { by, from, to, inCurrency, limit: limit + 1 }));
    const shown = sums.slice(0, limit);
    for (const { rank: _rank, ...sum } of shown) output.emit({ event: 'return', by, ...sum });
    const months = describeMonths({ from, to });
    output.show(describeReturns(shown, { by, months, hasMore: sums.length > limit }));
  },
  commands: [customersCommand],
});

function requireReportingCurrency({ reportingCurrency }: StatementSettings): string {
  if (reportingCurrency !== null) return reportingCurrency;
  throw refusal({
    code: 'reporting_currency_missing',
    message: 'No reporting currency is configured, so amounts cannot be converted.',
    where: 'statements.reporting_currency',
    help: 'Add statements.reporting_currency, and statements.fx with the rates of each day, to pipeline.yaml; then run the job once.',
  });
}
