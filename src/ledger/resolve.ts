import { sql } from 'kysely';
import type { EntryState } from '../core/ledger.ts';
import { countOf, type Database, rowsOf } from '../db/statement.ts';

export type Resolution = {
  readonly entryId: string;
  /** The person's reason, in their own words. Not blank. */
  readonly reason: string;
  /** Login name of the person, or the declared capability. */
  readonly decidedBy: string;
  /**
   * The entry as it was shown to the person. If the entry has changed since, the decision does nothing.
   * Omitted if no entry was shown.
   */
  readonly shown?: ShownEntry | undefined;
};

/**
 * State and attempt together identify one situation of an entry. Once that situation is over, it never
 * recurs.
 */
export type ShownEntry = { readonly state: EntryState; readonly attempt: number };

/** Whether the decision changed the entry, and its state now. `state` is null if the entry does not exist. */
export type Resolved = { readonly done: boolean; readonly state: EntryState | null };

/**
 * A decision about an entry (transition T8):
 *
 * - `accept`, in_doubt → accepted: a person knows that the service processed the request. Also stores the deal and the
 *   collaboration, if known.
 * - `write_off`, in_doubt → written_off: the outcome stays unknown, and the entry is not sent again.
 * - `resend`, in_doubt or rejected → ready, once. The next run sends the entry again. If the service had processed the
 *   first request, the order is credited twice.
 */
type EntryDecision = Resolution &
  (
    | { readonly decision: 'accept'; readonly dealId: string | null; readonly collabId: string | null }
    | { readonly decision: 'write_off' | 'resend' }
  );

/**
 * Changes an entry by a decision. The function of the database writes the decision in the same statement, and
 * only if the entry is in a state that the decision may change.
 */
export async function decideEntry(db: Database, made: EntryDecision): Promise<Resolved> {
  const { decision, entryId, shown, decidedBy, reason } = made;
  const { dealId, collabId } = decision === 'accept' ? made : { dealId: null, collabId: null };
  const rows = await rowsOf<Resolved>(db)`
    select done, state
    from ledger.decide(${entryId}::bigint, ${decision}, ${shown?.state ?? null},
      ${shown?.attempt ?? null}::integer,
      ${decidedBy}, ${reason}, ${dealId}, ${collabId})`;
  return rows[0] ?? { done: false, state: null };
}

/**
 * Records that a person has dealt with a double credit at the service. The entry does not change.
 *
 * @param resolution.credits number of credits that the person was shown, if any. If it has changed since,
 * nothing is recorded.
 */
export async function acknowledgeDoubleCredit(
  db: Database,
  resolution: Omit<Resolution, 'shown'> & { readonly credits?: number | undefined },
): Promise<Resolved> {
  const { entryId, credits = null, decidedBy, reason } = resolution;
  const rows = await rowsOf<Resolved>(db)`
    select done, state
    from ledger.acknowledge_double_credit(${entryId}::bigint, ${credits}::bigint, ${decidedBy}, ${reason})`;
  return rows[0] ?? { done: false, state: null };
}

/**
 * Transition T8 by declared capability (`service.duplicate_orders: ignored`): sends doubts again that are older
 * than the quiet period, each with a decision row.
 *
 * @returns the number of entries that became ready.
 */
export async function resendRestedDoubts(
  db: Database,
  options: { job: string; quietPeriodMs: number },
): Promise<number> {
  return requeue(db, {
    where: sql`e.job = ${options.job} and not e.is_settled and e.state = 'in_doubt' and e.effect = 'referral'
      and e.state_changed_at <= clock_timestamp() - ${options.quietPeriodMs} * interval '1 millisecond'`,
    decidedBy: 'duplicate_orders: ignored',
    reason: 'the service is declared to ignore a second order id of the same platform',
  });
}

/**
 * Sends entries again that the service rejected with 401 or 403, each with a decision row. Such an answer
 * refused the key, not the order. Call it only after the service has accepted the key again.
 *
 * @returns the number of entries that became ready.
 */
export async function resendUnauthorised(db: Database, options: { job: string }): Promise<number> {
  return requeue(db, {
    where: sql`e.job = ${options.job} and e.state = 'rejected' and (
      select true from ledger.answers a
      where a.entry_id = e.entry_id and a.attempt = e.attempt and a.kind = 'rejected'
        and a.http_status in (401, 403)
      limit 1)`,
    decidedBy: 'key accepted again',
    reason: 'the service had refused the key, not the order',
  });
}

type Requeue = {
  readonly where: ReturnType<typeof sql>;
  readonly decidedBy: string;
  readonly reason: string;
};

/**
 * SQL that is true if the order of entry `e` is still credited: it may have been cancelled meanwhile, and of one that no
 * decision is about any more, that is not known. Other effects are about no order.
 */
const isStillCredited = sql`
  (e.effect <> 'referral' or exists (
    select from intake.attributions a where a.entry_id = e.entry_id and a.outcome = 'attributed'))`;

async function requeue(db: Database, { where, decidedBy, reason }: Requeue): Promise<number> {
  return countOf(db)`
    with chosen as materialized (
      select e.entry_id, e.attempt
      from ledger.entries e
      where ${where} and ${isStillCredited}
      order by e.entry_id
      for update of e skip locked
    ),
    logged as (
      insert into ledger.decisions (entry_id, decision, attempt, decided_by, reason)
      select entry_id, 'resend', attempt, ${decidedBy}, ${reason} from chosen
    ),
    requeued as (
      update ledger.entries e
      set state = 'ready', state_reason = null,
        -- What was refused was not processed: like what was never sent, it needs no approval, and follows its order.
        not_sent = e.not_sent + (e.state = 'rejected')::integer,
        resends_approved = e.resends_approved + (e.state = 'in_doubt')::integer,
        state_changed_at = clock_timestamp()
      from chosen
      where e.entry_id = chosen.entry_id and e.entry_id = any (array(select entry_id from chosen))
      returning 1
    )
    select count(*) as requeued from requeued`;
}
