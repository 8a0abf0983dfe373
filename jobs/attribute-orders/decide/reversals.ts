import type { RawBuilder, Transaction } from 'kysely';
import { rowsOf } from '../../../src/db/statement.ts';
import type { DB } from '../../../src/db/tables.ts';
import { means } from '../../../src/intake/layout/column-words.ts';

/** Reasons of excluded decisions that say that the order was cancelled, and those that say that it was given back. */
export type Reversals = { readonly cancelled: readonly string[]; readonly refunded: readonly string[] };

/**
 * Reads which reasons of decisions are reversals. A status is a word of the export, in its language.
 *
 * @param decisions SQL of a table `a` of decisions, with a condition.
 */
export async function readReversals(
  trx: Transaction<DB>,
  decisions: RawBuilder<unknown>,
): Promise<Reversals> {
  const rows = await rowsOf<{ reason: string }>(trx)`
    select distinct a.reason from ${decisions} and a.outcome = 'excluded' and a.reason is not null`;
  const that = (meaning: 'cancelled' | 'refunded') =>
    rows.flatMap(({ reason }) => (means(reason, meaning) ? [reason] : []));
  return { cancelled: that('cancelled'), refunded: that('refunded') };
}
