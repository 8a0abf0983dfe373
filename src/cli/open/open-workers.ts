import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { findJob } from '../../../jobs/index.ts';
import type { Client } from '../../api/client.ts';
import type { Database } from '../../db/connect.ts';
import type { JobSettings, PipelineConfig } from '../../model/config.ts';
import { UNIT_KINDS, type UnitKind } from '../../model/work.ts';
import { readVersion } from '../../package/read-version.ts';
import type { RunJobOptions } from '../../pipeline/run/run-job.ts';
import { openSourceClients } from '../../source/source-clients.ts';
import type { StartedWorker } from '../../work/start-worker.ts';
import type { WorkQueue } from '../../work/work-queue.ts';
import { openClient } from './open-service.ts';

/** What of a run may be handed out, and over which queues. Nothing of it is loaded where runs do everything themselves. */
export type OpenWork = {
  readonly openSpread: RunJobOptions<JobSettings>['openSpread'];
  /** Null where runs do everything themselves. */
  readonly queue: WorkQueue | null;
  close(): Promise<void>;
};

/**
 * Prepares the engine of the configuration. Its queues are opened when they are needed first.
 *
 * @param options.log told when the queues cannot be read, which is tried again.
 */
export async function openWork(
  db: Database,
  { config, log }: { readonly config: PipelineConfig; readonly log: Logger | null },
): Promise<OpenWork> {
  // The embedded database belongs to one process at a time: there is nobody to hand anything to.
  if (config.work.engine === 'in-process' || config.database.url === '')
    return { openSpread: undefined, queue: null, close: async () => {} };
  const [{ createWorkQueue }, { createSpread }] = await Promise.all([
    import('../../work/work-queue.ts'),
    import('../../work/spread-units.ts'),
  ]);
  const queue = createWorkQueue(db, (error) =>
    log?.warn(error instanceof Error ? error : {}, 'the queues cannot be read; retrying'),
  );
  return {
    queue,
    openSpread: (of) => createSpread(db, { queue, ...of }),
    close: () => queue.close(),
  };
}

/** Makes the queues where the configuration has any, for users who may not make tables themselves. */
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
  /** Every kind when not given. */
  readonly kinds?: readonly UnitKind[] | undefined;
  /** Units of each kind at a time. */
  readonly concurrency: number;
};

/** Starts a worker in this process. What it does is logged by ids and counts. */
export async function openWorker(
  db: Database,
  { config, queue, client, log, kinds = UNIT_KINDS, concurrency }: OpenWorkerOptions,
): Promise<StartedWorker> {
  const [{ startWorker }, { performUnit }] = await Promise.all([
    import('../../work/start-worker.ts'),
    import('../../pipeline/units/unit-run.ts'),
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

/** A worker beside the schedule of a serving process. */
export type ServingWorker = {
  /** Starts it where it has not been and the database is there; to be called again and again. Never throws. */
  look(): Promise<void>;
  stop(): Promise<void>;
};

/** Units of each kind that a serving process does at a time, beside its runs. */
const BESIDE_RUNS = 1;

/** The worker of a serving process; null where the configuration wants none. */
export function serveWorker(
  db: Database,
  options: {
    readonly config: PipelineConfig;
    readonly work: OpenWork;
    readonly log: Logger;
    readonly isReady: () => boolean;
  },
): ServingWorker | null {
  const { config, work, log, isReady } = options;
  const { queue } = work;
  if (queue === null || !config.work.serveWorks) return null;
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
