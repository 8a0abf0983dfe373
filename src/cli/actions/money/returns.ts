import { EXIT, type ExitCode } from '../../../model/exit-code.ts';
import { renderBlocks } from '../../../present/blocks/render-blocks.ts';
import { describeReturns } from '../../../present/money/returns.ts';
import { listReturns } from '../../../report/money/list-returns.ts';
import type { ReturnsOptions } from '../../commands/money/returns.ts';
import { openConfig, withDatabase } from '../../open/open-config.ts';
import type { Output } from '../../terminal/output.ts';

/** Prints what deals brought and cost, as of the last run. */
export async function showReturns(output: Output, options: ReturnsOptions): Promise<ExitCode> {
  const { by, from = null, to = null, limit } = options;
  const sums = await withDatabase(await openConfig(options), (db) =>
    listReturns(db, { by, from, to, limit: limit + 1 }),
  );
  const shown = sums.slice(0, limit);
  for (const { rank: _rank, ...sum } of shown) output.emit({ event: 'return', by, ...sum });
  const months =
    from === null && to === null ? 'all months' : `${from ?? 'the first month'} to ${to ?? 'the newest'}`;
  output.print(
    renderBlocks(describeReturns(shown, { by, months, hasMore: sums.length > limit }), output.terminal),
  );
  return EXIT.ok;
}
