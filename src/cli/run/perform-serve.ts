import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { jobKinds, kindOf } from '../../../jobs/index.ts';
import type { JobSettings } from '../../config/job-fields.ts';
import { shortPath } from '../../config/locate.ts';
import { requireService } from '../../config/require-settings.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { EXIT } from '../../core/exit-code.ts';
import { isLoopback } from '../../core/http/is-loopback.ts';
import { refusal } from '../../core/known-error.ts';
import { readDatabaseClock } from '../../db/clock.ts';
import { cancelStatements, connect, type Database } from '../../db/connect.ts';
import type { Receiver } from '../../ledger/receiver/start-receiver.ts';
import type { KeptNotices } from '../../monitoring/notify/keep-notices.ts';
import { startObserver } from '../../monitoring/observe/start-observer.ts';
import { endLeasesBefore } from '../../ops/lease.ts';
import { createScheduler, type Scheduler } from '../../ops/schedule/scheduler.ts';
import { startTicker } from '../../ops/schedule/start-ticker.ts';
import { leaseNames } from '../../runs/runnable-kind.ts';
import { type ConfigOptions, openConfig } from '../open/open-config.ts';
import { openMetrics } from '../open/open-metrics.ts';
import { type OpenProcess, withProcess } from '../open/open-process.ts';
import { openWork, serveWorker } from '../open/open-workers.ts';
import { watchLedger } from '../open/watch-ledger.ts';
import { untilAborted } from '../terminal/listen-for-stop.ts';
import type { Output } from '../terminal/output.ts';
import { handBackMemory } from './hand-back-memory.ts';
import { keepSchedule } from './keep-schedule.ts';
import { noticeLog } from './notify-after.ts';
import type { SlotRunner } from './open-slot-runner.ts';

export type ServeOptions = ConfigOptions & { readonly port?: number };

/**
 * Enough for concurrent runs, the receiver and the polls of the schedule, which must never wait long for a
 * connection.
 */
const DATABASE_CONNECTIONS = 12;

/**
 * Runs jobs on schedule until SIGTERM or SIGINT, then finishes the requests in flight.
 *
 * @throws KnownError about the configuration or a port (exit 2), or about an embedded database that is in use
 *   (exit 5). If a database server is unreachable, it waits for it.
 */
export async function performServe(output: Output, options: ServeOptions): Promise<void> {
  const config = await openConfig(options);
  const jobs = jobsToServe(config);
  const port = options.port ?? config.serve.port;
  return withProcess(output, { config, lasts: true }, async ({ log, telemetry, stopping }) => {
    const db = await connect({
      url: config.database.url,
      embeddedFolder: config.database.dataFolder,
      maxConnections: DATABASE_CONNECTIONS,
      purpose: 'serve',
      statementLimitMs: config.database.statementMinutes * 60_000,
    });
    stopping.beforeExit(() => cancelStatements(db));
    try {
      if (config.database.url === '') await endLeasesBefore(db);
      return await serve({ config, jobs, db, log, telemetry, output, draining: stopping.signal, port });
    } finally {
      // Now, because the metrics are read from the database.
      await telemetry?.end();
      await db.destroy();
    }
  });
}

type Serving = Pick<OpenProcess, 'log' | 'telemetry'> & {
  readonly config: PipelineConfig;
  readonly jobs: readonly JobSettings[];
  readonly db: Database;
  readonly output: Output;
  readonly draining: AbortSignal;
  readonly port: number;
};

/**
 * Writes the address to the file that INFLUENCER_SYNC_ADDRESS_FILE names, which the health check of the image reads. So that
 * follows the port of the configuration, and of `--port`. Jobs run without that file, too.
 */
function noteAddress(url: string, log: Logger): void {
  const file = process.env.INFLUENCER_SYNC_ADDRESS_FILE ?? '';
  if (file === '') return;
  try {
    writeFileSync(file, url);
  } catch (error) {
    log.error(error instanceof Error ? error : {}, 'the file for the health check cannot be written');
  }
}

async function serve(serving: Serving): Promise<void> {
  const { config, jobs, db, log, telemetry, output, draining } = serving;
  // The start leaves garbage, and so do the first page and every run. Memory is returned once nothing is running.
  let isLittered = true;
  // The code of runs is loaded with the first one, so that a waiting process stays small.
  const opened: { workplace: SlotRunner | null } = { workplace: null };
  const metrics = openMetrics(config, db, {
    lastPoll: () => schedule.lastPoll(),
    atWork: () => scheduler.atWork(),
    isLedgerContinuous: () => schedule.readiness().checks.ledger?.ok === true,
  });
  const work = await openWork(db, { config, log });
  telemetry?.measure(metrics);
  const scheduler = createScheduler({
    db,
    owner: randomUUID(),
    jobs: jobs.map((job) => ({ ...job, leases: leaseNames(kindOf(job), job) })),
    leaseMs: config.api.leaseSeconds * 1000,
    now: readDatabaseClock,
    onEvent: ({ reason, ...event }) =>
      log.info({ event: 'slot', ...event, ...(reason === null ? {} : { reason }) }, 'slot'),
    work: async (claimed) => {
      const { openSlotRunner } = await import('./open-slot-runner.ts');
      isLittered = true;
      opened.workplace ??= openSlotRunner({
        config,
        db,
        log,
        metrics,
        draining,
        openSpread: work.openSpread,
      });
      return opened.workplace.work(claimed).finally(() => notices?.ask());
    },
  });
  const schedule = keepSchedule({
    db,
    scheduler,
    draining,
    findLedgerProblem: watchLedger({ db, config }, (problem) => {
      if (problem === null) log.info('the ledger is complete again');
      else
        log.error(
          { code: problem.details.code, help: problem.details.help },
          `${problem.message} Until this is settled, nothing is posted, but events are stored.`,
        );
    }),
    onTrouble: (error) =>
      log.warn(error instanceof Error ? error : {}, 'the schedule cannot be read; retrying'),
    onRecovered: () => log.info('the schedule can be read again'),
  });
  const worker = await serveWorker(db, {
    config,
    work,
    log,
    isReady: () => schedule.readiness().checks.migrations?.ok === true,
  });
  const pages = await openPages(serving, () => {
    isLittered = true;
  });
  const notices = await openNotices(serving, () => schedule.readiness().checks.migrations?.ok === true);
  const observer = await startObserver({
    host: config.serve.host,
    port: serving.port,
    metrics,
    readiness: schedule.readiness,
    ...(pages === null ? {} : { addPages: pages.add }),
  }).catch(async (error: unknown) => {
    await pages?.close();
    throw error;
  });
  const receiver = await openReceiver(serving).catch(async (error: unknown) => {
    await observer.close();
    await pages?.close();
    throw error;
  });
  const ticker = startTicker(jobs, () => {
    void schedule.poll().then(() => {
      void worker?.look();
      if (!isLittered || scheduler.atWork().length > 0) return;
      isLittered = false;
      handBackMemory();
    });
  });
  noteAddress(observer.url, log);
  announce(output, config, { url: observer.url, events: receiver?.url ?? null });
  log.info({ jobs: jobs.length, receives_events: receiver !== null }, 'serving');

  await untilAborted(draining);
  ticker.stop();
  scheduler.stop();
  const isInOrder = await withinGrace(
    [ended(scheduler, log), receiver?.close(), worker?.stop()],
    config.serve.graceSeconds,
  );
  if (!isInOrder) {
    log.error(
      { at_work: scheduler.atWork().length },
      'the grace period is over; requests in flight are in doubt',
    );
    await cancelStatements(db);
    process.exit(EXIT.interrupted);
  }
  await notices?.stop();
  await observer.close();
  await pages?.close();
  opened.workplace?.close();
  await work.close();
  log.info('stopped');
}

/** Prepares the console; null if the configuration disables it, and then none of its code is loaded. */
async function openPages({ config, db, log }: Serving, onLoaded: () => void) {
  if (!config.console.enabled) return null;
  const { openConsole } = await import('../console/open-console.ts');
  return openConsole({ config, db, host: config.serve.host, log, onLoaded });
}

/** Starts the checks that create notices; null if no channel is configured. */
async function openNotices(
  { config, db, log }: Serving,
  isReady: () => boolean,
): Promise<KeptNotices | null> {
  if (config.notify.channels.length === 0) return null;
  const { keepNotices } = await import('../../monitoring/notify/keep-notices.ts');
  return keepNotices(db, { config, kinds: jobKinds, isReady, ...noticeLog(log) });
}

/**
 * Starts the receiver of events on its own port: events come from outside, where metrics must not be
 * readable. Null if no secret is configured.
 */
async function openReceiver({ config, db, log }: Serving): Promise<Receiver | null> {
  if (config.webhooks.secrets.length === 0) return null;
  const { startReceiver } = await import('../../ledger/receiver/start-receiver.ts');
  const { createEventStore } = await import('../../ledger/receiver/receive-event.ts');
  return startReceiver({
    settings: config.webhooks,
    store: createEventStore(db),
    onDelivery: (fate, status, kind) => log.info({ event: fate, status, kind }, 'delivery'),
    onError: (error) => log.error(error instanceof Error ? error : {}, 'an event could not be stored'),
  });
}

/** Returns the jobs with a schedule, or with another job to follow. */
function jobsToServe(config: PipelineConfig): readonly JobSettings[] {
  const jobs = Object.values(config.jobs).filter(
    ({ schedule, after }) => schedule !== null || after !== null,
  );
  if (jobs.length > 0) requireService(config);
  if (jobs.length > 0 || config.webhooks.secrets.length > 0) return jobs;
  throw refusal({
    code: 'nothing_to_serve',
    message: 'No job has a schedule, and no events are received.',
    where: shortPath(config.path),
    help: 'Give a job a schedule, for example  schedule: "5 * * * *"  for five past every hour; or set webhooks.secret.',
    safe: 'Nothing was run.',
  });
}

function announce(
  output: Output,
  config: PipelineConfig,
  at: { readonly url: string; readonly events: string | null },
): void {
  if (config.api.url !== '' && !isLoopback(config.api.url)) output.warn(`Live: jobs call ${config.api.url}.`);
  output.emit({ event: 'listening', ...at });
  const events = at.events === null ? '' : `\nReceiving events at ${at.events}.`;
  const pages = config.console.enabled ? `Console at ${at.url}${config.console.basePath}/.\n` : '';
  output.print(`${pages}Serving at ${at.url} (/healthz, /readyz, /metrics). Stop with Ctrl-C.${events}`);
}

/**
 * Waits until the last slots are settled. If the database is unreachable, their leases expire, and the next
 * process that polls takes the slots over.
 */
async function ended(scheduler: Scheduler, log: Logger): Promise<void> {
  await scheduler.ended().catch((error: unknown) => {
    log.warn(
      error instanceof Error ? error : {},
      'the last slots could not be settled; the next process does it',
    );
  });
}

async function withinGrace(
  work: readonly (Promise<void> | undefined)[],
  graceSeconds: number,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), graceSeconds * 1000);
  try {
    return await Promise.race([Promise.all(work).then(() => true), promise]);
  } finally {
    clearTimeout(timer);
  }
}
