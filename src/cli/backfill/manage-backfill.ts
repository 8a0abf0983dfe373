import { listBackfills } from '../../../jobs/attribute-orders/backfill/backfills.ts';
import {
  CANCELLABLE,
  cancelBackfill,
  pauseBackfill,
} from '../../../jobs/attribute-orders/backfill/change-backfill.ts';
import { describeBackfills } from '../../../jobs/attribute-orders/backfill/render.ts';
import { readBackfillProgress } from '../../../jobs/attribute-orders/backfill/report.ts';
import type { Backfill, BackfillState } from '../../core/backfill.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import type { Database } from '../../db/connect.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { explainStale, refreshReporting } from '../../rollups/refresh-reporting.ts';
import type { ConfigOptions } from '../command.ts';
import { openCommand } from '../open/open-command.ts';
import type { Output } from '../terminal/output.ts';
import { auditIn } from '../terminal/read-operator.ts';
import { givenReason } from '../usage-error.ts';
import type { ReasonOption } from './backfill.ts';
import { backfillMissing, notToBeResumed } from './errors.ts';

const SHOWN = 10;

/** Lists backfills with their progress, newest first. */
export async function showBackfills(
  output: Output,
  id: string | undefined,
  options: ConfigOptions,
): Promise<ExitCode> {
  const { read } = await openCommand(output, options);
  return read(async (db) => {
    const backfills = await listBackfills(db, id === undefined ? { limit: SHOWN } : { backfillId: id });
    if (id !== undefined && backfills.length === 0) throw backfillMissing(id);
    const shown = [];
    for (const backfill of backfills) {
      const progress = await readBackfillProgress(db, backfill);
      shown.push({ backfill, progress });
      const { backfillId, job, state, period, planHash, problem } = backfill;
      output.emit({ event: 'backfill', backfillId, job, state, ...period, planHash, problem, ...progress });
    }
    output.show(describeBackfills(shown));
    return EXIT.ok;
  });
}

/**
 * Pauses a running backfill. The process that posts notices it within a second, finishes its requests in
 * flight, and waits.
 */
export async function performPause(
  output: Output,
  id: string | undefined,
  options: ConfigOptions & ReasonOption,
): Promise<ExitCode> {
  const reason = givenReason(options);
  const { change } = await openCommand(output, options);
  return change(async (db) => {
    const backfill = await choose(db, id, ['running']);
    const { backfillId } = backfill;
    const paused = await inTransaction(db, (trx) =>
      pauseBackfill(trx, { backfillId, reason, audit: auditIn(trx) }),
    );
    if (paused.kind !== 'changed') throw notToBeResumed(backfill);
    output.emit({ event: 'backfill_paused', backfillId });
    output.print(`${paused.summary} To continue:  npx influencer-sync backfill resume`);
    return EXIT.ok;
  });
}

/** Cancels a backfill. Orders that were not posted return to their previous state. */
export async function performCancel(
  output: Output,
  id: string | undefined,
  options: ConfigOptions & ReasonOption,
): Promise<ExitCode> {
  const reason = givenReason(options);
  const { config, change } = await openCommand(output, options);
  return change(async (db) => {
    const backfill = await choose(db, id, CANCELLABLE);
    const { backfillId, job } = backfill;
    const cancelled = await inTransaction(db, (trx) =>
      cancelBackfill(trx, { backfillId, reason, config, audit: auditIn(trx) }),
    );
    if (cancelled.kind !== 'changed') throw notToBeResumed(backfill);
    await refreshReporting(db, { job }).catch((error: unknown) => output.warn(explainStale(error)));
    const { planned, accepted, inDoubt } = await readBackfillProgress(db, backfill);
    output.emit({ event: 'backfill_cancelled', backfillId, planned, accepted, inDoubt });
    output.print(cancelled.summary);
    return EXIT.ok;
  });
}

async function choose(
  db: Database,
  id: string | undefined,
  states: readonly BackfillState[],
): Promise<Backfill> {
  const [backfill] = await listBackfills(db, id === undefined ? { states, limit: 1 } : { backfillId: id });
  if (backfill === undefined) throw backfillMissing(id);
  if (!states.includes(backfill.state)) throw notToBeResumed(backfill);
  return backfill;
}
