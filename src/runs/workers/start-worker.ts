import type { Job } from 'pg-boss';
import { GONE_AFTER_MS, type Unit, type UnitKind } from '../../core/work.ts';
import type { Database } from '../../db/connect.ts';
import { beginUnit, endUnit, keepUnit, type UnitOutcome } from './units.ts';
import type { WorkQueue } from './work-queue.ts';
import { drainWorker, keepWorker, removeWorker, SIGN_OF_LIFE_MS, type WorkerIdentity } from './workers.ts';

/** How long an idle place waits before it polls again. */
const LOOK_EVERY_SECONDS = 0.5;
/** How often a worker reports that it is alive: a third of the time that pg-boss waits. */
const HEARTBEAT_EVERY_SECONDS = 5;
/**
 * How often a worker reports the progress of a unit to its run and checks whether the unit is still wanted.
 */
const TELL_EVERY_MS = 1_000;

/** What the code that performs a unit may use. */
export type UnitAtWork = {
  readonly unit: Unit;
  /** Aborts when the unit must be abandoned: the worker stops, or the run no longer wants the unit. */
  readonly signal: AbortSignal;
  readonly advance: (count: number) => void;
  /**
   * False once the run may have lost its leases or may count this worker as dead, as far as this worker can
   * tell. It must not begin a request then. Another process may already use what the run had locked.
   */
  readonly isRunHeld: () => boolean;
};

export type WorkerOptions = {
  readonly queue: WorkQueue;
  readonly worker: WorkerIdentity;
  /** Performs a unit. If it throws, any free worker starts the unit again. */
  readonly perform: (atWork: UnitAtWork) => Promise<UnitOutcome>;
  /** Called with each unit that ended in this process. */
  readonly onEnded: (ended: EndedUnit) => void;
  readonly onTrouble: (error: unknown) => void;
};

export type EndedUnit = {
  readonly unit: Unit;
  readonly attempt: number;
  /** Also `failed` if it threw. */
  readonly state: UnitOutcome['state'];
  readonly done: number;
  readonly seconds: number;
  /** Null unless it failed. */
  readonly problem: string | null;
};

export type StartedWorker = {
  /**
   * Takes no more units. Lets the current ones finish their requests in flight and returns them to the queue.
   * Then leaves the registry.
   */
  stop(): Promise<void>;
};

/** Registers the worker and performs units of the given kinds until it is stopped. */
export async function startWorker(db: Database, options: WorkerOptions): Promise<StartedWorker> {
  const { queue, worker, onTrouble } = options;
  const draining = new AbortController();
  const boss = await queue.open();
  await keepWorker(db, worker);
  let sign = Promise.resolve();
  const signs = setInterval(() => {
    sign = keepWorker(db, worker).catch(onTrouble);
  }, SIGN_OF_LIFE_MS);
  signs.unref();
  for (const kind of worker.kinds)
    await boss.work(
      kind,
      {
        localConcurrency: worker.concurrency,
        pollingIntervalSeconds: LOOK_EVERY_SECONDS,
        heartbeatRefreshSeconds: HEARTBEAT_EVERY_SECONDS,
      },
      ([job]: Job<{ readonly unitId: string }>[]) =>
        job === undefined
          ? Promise.resolve()
          : doUnit(db, { ...options, unitId: job.data.unitId, draining: draining.signal, lost: job.signal }),
    );
  return {
    async stop() {
      draining.abort();
      await Promise.all([
        drainWorker(db, worker.workerId).catch(onTrouble),
        ...worker.kinds.map((kind: UnitKind) => boss.offWork(kind, { wait: true })),
      ]);
      clearInterval(signs);
      // A sign of life that is on its way would add the worker again.
      await sign;
      await removeWorker(db, worker.workerId).catch(onTrouble);
    },
  };
}

type DoingUnit = WorkerOptions & {
  readonly unitId: string;
  readonly draining: AbortSignal;
  /** Aborts when pg-boss has given the unit to another worker. */
  readonly lost: AbortSignal;
};

async function doUnit(
  db: Database,
  { unitId, worker, perform, draining, lost, onEnded, onTrouble }: DoingUnit,
): Promise<void> {
  let askedAt = performance.now();
  const begun = await beginUnit(db, { unitId, workerId: worker.workerId });
  if (begun === null) return;
  let heldUntil = askedAt + Math.min(begun.runLeaseMs, GONE_AFTER_MS);
  const { unit, attempt } = begun;
  const unwanted = new AbortController();
  const beganAt = performance.now();
  let done = 0;
  let isTelling = false;
  const telling = setInterval(() => {
    if (isTelling) return;
    isTelling = true;
    askedAt = performance.now();
    void keepUnit(db, { unitId, attempt, done })
      .then((runLeaseMs) => {
        heldUntil = askedAt + Math.min(runLeaseMs ?? 0, GONE_AFTER_MS);
        if (runLeaseMs === null) unwanted.abort();
      })
      .catch(onTrouble)
      .finally(() => {
        isTelling = false;
      });
  }, TELL_EVERY_MS);

  function tellEnd(state: UnitOutcome['state'], problem: string | null): void {
    const seconds = (performance.now() - beganAt) / 1_000;
    onEnded({ unit, attempt, state, done, seconds, problem });
  }

  try {
    const ended = await perform({
      unit,
      signal: AbortSignal.any([draining, lost, unwanted.signal]),
      advance: (count) => {
        done += count;
      },
      isRunHeld: () => performance.now() < heldUntil,
    });
    await endUnit(db, { unitId, attempt, done, ...ended });
    tellEnd(ended.state, ended.state === 'failed' ? ended.outcome.code : null);
  } catch (error) {
    tellEnd('failed', 'a bug, or the database');
    throw error;
  } finally {
    clearInterval(telling);
  }
}
