import { type RawBuilder, sql } from 'kysely';
import pLimit from 'p-limit';
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
  const inTurn = pLimit(db.isTransaction ? 1 : PARTITIONS.length);
  let unfinished = PARTITIONS;
  while (unfinished.length > 0) {
    // Unlike `Promise.all`, this leaves no step running if another fails.
    const ended = await Promise.allSettled(unfinished.map((partition) => inTurn(() => step(partition))));
    unfinished = unfinished.filter((_, index) => {
      const one = ended[index];
      if (one?.status === 'rejected') throw one.reason;
      return one?.value === false;
    });
  }
}
