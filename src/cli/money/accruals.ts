import { monthBefore } from '../../core/time/month.ts';
import { defineCommand, parseMonth } from '../command.ts';

export const accrualsCommand = defineCommand({
  name: 'accruals',
  summary: 'show what is earned and not paid at the end of a month',
  description: 'show what creators have earned and were not paid at the end of a month, for the accounts',
  takes: [
    ['[month]', 'such as 2026-05 (default: last month)', parseMonth],
    ['--format <format>', 'what to print', ['table', 'csv'], 'table'],
  ],
  examples: [['accruals 2026-05 --format csv > accruals.csv', 'by month, brand and currency']],
  async action({ output, open }, { month: given, format }) {
    const { loadStatementRules } = await import('../../money/load-rules.ts');
    const { describeAccruals, readAccruals, renderAccrualsCsv, sumAccruals } = await import(
      '../../reports/payments/accruals.ts'
    );
    const { config, read } = await open({ warnsOfTerms: false });
    const { statements } = config;
    const month = given ?? monthBefore(new Date(), statements.timeZone);
    const rules = loadStatementRules(statements);
    const { payments } = statements;
    const accruals = await read((db) => readAccruals(db, { month, rules, payments }));
    for (const { month: of, ...row } of accruals.rows)
      output.emit({ event: 'accrual', atEndOf: month, month: of, ...row });
    for (const sum of sumAccruals(accruals)) output.emit({ event: 'accruals_sum', atEndOf: month, ...sum });
    if (format === 'csv') output.printRows(renderAccrualsCsv(accruals));
    else output.show(describeAccruals(accruals));
  },
});
