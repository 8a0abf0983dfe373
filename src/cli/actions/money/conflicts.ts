import { EXIT, type ExitCode } from '../../../core/exit-code.ts';
import { renderBlocks } from '../../../render/render-blocks.ts';
import { describeConflicts } from '../../../reports/money/conflicts.ts';
import { compareRules, listConflicts } from '../../../reports/money/list-conflicts.ts';
import type { ConflictsOptions } from '../../commands/money/conflicts.ts';
import { openConfig, withDatabase } from '../../open/open-config.ts';
import type { Output } from '../../terminal/output.ts';

/** Maximum number of owners to compare. */
const OWNERS = 200;

/** Prints orders with evidence for several owners, and what each rule would credit to each owner. */
export async function showConflicts(output: Output, options: ConflictsOptions): Promise<ExitCode> {
  const { from = null, to = null, deal: dealId = null, limit } = options;
  const filter = { from, to, dealId };
  const { orders, sums } = await withDatabase(await openConfig(options), async (db) => ({
    orders: await listConflicts(db, { ...filter, limit: limit + 1 }),
    sums: await compareRules(db, { ...filter, limit: OWNERS }),
  }));
  const shown = orders.slice(0, limit);
  for (const order of shown) output.emit({ event: 'conflicting_order', ...order });
  for (const sum of sums) output.emit({ event: 'rule_sum', ...sum });
  const blocks = describeConflicts({ orders: shown, sums }, { hasMore: orders.length > limit });
  output.print(renderBlocks(blocks, output.terminal));
  return EXIT.ok;
}
