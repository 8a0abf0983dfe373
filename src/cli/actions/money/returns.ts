import type { StatementSettings } from '../../../model/config.ts';
import { EXIT, type ExitCode } from '../../../model/exit-code.ts';
import { KnownError } from '../../../model/known-error.ts';
import { renderBlocks } from '../../../present/blocks/render-blocks.ts';
import { describeMonths, describeReturns } from '../../../present/money/returns.ts';
import { listReturns } from '../../../report/money/list-returns.ts';
import type { ReturnsOptions } from '../../commands/money/returns.ts';
import { openConfig, withDatabase } from '../../open/open-config.ts';
import type { Output } from '../../terminal/output.ts';

/** Prints what deals brought in and cost, as of the last run. */
export async function showReturns(output: Output, options: ReturnsOptions): Promise<ExitCode> {
  const { by, from = null, to = null, limit, oneCurrency = false } = options;
  const config = await openConfig(options);
  const inCurrency = oneCurrency ? requireReportingCurrency(config.statements) : null;
  const sums = await withDatabase(config, (db) =>
    listReturns(db, { by, from, to, inCurrency, limit: limit + 1 }),
  );
  const shown = sums.slice(0, limit);
  for (const { rank: _rank, ...sum } of shown) output.emit({ event: 'return', by, ...sum });
  const months = describeMonths({ from, to });
  output.print(
    renderBlocks(describeReturns(shown, { by, months, hasMore: sums.length > limit }), output.terminal),
  );
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
