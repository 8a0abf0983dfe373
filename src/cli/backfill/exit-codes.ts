import type { BackfillEnd } from '../../../jobs/attribute-orders/backfill/execute-backfill.ts';
import type { BackfillProgress } from '../../../jobs/attribute-orders/backfill/report.ts';
import type { Backfill, PlanStanding } from '../../core/backfill.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';

/** True if the plan of a backfill contains no order to post. */
export function hasNothingToPost({ plan }: Backfill): boolean {
  return plan.groups.every(({ standing }) => standing !== 'to_post');
}

/** Exit code of a plan with nothing to post: its orders may still wait for a person. */
export function exitCodeOfIdle({ plan }: Backfill): ExitCode {
  const has = (which: PlanStanding) => plan.groups.some(({ standing }) => standing === which);
  if (has('in_doubt')) return EXIT.doubts;
  return has('rejected') ? EXIT.rowsRejected : EXIT.ok;
}

/** Exit code of a process that executed a backfill. */
export function exitCodeOf(
  end: BackfillEnd,
  { inDoubt, rejected, held }: Pick<BackfillProgress, 'inDoubt' | 'rejected' | 'held'>,
): ExitCode {
  if (end.kind === 'cancelled') return EXIT.interrupted;
  if (end.kind === 'stopped') {
    if (end.stop.kind === 'drained') return EXIT.interrupted;
    if (end.stop.kind === 'ledger_went_back') return EXIT.ledgerWentBack;
    return end.stop.kind === 'unauthorised' ? EXIT.authentication : EXIT.crash;
  }
  if (inDoubt > 0) return EXIT.doubts;
  return rejected + held > 0 ? EXIT.rowsRejected : EXIT.ok;
}
