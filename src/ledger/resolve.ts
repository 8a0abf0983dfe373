import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import type { EntryState } from '../model/ledger.ts';

export type Resolution = {
  readonly entryId: string;
  /** Why, in the words of who decides. Not blank. */
  readonly reason: string;
  /** Login name of the person, or the declared capability. */
  readonly decidedBy: string;
  /** The entry as the person saw it: one that has changed since is left alone. Left out where nobody was shown anything. */
  readonly shown?: ShownEntry | undefined;
};

/** What a decision is about: together they name one situation of an entry, which never comes back once it is over. */
export type ShownEntry = { readonly state: EntryState; readonly attempt: number };

/** Whether the decision changed the entry, and the state it is in now. `state` is null when there is no such entry. */
export type Resolved = { readonly done: boolean; readonly state: EntryState | null };

/** T8, in_doubt → accepted: a person knows that it was processed. Names what was credited where it is known. */
export function acceptDoubt(
  db: Database,
  resolution: Resolution & { readonly dealId: string | null; readonly collabId: string | null },
): Promise<Resolved> {
  const { dealId, collabId } = resolution;
  return decide(db, resolution, {
    decision: 'accept',
    from: ['in_doubt'],
    set: sql`state = 'accepted', state_reason = 'accepted by decision',
      deal_id = coalesce(${dealId}::text, deal_id), collab_id = coalesce(${collabId}::text, collab_id)`,
  });
}

/** T8, in_doubt → written_off: it stays unknown, and is not sent again. */
export function writeOffDoubt(db: Database, resolution: Resolution): Promise<Resolved> {
  return decide(db, resolution, {
    decision: 'write_off',
    from: ['in_doubt'],
    set: sql`state = 'written_off', state_reason = 'written off by decision'`,
  });
}

/** T8, in_doubt or rejected → ready, once: the next run sends it again. If it had been processed, it is credited twice. */
export function approveResend(db: Database, resolution: Resolution): Promise<Resolved> {
  return decide(db, resolution, {
    decision: 'resend',
    from: ['in_doubt', 'rejected'],
    set: sql`state = 'ready', state_reason = null, resends_approved = resends_approved + 1, not_before = null`,
  });
}

/**
 * A person has dealt with a double credit outside. The entry stays as it is.
 *
 * @param resolution.credits how many the person saw, where they were shown any: with another one since, nothing is acknowledged.
 */
export async function acknowledgeDoubleCredit(
  db: Database,
  resolution: Omit<Resolution, 'shown'> & { readonly credits?: number | undefined },
): Promise<Resolved> {
  const { credits = null } = resolution;
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ state: EntryState; attempt: number }>`
      select e.state, e.attempt from ledger.entries e
      where e.entry_id = ${resolution.entryId}::bigint
        and exists (
          select from ledger.double_credits d
          where d.entry_id = e.entry_id and (${credits}::bigint is null or d.credits = ${credits}::bigint))
      for update of e`.execute(trx);
    const [entry] = rows;
    if (entry === undefined) return { done: false, state: null };
    await trx
      .insertInto('ledger.decisions')
      .values({
        entry_id: resolution.entryId,
        decision: 'acknowledge',
        attempt: entry.attempt,
        decided_by: resolution.decidedBy,
        reason: resolution.reason,
      })
      .execute();
    return { done: true, state: entry.state };
  });
}

type Change = {
  readonly decision: 'accept' | 'write_off' | 'resend';
  readonly from: readonly EntryState[];
  readonly set: ReturnType<typeof sql>;
};

/** The decision row is written first, in the same commit, and only when the entry is in a state that it can change. */
async function decide(db: Database, resolution: Resolution, change: Change): Promise<Resolved> {
  return inTransaction(db, async (trx) => {
    const entry = await trx
      .selectFrom('ledger.entries')
      .select(['state', 'attempt'])
      .where('entry_id', '=', resolution.entryId)
      .forUpdate()
      .executeTakeFirst();
    const state = (entry?.state ?? null) as EntryState | null;
    if (entry === undefined || state === null || !change.from.includes(state)) return { done: false, state };
    const { shown } = resolution;
    if (shown !== undefined && (shown.state !== state || shown.attempt !== entry.attempt))
      return { done: false, state };
    await trx
      .insertInto('ledger.decisions')
      .values({
        entry_id: resolution.entryId,
        decision: change.decision,
        attempt: entry.attempt,
        decided_by: resolution.decidedBy,
        reason: resolution.reason,
      })
      .execute();
    const changed = await sql<{ state: EntryState }>`
      update ledger.entries set ${change.set}, state_changed_at = clock_timestamp()
      where entry_id = ${resolution.entryId} returning state`.execute(trx);
    return { done: true, state: changed.rows[0]?.state ?? null };
  });
}

/**
 * T8 by declared capability (`api.duplicate_orders: ignored`): doubts that have rested are sent again, each with a decision row.
 *
 * @returns how many.
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
 * A 401 or 403 refused the key, not the order: once the service knows the key again (the caller has just said hello), such entries
 * are sent again, each with a decision row.
 *
 * @returns how many.
 */
export async function resendUnauthorised(db: Database, options: { job: string }): Promise<number> {
  return requeue(db, {
    where: sql`e.job = ${options.job} and e.state = 'rejected' and (
      select true from ledger.answers a
      where a.entry_id = e.entry_id and a.attempt = e.attempt and a.kind = 'rejected' and a.http_status in (401, 403) limit 1)`,
    decidedBy: 'key accepted again',
    reason: 'the service had refused the key, not the order',
  });
}

type Requeue = {
  readonly where: ReturnType<typeof sql>;
  readonly decidedBy: string;
  readonly reason: string;
};

async function requeue(db: Database, { where, decidedBy, reason }: Requeue): Promise<number> {
  const result = await sql<{ requeued: string }>`
    with chosen as materialized (
      select e.entry_id, e.attempt from ledger.entries e where ${where} order by e.entry_id for update of e skip locked
    ),
    logged as (
      insert into ledger.decisions (entry_id, decision, attempt, decided_by, reason)
      select entry_id, 'resend', attempt, ${decidedBy}, ${reason} from chosen
    ),
    requeued as (
      update ledger.entries e
      set state = 'ready', state_reason = null, resends_approved = e.resends_approved + 1, not_before = null,
          state_changed_at = clock_timestamp()
      from chosen where e.entry_id = chosen.entry_id and e.entry_id = any (array(select entry_id from chosen)) returning 1
    )
    select count(*) as requeued from requeued`.execute(db);
  return Number(result.rows[0]?.requeued ?? 0);
}
