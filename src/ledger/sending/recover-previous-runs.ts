import { join } from 'node:path';
import { plural } from '../../core/text/plural.ts';
import type { Run } from '../../ops/run.ts';
import { settleJournals } from '../continuity/settle-journals.ts';
import { settleByEvidence } from '../evidence/apply-evidence.ts';
import type { OpenLedger } from '../open-ledger.ts';
import { reapLost } from '../reap.ts';
import { resendRestedDoubts, resendUnauthorised } from '../resolve.ts';
import { replaySpool } from '../spool.ts';

const MS_PER_MINUTE = 60_000;

/**
 * Settles what earlier processes left behind. First records their spooled answers, so that a known answer
 * does not become a doubt. Then handles claims whose process is gone, and finally entries that may be sent
 * again.
 */
export async function recoverPreviousRuns(run: Run, ledger: OpenLedger): Promise<void> {
  const { db, job, config, progress } = run;
  const replayed = await replaySpool(db, spoolFolder(run), run.owner);
  if (replayed.answers > 0)
    progress.note(`Recorded ${plural(replayed.answers, 'answer')} from the spool of an earlier run.`);
  if (replayed.lost > 0)
    progress.note(
      `${replayed.lost === 1 ? '1 of them belongs' : `${replayed.lost} of them belong`} to claims that the database lost. Their orders have the state that these answers state, and are not sent again.`,
    );
  if (replayed.unreadable > 0)
    progress.note(
      `${plural(replayed.unreadable, 'unusable line')} of the spool: set aside in ${join(spoolFolder(run), 'unreadable')}. The doubts that they would have settled remain.`,
    );
  const now = new Date();
  const { ledgerId, mark } = ledger;
  const [folder = '', ...copies] = ledger.journalFolders;
  const settledByJournal = await settleJournals(db, { folder, ledgerId, now });
  const { answered, neverSent, unreadable, closed } = settledByJournal;
  for (const journal of closed) await mark?.keep(journal);
  // Copies of the same journals: they are closed, and prove nothing more.
  for (const copy of copies) await settleJournals(db, { folder: copy, ledgerId, now });
  await mark?.prune(now);
  if (answered > 0)
    progress.note(`Recorded ${plural(answered, 'answer')} from the journal of an earlier run.`);
  if (neverSent > 0)
    progress.note(
      `${plural(neverSent, 'order is', 'orders are')} ready again: the journal of an earlier run shows that no request for ${neverSent === 1 ? 'it' : 'them'} started.`,
    );
  if (unreadable.length > 0)
    progress.note(
      `The journal ${unreadable.join(', ')} is damaged or lost lines, so it does not show which requests never started. Their orders are in doubt. Check for a full or failing disk.`,
    );
  const reaped = await reapLost(db);
  if (reaped > 0)
    progress.note(
      `${plural(reaped, 'order is', 'orders are')} now in doubt: the process that sent ${reaped === 1 ? 'it' : 'them'} is gone.`,
    );
  const settled = await settleByEvidence(db);
  if (settled > 0) progress.note(`Events of the service settled ${plural(settled, 'order')} in doubt.`);
  await resendUnauthorised(db, { job: job.name });
  if (config.api.description.duplicate_orders !== 'ignored') return;
  const resent = await resendRestedDoubts(db, {
    job: job.name,
    quietPeriodMs: config.api.quietPeriodMinutes * MS_PER_MINUTE,
  });
  if (resent > 0)
    progress.note(
      `${plural(resent, 'order in doubt is', 'orders in doubt are')} sent again after the quiet period (service.duplicate_orders: ignored).`,
    );
}

/** The folder in which answers wait while the database is unreachable. */
export function spoolFolder(run: Pick<Run, 'config'>): string {
  return join(run.config.database.dataFolder, 'spool');
}
