import { accessSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { findJob, jobKinds } from '../../../jobs/index.ts';
import { isMirrorAccount } from '../../../jobs/mirror-account/settings.ts';
import type { JobSettings } from '../../config/job-fields.ts';
import { shortPath } from '../../config/locate.ts';
import { requireService } from '../../config/require-settings.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { errorCode } from '../../core/error-code.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { KnownError, refusal } from '../../core/known-error.ts';
import type { Database } from '../../db/connect.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { recordOwnRun } from '../../decisions/control-job.ts';
import type { Metrics } from '../../monitoring/observe/metrics.ts';
import type { RunOptions } from '../../ops/run.ts';
import { type Block, say } from '../../render/block.ts';
import { type ReportedSummary, renderReportPage } from '../../render/html/report-page.ts';
import { eventsOf, renderRunSummary } from '../../render/report-renderer.ts';
import { describeMoney } from '../../reports/money/money-overview.ts';
import { linkToTrace } from '../../reports/runs/runs.ts';
import type { RunSurroundings } from '../../runs/record-run.ts';
import { describeStop, runJob } from '../../runs/run-job.ts';
import { type Client, observeClient } from '../../service/client.ts';
import { type ConfigOptions, openConfig } from '../open/open-config.ts';
import { withProcess, withRunSurroundings } from '../open/open-process.ts';
import type { OpenTelemetry } from '../open/open-telemetry.ts';
import { confirmByWord } from '../terminal/ask-person.ts';
import type { Output } from '../terminal/output.ts';
import { auditIn, readOperator } from '../terminal/read-operator.ts';
import { givenReason, requireReason, usageError } from '../usage-error.ts';
import { pingStart } from './notify-after.ts';

export type RunCommandOptions = ConfigOptions & {
  readonly limit?: number;
  readonly file?: string;
  readonly allowEmpty?: boolean;
  readonly wait?: boolean;
  readonly yes?: boolean;
  readonly newLedger?: boolean;
  readonly reason?: string;
  readonly report?: string;
};

type Request = {
  readonly jobName?: string | undefined;
  readonly options: RunCommandOptions;
  readonly isPlan: boolean;
};

/** Runs or plans a job of the configuration, shows the result, and writes its report if requested. */
export async function performJob(output: Output, request: Request): Promise<ExitCode> {
  const config = await openConfig(request.options);
  const { report: file } = request.options;
  const writeReport = file === undefined ? null : openReportFile(file);
  const { jobName = onlyJob(config, request) } = request;
  const done = await performConfigured(output, config, { ...request, jobName });
  output.emit(done.summary.finished);
  if (file !== undefined && writeReport !== null) {
    const page = renderReportPage([done], { title: `Report of ${jobName}`, madeAt: new Date() });
    writeReport(output.completePage(page));
    if (!output.json) output.warn(`Report: ${file}`);
  }
  return done.exitCode;
}

function onlyJob({ jobs, path }: PipelineConfig, { isPlan }: Request): string {
  const [only, ...others] = Object.keys(jobs);
  if (only !== undefined && others.length === 0) return only;
  const command = `npx influencer-sync ${isPlan ? 'plan' : 'run'}`;
  throw usageError(
    `Name the job: ${shortPath(path)} has ${only === undefined ? 'none' : 'several'}.`,
    Object.keys(jobs)
      .map((name) => `${command} ${name}`)
      .join('\n'),
  );
}

/** The result of a finished run or plan, for display. */
export type PerformedJob = ReportedSummary & { readonly exitCode: ExitCode };

/**
 * Like `performJob` with a loaded configuration, but without the event `run_finished`, and the caller writes the
 * page.
 */
export async function performConfigured(
  output: Output,
  config: PipelineConfig,
  request: Request & { readonly jobName: string },
): Promise<PerformedJob> {
  const { job, kind } = findJob(config, request.jobName);
  const reason = request.options.newLedger === true ? null : givenReason({ reason: request.options.reason });
  if (request.options.yes === true && kind.approves === undefined) throw needsNoApproval(job);
  if (!request.isPlan) requireService(config);
  kind.requireSettings?.(config, job);
  return withProcess(output, { config, lasts: false }, async (opened) => {
    const { isPlan } = request;
    const { log, telemetry } = opened;
    log.info({ job: job.name, kind: job.kind, is_plan: isPlan }, 'run started');
    const ping = isPlan ? null : await pingStart(config, job.name);
    async function perform(surroundings: RunSurroundings<JobSettings>): Promise<PerformedJob> {
      const { db, client } = surroundings;
      const { limit = null, file = null, allowEmpty = false } = request.options;
      const approve = approverOf(request.options, output);
      const options = { limit, file, allowEmpty, newLedger: readNewLedger(request.options), approve };
      const measured = telemetry === null ? null : await measureRun(telemetry, { config, db, client });
      async function onBegun(runId: string): Promise<void> {
        if (reason === null) return;
        await inTransaction(db, (trx) => recordOwnRun({ job: job.name, runId, reason, audit: auditIn(trx) }));
      }
      const waits = request.options.wait ?? output.terminal.isInteractive;
      const given = { ...surroundings, waits, kind, options, onBegun, client: measured?.client ?? client };
      const { finished, report, stop, exitCode, traceId } = await runJob(given);
      measured?.metrics.runEnded(finished);
      const problem = stop === null ? null : describeStop(stop);
      const summary = { finished, report, problem, isPlan };
      // A blank line between the progress and the result.
      if (!output.json) output.warn('');
      output.print(renderRunSummary(summary, { renderer: kind.render, terminal: output.terminal }));
      if (traceId !== null) output.warn(`Trace: ${linkToTrace(traceId, config)}`);
      for (const event of eventsOf(report, kind.render)) output.emit(event);
      const { event: _, ...facts } = finished;
      log.info({ ...facts, amounts: undefined, exit_code: exitCode }, 'run finished');
      // Only a page shows it, so a run without one does not wait for it, nor does a run that was told to stop.
      const isWanted = request.options.report !== undefined && !isPlan && stop === null;
      const appendix = isWanted ? await appendMoney(db, { config, fills: kind.fills }) : [];
      return { summary, renderer: kind.render, appendix, exitCode };
    }
    try {
      const performed = await withRunSurroundings(output, { config, job, isPlan, opened }, perform);
      await ping?.ended(performed.exitCode);
      return performed;
    } catch (error) {
      await ping?.ended(error instanceof KnownError ? error.details.exitCode : EXIT.crash);
      throw error;
    }
  });
}

/** Adds the metrics of a run to its telemetry. Those of the database are read after the run. */
async function measureRun(
  telemetry: OpenTelemetry,
  { config, db, client }: { config: PipelineConfig; db: Database; client: Client | null },
): Promise<{ readonly metrics: Metrics; readonly client: Client | null }> {
  const { openMetrics } = await import('../open/open-metrics.ts');
  const metrics = openMetrics(config, db, {
    atWork: () => [],
    isLedgerContinuous: () => true,
    lastPoll: () => null,
  });
  telemetry.measure(metrics);
  const observer = { begun: metrics.requestBegun, ended: metrics.requestEnded };
  return { metrics, client: client === null ? null : observeClient(client, observer) };
}

/**
 * With two ledgers, one account may get credits for an order twice. So a new ledger needs an explicit option
 * and a reason.
 */
function readNewLedger({ newLedger, reason }: RunCommandOptions): RunOptions['newLedger'] {
  if (newLedger !== true) return null;
  return { reason: requireReason(reason), decidedBy: readOperator() };
}

/** Returns who approves what a run is about to do: `--yes`, or the person at the terminal. */
function approverOf({ yes }: RunCommandOptions, output: Output): RunOptions['approve'] {
  if (yes === true) return async () => true;
  if (!process.stdin.isTTY) return undefined;
  return async (question) => {
    output.warn(question);
    return confirmByWord('yes');
  };
}

function needsNoApproval({ name, kind }: JobSettings): KnownError {
  const others = jobKinds.flatMap(({ kind: other, approves }) => (approves === undefined ? [] : [other]));
  return usageError(
    `${name} is a job of the kind ${kind}, which needs no approval.`,
    `Leave out --yes. It is for jobs of the kind ${others.join(', ')}.`,
  );
}

/**
 * Checks the file of `--report` before the run does anything, so that a run that has posted does not end
 * without its report.
 * @returns a function that writes the file.
 */
function openReportFile(path: string): (page: string) => void {
  const file = resolve(path);
  try {
    accessSync(dirname(file), constants.W_OK);
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) throw new Error('it is a folder');
  } catch (cause) {
    throw refusal({
      code: 'report_file_invalid',
      message: 'The report cannot be written there.',
      where: shortPath(file),
      help: 'Name a file in a folder that exists and that this user may write to, for example --report report.html.',
      safe: 'Nothing was read or sent.',
      cause,
    });
  }
  return (page) => {
    try {
      writeFileSync(file, page);
    } catch (cause) {
      throw new KnownError({
        code: 'report_not_written',
        message: 'The run has ended and is recorded, but its report could not be written.',
        where: shortPath(file),
        help: 'Check the space on its disk, and that this user may write there. To see the run:  npx influencer-sync runs',
        safe: 'The ledger has everything that was sent.',
        cause,
      });
    }
  };
}

/**
 * Returns what the page of a run shows about money below the summary of the run. The run has ended by then,
 * and its page matters more, so if this cannot be read, the page says so.
 *
 * @param fills what runs of the kind fill (`JobKind.fills`).
 */
async function appendMoney(
  db: Database,
  { config, fills }: { config: PipelineConfig; fills: readonly string[] },
): Promise<readonly Block[]> {
  try {
    const mirrorJob = Object.values(config.jobs).find(isMirrorAccount)?.name ?? null;
    return await describeMoney(db, { fills, settings: config.reconcile, mirrorJob, now: new Date() });
  } catch (error) {
    const code = errorCode(error);
    const text = `What creators brought and cost could not be read from the database${code === null ? '' : ` (${code})`}. The run is not affected.`;
    const lines = ['returns', 'reconcile', 'conflicts'].map((command) => `npx influencer-sync ${command}`);
    return [say(text, { tone: 'yellow', commands: { lines } })];
  }
}
