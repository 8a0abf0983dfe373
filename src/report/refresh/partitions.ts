import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/connect.ts';

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

/**
 * Runs the steps of both partitions at the same time. In a plan, which has one session, one partition follows the other.
 *
 * @param step runs the next step of a partition; returns true if it was the last. If it throws, the other partition ends after
 * its current step.
 * @throws the first error, once both partitions have ended.
 */
export async function inPartitions(
  db: Database,
  step: (partition: Partition) => Promise<boolean>,
): Promise<void> {
  let hasFailed = false;
  async function work(partition: Partition): Promise<void> {
    try {
      while (!hasFailed && !(await step(partition)));
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  }
  if (db.isTransaction) {
    for (const partition of PARTITIONS) await work(partition);
    return;
  }
  for (const ended of await Promise.allSettled(PARTITIONS.map(work)))
    if (ended.status === 'rejected') throw ended.reason;
}
