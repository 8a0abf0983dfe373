import type { StatementSettings } from '../../../core/config.ts';
import { EXIT, type ExitCode } from '../../../core/exit-code.ts';
import { KnownError } from '../../../core/known-error.ts';
import { SELF_PURCHASE_DAYS } from '../../../core/money/returns.ts';
import { renderBlocks } from '../../../render/render-blocks.ts';
import { listCustomersWon, listReturns, listSelfPurchases } from '../../../reports/money/list-returns.ts';
import {
  describeCohorts,
  describeMonths,
  describeReturns,
  describeSelfPurchases,
} from '../../../reports/money/returns.ts';
import type { CustomersWonOptions, ReturnsOptions } from '../../commands/money/returns.ts';
import { openConfig, withDatabase } from '../../open/open-config.ts';
import { reading } from '../../open/reading.ts';
import type { Output } from '../../terminal/output.ts';

/** Prints what deals brought in and cost, as of the last run. */
export async function showReturns(output: Output, options: ReturnsOptions): Promise<ExitCode> {
  const { by, from = null, to = null, limit, oneCurrency = false } = options;
  const config = await openConfig(options);
  const inCurrency = oneCurrency ? requireReportingCurrency(config.statements) : null;
  const sums = await withDatabase(
    config,
    (db) => listReturns(db, { by, from, to, inCurrency, limit: limit + 1 }),
    reading(output),
  );
  const shown = sums.slice(0, limit);
  for (const { rank: _rank, ...sum } of shown) output.emit({ event: 'return', by, ...sum });
  const months = describeMonths({ from, to });
  output.print(
    renderBlocks(describeReturns(shown, { by, months, hasMore: sums.length > limit }), output.terminal),
  );
  return EXIT.ok;
}

/**
 * Prints the customers that deals won, as of the last run, newest month first; then recent orders that creators
 * may have placed themselves.
 */
export async function showCustomersWon(output: Output, options: CustomersWonOptions): Promise<ExitCode> {
  const { from = null, to = null, limit } = options;
  const days = SELF_PURCHASE_DAYS;
  const { won, own } = await withDatabase(
    await openConfig(options),
    async (db) => ({
      won: await listCustomersWon(db, { from, to, limit: limit + 1 }),
      own: await listSelfPurchases(db, { days, limit: limit + 1 }),
    }),
    reading(output),
  );
  const [wonShown, ownShown] = [won.slice(0, limit), own.slice(0, limit)];
  for (const row of wonShown) output.emit({ event: 'customers_won', ...row });
  for (const order of ownShown) output.emit({ event: 'self_purchase', ...order });
  const months = describeMonths({ from, to });
  const blocks = [
    ...describeCohorts(wonShown, { months, hasMore: won.length > limit }),
    ...describeSelfPurchases(ownShown, { days, hasMore: own.length > limit }),
  ];
  output.print(renderBlocks(blocks, output.terminal));
  return EXIT.ok;
}

function requireReportingCurrency({ reportingCurrency }: StatementSettings): string {
  if (reportingCurrency !== null) return reportingCurrency;
  throw new KnownError({
    code: 'reporting_currency_missing',
    message: 'No reporting currency is configured, so amounts cannot be converted.',
    where: 'statements.reporting_currency',
    help: 'Add statements.reporting_currency, and statements.fx with the rates of each day, to pipeline.yaml; then run the job once.',
    safe: 'Nothing was changed.',
    exitCode: EXIT.configuration,
  });
}
