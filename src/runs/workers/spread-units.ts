import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import { fromKysely } from 'pg-boss';
import type { Spread, SpreadOptions, UnitEnd, UnitPayload } from '../../core/work.ts';
import type { Database } from '../../db/connect.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import type { DB } from '../../db/tables.ts';
import { addUnits, cancelUnits, clearUnits, readUnits, reopenUnits, type UnitsOf } from './units.ts';
import type { WorkQueue } from './work-queue.ts';
import { countWorkerConcurrency } from './workers.ts';

/** How often a run polls the state of its units. */
const LOOK_EVERY_MS = 200;
/**
 * Number of queued units per place of a worker. One waits while another is done. The number is small so that
 * a run with a million orders does not block a run with ten orders for long.
 */
const QUEUED_PER_PLACE = 2;

/** With fewer units than this, handing them out to another process gains nothing. */
const WORTH_HANDING_OUT = 2;

/** Creates the function that hands out units of one run through the queue. */
export function createSpread(
  db: Database,
  { queue, ...run }: UnitsOf & { readonly queue: WorkQueue },
): Spread {
  return async (options) => {
    const places = await countWorkerConcurrency(db, options.kind);
    if (places === 0) return null;
    const payloads = await options.cut(places);
    if (payloads.length < WORTH_HANDING_OUT) return null;
    await clearUnits(db);
    return handOut(db, { ...options, payloads, queue, run });
  };
}

type HandingOut = SpreadOptions & {
  readonly payloads: readonly UnitPayload[];
  readonly queue: WorkQueue;
  readonly run: UnitsOf;
};

async function handOut(
  db: Database,
  { queue, run, kind, payloads, onProgress, onEnd, signal, isLeaseHeld }: HandingOut,
): Promise<readonly UnitEnd[]> {
  const boss = await queue.open();
  const ends = payloads.map((): UnitEnd => ({ kind: 'left' }));
  /** Units that are handed out, with their index in the payloads. */
  const out = new Map<string, number>();
  const doneOf = new Map<string, number>();
  let next = 0;
  let isEnding = false;

  /** Queues units in the same transaction that records them, so that neither happens without the other. */
  async function enqueue(trx: Transaction<DB>, unitIds: readonly string[]): Promise<void> {
    const jobs = unitIds.map((unitId) => ({ data: { unitId } }));
    if (jobs.length > 0) await boss.insert(kind, jobs, { db: fromKysely(trx) });
  }

  async function handOutMore(places: number): Promise<void> {
    const batch = payloads.slice(next, next + places * QUEUED_PER_PLACE - out.size);
    if (batch.length === 0) return;
    const unitIds = await inTransaction(db, async (trx) => {
      const added = await addUnits(trx, run, { kind, payloads: batch });
      await enqueue(trx, added);
      return added;
    });
    for (const unitId of unitIds) out.set(unitId, next++);
  }

  async function look(): Promise<void> {
    const returned: string[] = [];
    for (const { unitId, done, end, isReturned, isOver } of await readUnits(db, [...out.keys()])) {
      const before = doneOf.get(unitId) ?? 0;
      if (done > before) onProgress(done - before);
      doneOf.set(unitId, Math.max(done, before));
      if (isReturned) returned.push(unitId);
      if (end === null && !isOver) continue;
      if (end !== null) {
        ends[out.get(unitId) ?? 0] = end;
        isEnding = onEnd(end) || isEnding;
      }
      out.delete(unitId);
    }
    if (returned.length > 0)
      await inTransaction(db, async (trx) => enqueue(trx, await reopenUnits(trx, returned)));
  }

  let isCancelled = false;
  while (true) {
    const places = await countWorkerConcurrency(db, kind);
    isEnding ||= signal.aborted || places === 0 || !isLeaseHeld();
    if (!isEnding) await handOutMore(places);
    else if (!isCancelled) {
      await cancelUnits(db, [...out.keys()]);
      isCancelled = true;
    }
    if (out.size === 0 && (isEnding || next >= payloads.length)) return ends;
    await sleep(LOOK_EVERY_MS);
    await look();
  }
}
