import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import {
  addMonthOptions,
  type CommandDefinition,
  type ConfigOptions,
  type MonthOptions,
  parseCount,
} from '../command.ts';
import { openCommand } from '../open/open-command.ts';
import type { Output } from '../terminal/output.ts';

type ConflictsOptions = ConfigOptions & MonthOptions & { readonly deal?: string; readonly limit: number };

export const conflictsCommand: CommandDefinition = {
  name: 'conflicts',
  summary: 'list orders with evidence for several creators',
  description: 'list orders with evidence for several creators, and what each rule would credit',
  takes: (command) =>
    addMonthOptions(command)
      .option('--deal <id>', 'only orders that some rule credits to this deal')
      .option('--limit <count>', 'maximum orders to list', parseCount, 20),
  examples: [
    ['conflicts --from 2026-08', 'orders since August, and the revenue that other rules would move'],
    ['conflicts --deal D1 --json', 'orders of one deal, for a program'],
  ],
  notes: 'Reads only the database, as of the last run. It changes no decision.',
  action: showConflicts,
};

/** Maximum number of owners to compare. */
const OWNERS = 200;

/** Prints orders with evidence for several owners, and what each rule would credit to each owner. */
async function showConflicts(output: Output, options: ConflictsOptions): Promise<ExitCode> {
  const { read } = await openCommand(output, options);
  const { describeConflicts } = await import('../../reports/money/conflicts.ts');
  const { compareRules, listConflicts } = await import('../../reports/money/list-conflicts.ts');
  const { from = null, to = null, deal: dealId = null, limit } = options;
  const filter = { from, to, dealId };
  const { orders, sums } = await read(async (db) => ({
    orders: await listConflicts(db, { ...filter, limit: limit + 1 }),
    sums: await compareRules(db, { ...filter, limit: OWNERS }),
  }));
  const shown = orders.slice(0, limit);
  for (const order of shown) output.emit({ event: 'conflicting_order', ...order });
  for (const sum of sums) output.emit({ event: 'rule_sum', ...sum });
  output.show(describeConflicts({ orders: shown, sums }, { hasMore: orders.length > limit }));
  return EXIT.ok;
}
