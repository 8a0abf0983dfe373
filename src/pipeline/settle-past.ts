import { join } from 'node:path';
import { settleByEvidence } from '../ledger/apply-evidence.ts';
import { reapLost } from '../ledger/reap.ts';
import { resendRestedDoubts, resendUnauthorised } from '../ledger/resolve.ts';
import { replaySpool } from '../ledger/spool.ts';
import type { Run } from './run.ts';

const MS_PER_MINUTE = 60_000;

/**
 * Settles what earlier processes left: their spooled answers first, so that an answer that is known does not become a doubt; then what
 * they had claimed and can no longer answer for; then what may be sent again.
 */
export async function settlePast(run: Run): Promise<void> {
  const { db, job, config, progress } = run;
  const replayed = await replaySpool(db, spoolFolder(run), run.owner);
  if (replayed > 0) progress.note(`Recorded ${replayed} answers that an earlier run had left in its spool.`);
  const reaped = await reapLost(db);
  if (reaped > 0) progress.note(`${reaped} orders came into doubt: the process that sent them is gone.`);
  const settled = await settleByEvidence(db);
  if (settled > 0) progress.note(`${settled} orders in doubt were settled by events of the service.`);
  await resendUnauthorised(db, { job: job.name });
  if (config.api.duplicateOrders !== 'ignored') return;
  const resent = await resendRestedDoubts(db, {
    job: job.name,
    quietPeriodMs: config.api.quietPeriodMinutes * MS_PER_MINUTE,
  });
  if (resent > 0)
    progress.note(
      `${resent} orders in doubt have rested and are sent again (api.duplicate_orders: ignored).`,
    );
}

/** Where answers wait for a database that is away. */
export function spoolFolder(run: Pick<Run, 'config'>): string {
  return join(run.config.database.dataFolder, 'spool');
}
