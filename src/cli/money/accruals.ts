import { monthBefore } from '../../core/time/month.ts';
import { type CommandDefinition, type ConfigOptions, parseMonth } from '../command.ts';
import { openCommand } from '../open/open-command.ts';
import type { Output } from '../terminal/output.ts';

type AccrualOptions = ConfigOptions & { readonly format: 'table' | 'csv' };

export const accrualsCommand: CommandDefinition = {
  name: 'accruals',
  summary: 'show what is earned and not paid at the end of a month',
  description: 'show what creators have earned and were not paid at the end of a month, for the accounts',
  takes: [
    ['[month]', 'such as 2026-05 (default: last month)', parseMonth],
    ['--format <format>', 'what to print', ['table', 'csv'], 'table'],
  ],
  examples: [['accruals 2026-05 --format csv > accruals.csv', 'by month, brand and currency']],
  action: showAccruals,
};

async function showAccruals(
  output: Output,
  given: string | undefined,
  options: AccrualOptions,
): Promise<void> {
  const { loadStatementRules } = await import('../../money/load-rules.ts');
  const { describeAccruals, readAccruals, renderAccrualsCsv, sumAccruals } = await import(
    '../../reports/payments/accruals.ts'
  );
  const { config, read } = await openCommand(output, options, { saysOfTerms: false });
  const { statements } = config;
  const month = given ?? monthBefore(new Date(), statements.timeZone);
  const rules = loadStatementRules(statements);
  const { payments } = statements;
  const accruals = await read((db) => readAccruals(db, { month, rules, payments }));
  for (const { month: of, ...row } of accruals.rows)
    output.emit({ event: 'accrual', atEndOf: month, month: of, ...row });
  for (const sum of sumAccruals(accruals)) output.emit({ event: 'accruals_sum', atEndOf: month, ...sum });
  if (options.format === 'csv') output.printRows(renderAccrualsCsv(accruals));
  else output.show(describeAccruals(accruals));
}
