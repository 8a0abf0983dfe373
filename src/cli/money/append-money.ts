import { isMirrorAccount } from '../../../jobs/mirror-account/settings.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import type { Database } from '../../db/connect.ts';
import type { Block } from '../../render/block.ts';
import { describeMoney } from '../../reports/money/money-overview.ts';
import { readMoneyOverview } from '../../reports/money/read-money-overview.ts';

/**
 * Returns what the page of a run shows about money below the summary of the run. The run has ended by then,
 * and its page matters more, so if this cannot be read, the page says so.
 *
 * @param fills what runs of the kind fill (`JobKind.fills`).
 */
export async function appendMoney(
  db: Database,
  { config, fills }: { readonly config: PipelineConfig; readonly fills: readonly string[] },
): Promise<readonly Block[]> {
  try {
    const { accountCurrency } = config.reconcile;
    return describeMoney(await readMoneyOverview(db, { fills, accountCurrency, now: new Date() }), {
      settings: config.reconcile,
      mirrorJob: Object.values(config.jobs).find(isMirrorAccount)?.name ?? null,
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    const text = `What creators brought and cost could not be read from the database${code}. The run is not affected.`;
    const lines = ['returns', 'reconcile', 'conflicts'].map((command) => `npx influencer-sync ${command}`);
    return [{ kind: 'text', text, tone: 'yellow', commands: { lines } }];
  }
}
