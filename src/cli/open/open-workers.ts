import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { findJob } from '../../../jobs/index.ts';
import type { JobSettings } from '../../config/job-fields.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { readVersion } from '../../core/package.ts';
import { UNIT_KINDS, type UnitKind } from '../../core/work.ts';
import type { Database } from '../../db/connect.ts';
import type { RunJobOptions } from '../../runs/run-job.ts';
import type { StartedWorker } from '../../runs/workers/start-worker.ts';
import type { WorkQueue } from '../../runs/workers/work-queue.ts';
import type { Client } from '../../service/client.ts';
import { openSourceClients } from '../../store/source-clients.ts';

/** How runs share units of work with workers. Nothing is loaded if runs do everything themselves. */
export type OpenWork = {
  readonly openSpread: RunJobOptions<JobSettings>['openSpread'];
  /** Null if runs do everything themselves. */
  readonly queue: WorkQueue | null;
  close(): Promise<void>;
};

/**
 * Prepares the work engine of the configuration. Queues are opened when they are first needed.
 *
 * @param options.log receives a warning when the queues cannot be read; reading is retried.
 */
export async function openWork(
  db: Database,
  { config, log }: { config: PipelineConfig; log: Logger | null },
): Promise<OpenWork> {
  // The embedded database belongs to one process at a time, so there are no workers to share with.
  if (config.work.engine === 'in-process' || config.database.url === '')
    return { openSpread: undefined, queue: null, close: async () => {} };
  const [{ createWorkQueue }, { createSpread }] = await Promise.all([
    import('../../runs/workers/work-queue.ts'),
    import('../../runs/workers/spread-units.ts'),
  ]);
  const queue = createWorkQueue(db, (error) =>
    log?.warn(error instanceof Error ? error : {}, 'the queues cannot be read; retrying'),
  );
  return { queue, openSpread: (of) => createSpread(db, { queue, ...of }), close: () => queue.close() };
}

/** Creates the queues if the configuration uses any, for database users who may not create tables themselves. */
export async function makeQueues(db: Database, config: PipelineConfig): Promise<void> {
  const { queue, close } = await openWork(db, { config, log: null });
  await queue?.open();
  await close();
}

export type OpenWorkerOptions = {
  readonly config: PipelineConfig;
  readonly queue: WorkQueue;
  readonly client: Client;
  readonly log: Logger;
  /** Default: all kinds. */
  readonly kinds?: readonly UnitKind[] | undefined;
  readonly concurrency: number;
};

/** Starts a worker in this process. Its log contains only ids and counts. */
export async function openWorker(
  db: Database,
  { config, queue, client, log, kinds = UNIT_KINDS, concurrency }: OpenWorkerOptions,
): Promise<StartedWorker> {
  const [{ startWorker }, { performUnit }] = await Promise.all([
    import('../../runs/workers/start-worker.ts'),
    import('../../runs/workers/unit-run.ts'),
  ]);
  const sourceClients = openSourceClients();
  const onTarget = (target: object) => log.info(target, 'unit sends to');
  const site = {
    config,
    db,
    sourceClients,
    client,
    onTarget,
    findJob: (name: string) => findJob(config, name),
  };
  const workerId = randomUUID();
  const worker = await startWorker(db, {
    queue,
    worker: { workerId, host: hostname(), pid: process.pid, version: readVersion(), kinds, concurrency },
    perform: (atWork) => performUnit(site, atWork),
    onEnded: ({ unit, ...ended }) =>
      log.info(
        { unit: unit.unitId, kind: unit.kind, job: unit.job, run_id: unit.runId, ...ended },
        'unit ended',
      ),
    onTrouble: (error) => log.warn(error instanceof Error ? error : {}, 'the work cannot be read; retrying'),
  });
  return {
    async stop() {
      await worker.stop();
      sourceClients.close();
    },
  };
}

/** A worker in a `serve` process, in addition to its schedule. */
export type ServingWorker = {
  /** Starts the worker if it is not running and the database is ready. Call it repeatedly; it never throws. */
  look(): Promise<void>;
  stop(): Promise<void>;
};

/** Concurrent units of each kind that a `serve` process does in addition to its runs. */
const BESIDE_RUNS = 1;

/** Creates the worker of a `serve` process; null if the configuration enables none. */
export async function serveWorker(
  db: Database,
  options: {
    readonly config: PipelineConfig;
    readonly work: OpenWork;
    readonly log: Logger;
    readonly isReady: () => boolean;
  },
): Promise<ServingWorker | null> {
  const { config, work, log, isReady } = options;
  const { queue } = work;
  if (queue === null || !config.work.serveWorks) return null;
  const { openClient } = await import('./open-service.ts');
  const client = openClient(config.api, { connections: config.api.concurrency });
  let started: StartedWorker | null = null;
  let isStarting = false;
  return {
    async look() {
      if (started !== null || isStarting || !isReady()) return;
      isStarting = true;
      try {
        started = await openWorker(db, { config, queue, client, log, concurrency: BESIDE_RUNS });
      } catch (error) {
        log.warn(error instanceof Error ? error : {}, 'the worker cannot be started; retrying');
      } finally {
        isStarting = false;
      }
    },
    async stop() {
      await started?.stop();
      await client.destroy();
    },
  };
}
