import type { Logger } from 'pino';
import type { JobSettings } from '../../config/job-fields.ts';
import { requireService } from '../../config/require-settings.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { isLoopback } from '../../core/http/is-loopback.ts';
import { createLogger } from '../../monitoring/observe/logger.ts';
import type { RunSurroundings } from '../../runs/record-run.ts';
import { openSourceClients } from '../../store/source-clients.ts';
import { notifyAfter } from '../run/notify-after.ts';
import { listenForStop, type Stopping } from '../terminal/listen-for-stop.ts';
import type { Output } from '../terminal/output.ts';
import { warnOfPlainConnections, withMigratedDatabase, withPlanDatabase } from './open-config.ts';
import { type OpenTelemetry, openTelemetry } from './open-telemetry.ts';
import { openWork } from './open-workers.ts';

/** What every process that runs jobs, or parts of them, opens first and closes last. */
export type OpenProcess = {
  readonly log: Logger;
  /** Null if the environment names no collector. */
  readonly telemetry: OpenTelemetry | null;
  readonly stopping: Stopping;
};

/**
 * Opens the log, the telemetry and the signals of a process that runs jobs: of `run`, `plan` and `backfill`, which a
 * person watches, and of `serve` and `work`, which last until a signal and say in their log what they do.
 */
export async function withProcess<Result>(
  output: Output,
  { config, lasts }: { config: PipelineConfig; lasts: boolean },
  work: (opened: OpenProcess) => Promise<Result>,
): Promise<Result> {
  warnOfPlainConnections(config, output);
  const telemetry = await openTelemetry(output);
  const log = createProcessLog(output, { telemetry, lasts });
  const told = 'stopping after the requests in flight; signal again to stop at once';
  const stopping = listenForStop(lasts ? { warn: () => log.info(told) } : output);
  try {
    return await work({ log, telemetry, stopping });
  } finally {
    stopping.ignore();
    await telemetry?.end();
  }
}

/** Of a process that a person watches, lines are only printed if LOG_LEVEL requests them: the progress display says more. */
function createProcessLog(
  output: Output,
  { telemetry, lasts }: { telemetry: OpenTelemetry | null; lasts: boolean },
): Logger {
  const level = process.env.LOG_LEVEL;
  const given = { isInteractive: false, ...(telemetry === null ? {} : { copyTo: telemetry.log }) };
  if (lasts) return createLogger({ ...given, level });
  return createLogger({
    ...given,
    level: level ?? (telemetry === null ? 'silent' : 'info'),
    stream: { write: (line) => (level === undefined ? undefined : output.log(line)) },
  });
}

type RunOfCommand<Settings extends JobSettings> = {
  readonly config: PipelineConfig;
  readonly job: Settings;
  readonly isPlan: boolean;
  readonly opened: OpenProcess;
};

/**
 * Opens everything that a command needs to run, plan or backfill a job, and closes it in any case: the client of the
 * service, the stores, the database, the workers and progress.
 *
 * @param work receives whether the database is kept (`withPlanDatabase`).
 * @throws KnownError as `withDatabase` and `requireService`.
 */
export async function withRunSurroundings<Settings extends JobSettings, Result>(
  output: Output,
  { config, job, isPlan, opened: { log, telemetry, stopping } }: RunOfCommand<Settings>,
  work: (surroundings: RunSurroundings<Settings>, isKept: boolean) => Promise<Result>,
): Promise<Result> {
  const api = isPlan ? null : requireService(config);
  if (api !== null && !isLoopback(api.url)) output.warn(`Live: this run calls ${api.url}.`);
  // `serve` opens processes too, and loads the client of the service only for a run.
  const { openClient } = await import('./open-service.ts');
  const client = api === null ? null : openClient(api, { connections: api.concurrency });
  const sourceClients = openSourceClients();
  const progress = output.createProgress();
  try {
    const open = isPlan ? withPlanDatabase : withMigratedDatabase;
    return await open(config, { progress, stopping }, async (db, isKept) => {
      try {
        const { openSpread, close } = await openWork(db, { config, log });
        const service = { client, sourceClients, openSpread };
        const surroundings: RunSurroundings<Settings> = {
          config,
          job,
          db,
          ...service,
          progress,
          draining: stopping.signal,
          /** Prints which service a run sends to and which ledger it uses, before it does either. */
          onTarget(target) {
            output.emit({ event: 'run_target', ...target });
            const { service: url, accountId, ledger } = target;
            if (!output.json) output.warn(`Service: ${url}, account ${accountId}. Ledger: ${ledger}.`);
          },
        };
        try {
          return await work(surroundings, isKept);
        } finally {
          await close();
        }
      } finally {
        if (!isPlan) await notifyAfter(db, { config, log });
        // Now, because the metrics are read from the database.
        await telemetry?.end();
      }
    });
  } finally {
    progress.end();
    sourceClients.close();
    await client?.close();
  }
}
