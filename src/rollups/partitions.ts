import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/connect.ts';

/*
 * A large refresh is done in two halves, its partitions, by two sessions at the same time: one session leaves all other
 * cores of the server idle. Each order and each day belongs to one partition, in whatever refresh, so steps of different
 * partitions never write the same row, except for marks and totals. They write those in their last statements, in the
 * order of their keys, so that a step waits only for the commit of another, and never in a circle.
 */

export type Partition = 0 | 1;

const PARTITIONS: readonly Partition[] = [0, 1];

/** SQL that is true if an order belongs to a partition. */
export function isOrderOf(partition: Partition, orderId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`((hashtext(${orderId}) & 1) = ${partition}::integer)`;
}

/** SQL that is true if a day belongs to a partition. */
export function isDayOf(partition: Partition, day: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(((${day} - date '2000-01-01') & 1) = ${partition}::integer)`;
}

type Step = (partition: Partition) => Promise<boolean>;

/**
 * Runs the steps of both partitions, two at a time. Both end before the next two begin, so that a step that must run
 * alone, for another refresh, gets its turn in between. In a plan, which has one session, one step follows the other.
 *
 * @param step runs the next step of a partition; returns true if it was the last.
 * @throws the first error, once the step of the other partition has ended.
 */
export async function inPartitions(db: Database, step: Step): Promise<void> {
  let unfinished = PARTITIONS;
  while (unfinished.length > 0) {
    const wasLast = db.isTransaction ? await inTurn(unfinished, step) : await together(unfinished, step);
    unfinished = unfinished.filter((_, index) => wasLast[index] === false);
  }
}

async function inTurn(partitions: readonly Partition[], step: Step): Promise<readonly boolean[]> {
  const wasLast: boolean[] = [];
  for (const partition of partitions) wasLast.push(await step(partition));
  return wasLast;
}

/** Unlike `Promise.all`, leaves no step running if another fails. */
async function together(partitions: readonly Partition[], step: Step): Promise<readonly boolean[]> {
  const ended = await Promise.allSettled(partitions.map(step));
  return ended.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
