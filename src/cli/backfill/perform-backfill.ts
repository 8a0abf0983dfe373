import { listBackfills, readBackfill } from '../../../jobs/attribute-orders/backfill/backfills.ts';
import {
  approveBackfill,
  CANCELLABLE,
  cancelBackfill,
  continueBackfill,
  pauseBackfill,
  resumeBackfill,
} from '../../../jobs/attribute-orders/backfill/change-backfill.ts';
import {
  type BackfillEnd,
  executeBackfill,
  shareOf,
  tellReports,
} from '../../../jobs/attribute-orders/backfill/execute-backfill.ts';
import { planBackfill, planRules, readNews } from '../../../jobs/attribute-orders/backfill/plan-backfill.ts';
import { findUnfinished } from '../../../jobs/attribute-orders/backfill/release-entries.ts';
import {
  describeBackfillEnd,
  describeBackfills,
  describeChanges,
  describePlan,
  listChanges,
} from '../../../jobs/attribute-orders/backfill/render.ts';
import {
  type BackfillProgress,
  describeUnposted,
  readBackfillProgress,
} from '../../../jobs/attribute-orders/backfill/report.ts';
import {
  type BackfillRun,
  withBackfillRun,
} from '../../../jobs/attribute-orders/backfill/with-backfill-run.ts';
import { type AttributeOrdersSettings, isAttributeOrders } from '../../../jobs/attribute-orders/settings.ts';
import { findJob } from '../../../jobs/index.ts';
import type { JobSettings } from '../../config/job-fields.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import type { Backfill, BackfillState, Period, PlanChanges, PlanStanding } from '../../core/backfill.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { type KnownError, refusal } from '../../core/known-error.ts';
import { sumOrders } from '../../core/order.ts';
import { analyzeGrown } from '../../db/analyze.ts';
import type { Database } from '../../db/connect.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { requireWholeLedger } from '../../ledger/continuity/compare-ledger.ts';
import { type OpenLedger, openLedger } from '../../ledger/open-ledger.ts';
import { renderBlocks } from '../../render/render-blocks.ts';
import { plural } from '../../render/text.ts';
import { listHeldFiles } from '../../reports/files/list-files.ts';
import { describeCodeProblems } from '../../reports/files/read-files.ts';
import { explainStale, refreshReporting } from '../../rollups/refresh-reporting.ts';
import { describeStop } from '../../runs/run-job.ts';
import { openCommand } from '../open/open-command.ts';
import { type ConfigOptions, openConfig, withDatabase } from '../open/open-config.ts';
import { withProcess, withRunSurroundings } from '../open/open-process.ts';
import { confirmByWord } from '../terminal/ask-person.ts';
import type { Output } from '../terminal/output.ts';
import { auditIn, readOperator } from '../terminal/read-operator.ts';
import { givenReason } from '../usage-error.ts';

/** The limits of a backfill, and whether it waits for the lease of one that may be gone. */
export type ShareOptions = { readonly rate?: number; readonly concurrency?: number; readonly wait?: boolean };

export type BackfillOptions = ConfigOptions &
  ShareOptions & {
    readonly from?: string;
    readonly to?: string;
    readonly plan?: boolean;
    readonly yes?: boolean;
  };

/** Why a person changes a backfill. */
export type ReasonOption = { readonly reason?: string };

export type ResumeOptions = ConfigOptions & ShareOptions & ReasonOption & { readonly yes?: boolean };

/** Plans a backfill and executes it if it is approved. Continues an unfinished one for the same period. */
export async function performBackfill(
  output: Output,
  jobName: string,
  options: BackfillOptions,
): Promise<ExitCode> {
  const config = await openConfig(options);
  const { job, kind } = findJob(config, jobName);
  if (kind.backfill !== 'by_days') return explainNeedless(output, job, kind.backfill.needless(job.name));
  if (!isAttributeOrders(job)) throw new Error(`${job.kind} has no backfill`);
  const { from: fromDay, to: toDay } = options;
  if (fromDay === undefined || toDay === undefined || fromDay > toDay)
    throw refusal({
      code: 'usage',
      message: 'A backfill needs a first and a last day, in that order.',
      help: `npx influencer-sync backfill ${job.name} --from 2023-01-01 --to 2024-12-31 --plan`,
      safe: NOTHING_SENT,
    });
  const period = { fromDay, toDay, timeZone: job.timeZone };
  return withBackfillSurroundings(
    { output, config, job, isPlan: options.plan === true, wait: options.wait },
    async (run, isKept) => {
      const unfinished = await findUnfinished(run.db, job.name);
      if (unfinished !== null) {
        if (!isSame(unfinished.period, period) || options.plan === true)
          throw refusal({
            code: 'backfill_unfinished',
            message: `Backfill ${unfinished.backfillId} (${unfinished.period.fromDay} to ${unfinished.period.toDay}) of this job is ${unfinished.state} and not finished.`,
            help: `Continue it:  npx influencer-sync backfill resume ${unfinished.backfillId}\nOr cancel it: npx influencer-sync backfill cancel ${unfinished.backfillId}`,
            safe: NOTHING_SENT,
          });
        return goOn(run, unfinished, { output, options });
      }
      const { backfill, changes, codeProblems } = await planBackfill(run, period, wantedShare(options));
      showPlan(run, backfill, { output, options, isKept });
      output.show(describeCodeProblems(codeProblems));
      const isWhole = await warnOfHeldFiles(run, output);
      const planned = isWhole ? EXIT.ok : EXIT.rowsRejected;
      // A plan without orders is not kept as one that could be executed.
      if (hasNothingToPost(backfill)) await cancelEmpty(run, backfill);
      if (options.plan === true && isKept) output.print(sayStored(backfill));
      if (options.plan === true) return planned;
      if (hasNothingToPost(backfill)) {
        const idle = await endIdle(run, backfill);
        return planned === EXIT.ok ? idle : planned;
      }
      if (!(await approve(backfill, changes, { output, options }))) return planned;
      return start(run, backfill, { output, options });
    },
  );
}

/** Executes a plan, or continues a backfill that is paused or whose process has ended. */
export async function performResume(
  output: Output,
  id: string | undefined,
  options: ResumeOptions,
): Promise<ExitCode> {
  const reason = givenReason(options);
  const config = await openConfig(options);
  const backfill = await withDatabase(config, (db) => choose(db, id, ['running', 'paused'], ['planned']));
  const { job } = findJob(config, backfill.job);
  if (!isAttributeOrders(job)) throw backfillMissing(id);
  if (backfill.state === 'paused' && (await wakeOther(output, config, { backfill, reason }))) return EXIT.ok;
  const { wait } = options;
  return withBackfillSurroundings({ output, config, job, isPlan: false, wait }, async (run) => {
    const now = await readBackfill(run.db, backfill.backfillId);
    if (now?.state === 'running' || now?.state === 'paused') return goOn(run, now, { output, options });
    if (now?.state !== 'planned') throw notToBeResumed(backfill);
    // The plan must still hold with the files and codes that are new since then.
    await readNews(run);
    showPlan(run, now, { output, options });
    if (hasNothingToPost(now)) return endIdle(run, now);
    if (options.yes !== true && !process.stdin.isTTY)
      throw refusal({
        code: 'usage',
        message: 'This is not a terminal, so you cannot confirm the plan.',
        help: `To confirm it, add --yes:  npx influencer-sync backfill resume ${now.backfillId} --yes`,
        safe: NOTHING_SENT,
      });
    if (!(await approve(now, null, { output, options }))) return EXIT.ok;
    return start(run, now, { output, options });
  });
}

/**
 * Chooses the backfill with an id, which must be in one of these states. Without an id, takes the newest in the first of
 * these states in which there is one.
 */
async function choose(
  db: Database,
  id: string | undefined,
  ...states: readonly (readonly BackfillState[])[]
): Promise<Backfill> {
  if (id !== undefined) {
    const backfill = await readBackfill(db, id);
    if (backfill === null) throw backfillMissing(id);
    if (!states.flat().includes(backfill.state)) throw notToBeResumed(backfill);
    return backfill;
  }
  for (const some of states) {
    const [backfill] = await listBackfills(db, { states: some, limit: 1 });
    if (backfill !== undefined) return backfill;
  }
  throw backfillMissing(id);
}

/**
 * Resumes a paused backfill whose process still waits.
 * @returns false if the backfill can no longer be resumed in this way.
 */
async function wakeOther(
  output: Output,
  config: PipelineConfig,
  { backfill, reason }: { backfill: Backfill; reason: string | null },
): Promise<boolean> {
  return withDatabase(config, async (db) => {
    const { backfillId } = backfill;
    const { process } = await readBackfillProgress(db, backfill);
    const resumed = await inTransaction(db, (trx) =>
      resumeBackfill(trx, { backfillId, reason, audit: auditIn(trx) }),
    );
    if (resumed.kind !== 'changed') return false;
    output.emit({ event: 'backfill_resumed', backfill_id: backfillId, ...process });
    output.print(resumed.summary);
    return true;
  });
}

type BackfillSurroundingsOptions = {
  readonly output: Output;
  readonly config: PipelineConfig;
  readonly job: AttributeOrdersSettings;
  readonly isPlan: boolean;
  readonly wait: boolean | undefined;
};

async function withBackfillSurroundings(
  { output, wait, ...options }: BackfillSurroundingsOptions,
  work: (run: BackfillRun, isKept: boolean) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { config } = options;
  return withProcess(output, { config, lasts: false }, (opened) =>
    withRunSurroundings(output, { ...options, opened }, async (surroundings, isKept) => {
      // The plan is stored before the ledger is opened, and people approve what it says.
      await requireWholeLedger(surroundings.db, config);
      const waits = wait ?? output.terminal.isInteractive;
      return withBackfillRun({ ...surroundings, waits }, (run) => work(run, isKept));
    }),
  );
}

async function start(run: BackfillRun, backfill: Backfill, context: CommandContext): Promise<ExitCode> {
  const { client, db, runId, job } = run;
  if (client === null) throw new Error('a plan posts nothing');
  const { backfillId, period } = backfill;
  const ledger = await openLedger(run, client);
  const rules = await planRules(run, period);
  const share = withShare(backfill, context.options);
  const approvedBy = readOperator();
  const reason = givenReason(context.options);
  const started = await inTransaction(db, (trx) =>
    approveBackfill(trx, {
      backfillId,
      rules,
      runId,
      approvedBy,
      ...share,
      orderNotes: job.orderNotes,
      reason,
      audit: auditIn(trx),
    }),
  );
  if (started.kind === 'changed') throw planChanged(backfill, started.changes);
  if (started.kind === 'not_planned')
    throw refusal({
      code: 'plan_gone',
      message: `Plan ${backfill.backfillId} was executed, replaced or cancelled in the meantime.`,
      help: 'npx influencer-sync backfill status',
      safe: NOTHING_SENT,
    });
  await analyzeGrown(db, ['ledger.entries', 'intake.attributions']);
  return execute(run, { ...backfill, ...share }, { ...context, ledger });
}

function cancelEmpty({ db, config }: BackfillRun, { backfillId }: Backfill): Promise<unknown> {
  return inTransaction(db, (trx) =>
    cancelBackfill(trx, { backfillId, config, reason: 'nothing to post', audit: auditIn(trx) }),
  );
}

/**
 * Ends without posting; its orders may still wait for a person. Brings the reports up to date, in case the process that
 * posted was killed before it did.
 */
async function endIdle(run: BackfillRun, { plan }: Backfill): Promise<ExitCode> {
  await tellReports(run);
  const has = (which: PlanStanding) => plan.groups.some(({ standing }) => standing === which);
  if (has('in_doubt')) return EXIT.doubts;
  return has('rejected') ? EXIT.rowsRejected : EXIT.ok;
}

async function goOn(run: BackfillRun, backfill: Backfill, context: CommandContext): Promise<ExitCode> {
  const { client, db } = run;
  if (client === null) throw new Error('a plan posts nothing');
  const ledger = await openLedger(run, client);
  const { backfillId } = backfill;
  const reason = givenReason(context.options);
  await inTransaction(db, (trx) => continueBackfill(trx, { backfillId, reason, audit: auditIn(trx) }));
  run.progress.note(`Continuing backfill ${backfillId}.`);
  return execute(run, { ...backfill, ...withShare(backfill, context.options) }, { ...context, ledger });
}

async function execute(
  run: BackfillRun,
  backfill: Backfill,
  { output, ledger }: CommandContext & { readonly ledger: OpenLedger },
): Promise<ExitCode> {
  if (run.client === null) throw new Error('a plan posts nothing');
  const end = await executeBackfill(run, backfill, { client: run.client, ledger });
  run.progress.end();
  const progress = await readBackfillProgress(run.db, backfill);
  const problem = end.kind === 'stopped' ? describeStop(end.stop) : await describeUnposted(run.db, run.runId);
  const { backfillId, job, period } = backfill;
  output.emit({
    event: 'backfill_finished',
    backfillId,
    job,
    ...period,
    end: end.kind,
    problem,
    ...progress,
  });
  output.show(describeBackfillEnd({ backfill, end: end.kind, problem, progress }));
  return exitCodeOf(end, progress);
}

function isSame(one: Period, other: Period): boolean {
  return one.fromDay === other.fromDay && one.toDay === other.toDay && one.timeZone === other.timeZone;
}

function explainNeedless(output: Output, { kind, name }: JobSettings, message: string): ExitCode {
  output.emit({ event: 'backfill_not_needed', job: name, kind, message });
  output.print(message);
  return EXIT.ok;
}

function hasNothingToPost({ plan }: Backfill): boolean {
  return plan.groups.every(({ standing }) => standing !== 'to_post');
}

function exitCodeOf(
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

type CommandContext = { readonly output: Output; readonly options: ResumeOptions };

/**
 * Shows the plan to a person or a program.
 * @param isKept whether the plan is stored, so that it can be executed by its number.
 */
function showPlan(
  run: BackfillRun,
  backfill: Backfill,
  { output, options, isKept = true }: CommandContext & { readonly isKept?: boolean },
): void {
  run.progress.end();
  const { requestsPerSecond } = shareOf(withShare(backfill, options), run.config.api);
  const { backfillId, job, state, period, planHash, plan } = backfill;
  output.emit({
    event: 'backfill_plan',
    backfillId,
    job,
    state,
    ...period,
    planHash,
    requestsPerSecond,
    isKept,
    ...plan,
  });
  output.show(describePlan(backfill, { requestsPerSecond, isKept }));
}

/** What a plan leaves behind although it sends nothing. What a person approves must be exactly what is posted then. */
function sayStored(backfill: Backfill): string {
  const more = hasNothingToPost(backfill)
    ? ''
    : ` To leave nothing that could be executed:  npx influencer-sync backfill cancel ${backfill.backfillId}`;
  return `Nothing was sent. Stored: the plan, and what was read for it: its files count as read, as after a run, because exactly the plan that you approve is posted.${more}`;
}

/**
 * Warns of held files: they may contain orders of the period, which the plan lacks.
 * @returns true if no file is held.
 */
async function warnOfHeldFiles({ db, job }: BackfillRun, output: Output): Promise<boolean> {
  const held = await listHeldFiles(db, { sources: job.sources });
  for (const file of held) output.emit({ event: 'held_file', ...file });
  if (held.length > 0)
    output.warn(
      `${plural(held.length, 'file')} of its sources could not be used, so the plan lacks ${held.length === 1 ? 'its' : 'their'} orders:  npx influencer-sync status`,
    );
  return held.length === 0;
}

/**
 * Asks whether to execute the plan. If it differs from an earlier plan for the same days, a person must
 * confirm it even with `--yes`.
 */
async function approve(
  backfill: Backfill,
  changes: PlanChanges | null,
  { output, options }: CommandContext,
): Promise<boolean> {
  if (changes !== null) {
    if (!process.stdin.isTTY) throw planChanged(backfill, changes);
    output.warn(renderBlocks(describeChanges(changes), output.terminal));
  } else if (options.yes === true) return true;
  if (!process.stdin.isTTY) return false;
  const toPost = backfill.plan.groups.filter(({ standing }) => standing === 'to_post');
  const count = plural(sumOrders(toPost), 'order');
  return confirmByWord('yes', `Post ${count}? You cannot undo orders that the service has accepted. `);
}

function wantedShare({ rate, concurrency }: ResumeOptions) {
  return { requestsPerSecond: rate ?? null, concurrency: concurrency ?? null };
}

/** The limits of a backfill. Those on the command line override those stored with the plan. */
function withShare(backfill: Backfill, options: ResumeOptions) {
  const { requestsPerSecond, concurrency } = wantedShare(options);
  return {
    requestsPerSecond: requestsPerSecond ?? backfill.requestsPerSecond,
    concurrency: concurrency ?? backfill.concurrency,
  };
}

const SHOWN = 10;

/** Lists backfills with their progress, newest first. */
export async function showBackfills(
  output: Output,
  id: string | undefined,
  options: ConfigOptions,
): Promise<ExitCode> {
  const { read } = await openCommand(output, options);
  return read(async (db) => {
    const named = id === undefined ? null : await readBackfill(db, id);
    if (id !== undefined && named === null) throw backfillMissing(id);
    const shown = [];
    for (const backfill of named === null ? await listBackfills(db, { limit: SHOWN }) : [named]) {
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

const NOTHING_SENT = 'Nothing was sent.';

function planChanged({ backfillId, job, period }: Backfill, changes: PlanChanges): KnownError {
  return refusal({
    code: 'plan_changed',
    message: `What would be posted no longer matches the plan: ${listChanges(changes).join('; ')}.`,
    where: `backfill ${backfillId}, ${period.fromDay} to ${period.toDay}`,
    help: `Make a new plan, read it, then execute it:\n  npx influencer-sync backfill ${job} --from ${period.fromDay} --to ${period.toDay} --plan`,
    safe: NOTHING_SENT,
  });
}

function backfillMissing(id: string | undefined): KnownError {
  return refusal({
    code: 'backfill_not_found',
    message: id === undefined ? 'No backfill is running or planned.' : `There is no backfill ${id}.`,
    help: 'npx influencer-sync backfill status lists them.',
  });
}

function notToBeResumed({ backfillId, state }: Backfill): KnownError {
  return refusal({
    code: 'backfill_ended',
    message: `Backfill ${backfillId} is ${state}, so this command does not apply.`,
    help: 'npx influencer-sync backfill status lists them. You can plan a new one for the same days: credited orders are not posted again.',
  });
}
