import { renderBackfills } from '../../../../jobs/attribute-orders/backfill/render.ts';
import { readBackfillProgress } from '../../../../jobs/attribute-orders/backfill/report.ts';
import { isAttributeOrders } from '../../../../jobs/attribute-orders/settings.ts';
import { listBackfills, moveBackfill } from '../../../attribute/backfill/backfills.ts';
import { endBackfill } from '../../../attribute/backfill/release-entries.ts';
import type { Database } from '../../../db/connect.ts';
import type { Backfill, BackfillState } from '../../../model/backfill.ts';
import { EXIT, type ExitCode } from '../../../model/exit-code.ts';
import { plural } from '../../../present/text.ts';
import { explainStale, refreshReporting } from '../../../report/refresh-reporting.ts';
import type { ConfigOptions } from '../../commands/command.ts';
import { openConfig, withDatabase } from '../../open/open-config.ts';
import type { Output } from '../../terminal/output.ts';
import { backfillMissing, notToBeResumed } from './errors.ts';

/** A listing shows so many. */
const SHOWN = 10;

/** Backfills, newest first, and how far each is. */
export async function showBackfills(
  output: Output,
  id: string | undefined,
  options: ConfigOptions,
): Promise<ExitCode> {
  return withDatabase(openConfig(options), async (db) => {
    const backfills = await listBackfills(db, id === undefined ? { limit: SHOWN } : { backfillId: id });
    if (id !== undefined && backfills.length === 0) throw backfillMissing(id);
    const shown = [];
    for (const backfill of backfills) {
      const progress = await readBackfillProgress(db, backfill);
      shown.push({ backfill, progress });
      const { backfillId, job, state, period, planHash, problem } = backfill;
      output.emit({ event: 'backfill', backfillId, job, state, ...period, planHash, problem, ...progress });
    }
    output.print(renderBackfills(shown, output.terminal));
    return EXIT.ok;
  });
}

/** Has the process that posts wait; it notices within a second, and finishes what is on its way. */
export async function pauseBackfill(
  output: Output,
  id: string | undefined,
  options: ConfigOptions,
): Promise<ExitCode> {
  return withDatabase(openConfig(options), async (db) => {
    const backfill = await choose(db, id, ['running']);
    if (!(await moveBackfill(db, backfill.backfillId, { from: ['running'], to: 'paused' })))
      throw notToBeResumed(backfill);
    output.emit({ event: 'backfill_paused', backfillId: backfill.backfillId });
    output.print(
      `Backfill ${backfill.backfillId} is paused. To continue:  npx influencer-sync backfill resume`,
    );
    return EXIT.ok;
  });
}

/** What was not posted is not posted: it stands again as it did before. */
export async function cancelBackfill(
  output: Output,
  id: string | undefined,
  options: ConfigOptions,
): Promise<ExitCode> {
  const config = openConfig(options);
  return withDatabase(config, async (db) => {
    const states = ['planned', 'running', 'paused'] as const;
    const backfill = await choose(db, id, states);
    const { backfillId, job } = backfill;
    const settings = config.jobs[job];
    const start =
      settings !== undefined && isAttributeOrders(settings) && settings.startDate !== null
        ? { day: settings.startDate, timeZone: settings.timeZone }
        : null;
    if (!(await endBackfill(db, backfillId, { job, start, from: states, to: 'cancelled' })))
      throw notToBeResumed(backfill);
    await refreshReporting(db, { job }).catch((error: unknown) => output.warn(explainStale(error)));
    const { planned, accepted, inDoubt } = await readBackfillProgress(db, backfill);
    output.emit({ event: 'backfill_cancelled', backfillId, planned, accepted, inDoubt });
    const rest = plural(planned - accepted - inDoubt, 'order');
    output.print(
      `Backfill ${backfillId} is cancelled: ${plural(accepted, 'order')} posted. ${rest} were not posted and return to their earlier state.`,
    );
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
