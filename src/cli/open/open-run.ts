import type { Logger } from 'pino';
import type { JobSettings } from '../../config/job-fields.ts';
import { requireService } from '../../config/require-settings.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { isLoopback } from '../../core/http/is-loopback.ts';
import { createLogger } from '../../monitoring/observe/logger.ts';
import type { RunSurroundings } from '../../runs/record-run.ts';
import { openSourceClients } from '../../store/source-clients.ts';
import { notifyAfter } from '../run/notify-after.ts';
import { listenForStop } from '../terminal/listen-for-stop.ts';
import type { Output } from '../terminal/output.ts';
import { withMigratedDatabase, withPlanDatabase } from './open-config.ts';
import { openClient } from './open-service.ts';
import type { OpenTelemetry } from './open-telemetry.ts';
import { openWork } from './open-workers.ts';

type RunOfCommand<Settings extends JobSettings> = {
  readonly config: PipelineConfig;
  readonly job: Settings;
  readonly isPlan: boolean;
  readonly log: Logger;
  /** Ended while the database is open, because the metrics are read from it. */
  readonly telemetry?: OpenTelemetry | null;
};

/**
 * Opens everything that a command needs to run, plan or backfill a job, and closes it in any case: the client of the
 * service, the stores, the database, the workers, progress and signals.
 *
 * @param work receives whether the database is kept (`withPlanDatabase`).
 * @throws KnownError as `withDatabase` and `requireService`.
 */
export async function withRunSurroundings<Settings extends JobSettings, Result>(
  output: Output,
  { config, job, isPlan, log, telemetry = null }: RunOfCommand<Settings>,
  work: (surroundings: RunSurroundings<Settings>, isKept: boolean) => Promise<Result>,
): Promise<Result> {
  const api = isPlan ? null : requireService(config);
  if (api !== null && !isLoopback(api.url)) output.warn(`Live: this run calls ${api.url}.`);
  const client = api === null ? null : openClient(api, { connections: api.concurrency });
  const sourceClients = openSourceClients();
  const stopping = listenForStop(output);
  const progress = output.createProgress();
  try {
    const open = isPlan ? withPlanDatabase : withMigratedDatabase;
    return await open(config, { progress, stopping }, async (db, isKept) => {
      try {
        const { openSpread, close } = await openWork(db, { config, log });
        const service = { client, sourceClients, openSpread };
        const surroundings: RunSurroundings<Settings> = {
          ...{ config, job, db, ...service, progress, draining: stopping.signal },
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
        await telemetry?.end();
      }
    });
  } finally {
    progress.end();
    stopping.ignore();
    sourceClients.close();
    await client?.close();
    await telemetry?.end();
  }
}

/** Creates the log of a run. Lines are only printed if LOG_LEVEL requests them; people see the progress display. */
export function createRunLog(output: Output, telemetry: OpenTelemetry | null): Logger {
  const level = process.env.LOG_LEVEL;
  return createLogger({
    level: level ?? (telemetry === null ? 'silent' : 'info'),
    isInteractive: false,
    stream: { write: (line) => (level === undefined ? undefined : output.log(line)) },
    ...(telemetry === null ? {} : { copyTo: telemetry.log }),
  });
}
