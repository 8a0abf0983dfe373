import { type RawBuilder, sql } from 'kysely';
import type { Claim, EntryState, Outcome } from '../core/ledger.ts';
import { keepsPlan } from '../db/keeps-plan.ts';
import { type Database, rowsOf } from '../db/statement.ts';

/** The outcome of one attempt, ready to be stored or spooled. */
export type Answer = {
  readonly entryId: string;
  readonly attempt: number;
  readonly outcome: Outcome;
  /**
   * How long the entry waits before its next claim, in milliseconds. Used only for `not_written` and
   * `throttled`.
   */
  readonly backoffMs: number;
  /** The claim that this answer belongs to. Only spools written before version 0.2 lack it. */
  readonly claim?: Claim;
};

/** Result for an answer whose claim is not in the database, because the database has lost commits. */
export const LOST = 'lost';

/** Where an answer was kept until it was recorded; `direct`: nowhere. */
type Via = 'direct' | 'spool' | 'journal';

/** The new state of an entry. Null if fencing kept the answer from changing it. */
export type Recorded = EntryState | typeof LOST | null;

/** Thrown when the database no longer has a claim whose commit it had acknowledged. */
export class LedgerWentBack extends Error {
  constructor() {
    super('the database lacks claims that were committed to it: it was restored, replaced, or failed over');
    this.name = 'LedgerWentBack';
  }
}

/**
 * Records one answer. Resolves to the entry's new state, or to null if fencing kept the answer from changing
 * the entry.
 */
export type RecordAnswer = (answer: Answer) => Promise<EntryState | null>;

/**
 * Stores answers and changes their entries, fenced by claim and attempt. An answer to an older attempt or to
 * a settled entry is stored but changes nothing. Storing the same answer twice is harmless; this happens when
 * a spool is replayed after a commit with an unknown outcome. An answer whose claim is not in the database is
 * not stored, because its entry id and attempt may now belong to a claim of another order.
 *
 * @returns the new state of each entry, in the order of the answers; null if fencing kept the answer from
 * changing it; `lost` if the claim is not in the database.
 */
export async function recordAnswers(
  db: Database,
  answers: readonly Answer[],
  via: Via,
): Promise<readonly Recorded[]> {
  const rows = await rowsOf<AnsweredRow>(db)`
    with ${durable}, ${answerSteps(answers, via)}
    select g.entry_id, g.attempt, c.state
    from given g left join changed c on c.entry_id = g.entry_id and c.attempt = g.attempt ${keepsPlan}`;
  return statesOf(answers, rows);
}

/** What a statement returns about an answer that is in `given`. */
export type AnsweredRow = {
  readonly entry_id: string;
  readonly attempt: number;
  readonly state: EntryState | null;
};

/** The step of a statement whose commit must be on disk when it is acknowledged. */
export const durable = sql`durable as materialized (select set_config('synchronous_commit', 'on', true))`;

/**
 * The steps of a statement that records answers: `given` has those whose claim is in the database, and `changed` the
 * entries that they changed.
 */
export function answerSteps(answers: readonly Answer[], via: Via): RawBuilder<unknown> {
  return sql`
    given as materialized (
      select a.* from jsonb_to_recordset(${JSON.stringify(answers.map(toRow))}::jsonb) as a(
        entry_id bigint, attempt integer, claim_id uuid, kind text, http_status integer, message text,
        deal_id text, collab_id text, retry_after_ms bigint, backoff_ms bigint), durable
      -- With "exists", each group would hash all claims of a ledger that has less than some ten thousand.
      where a.claim_id is null or (
        select t.claim_id = a.claim_id
        from ledger.attempts t
        where t.entry_id = a.entry_id and t.attempt = a.attempt)
    ),
    changed as (
      update ledger.entries e
      set state = case
            when g.kind = 'accepted' then 'accepted'
            when g.kind in ('not_written', 'throttled') then 'ready'
            when g.kind = 'rejected'
              and (e.doubtful_attempt is null or e.doubtful_attempt = g.attempt) then 'rejected'
            else 'in_doubt' end,
          doubtful_attempt = case
            when g.kind = 'in_doubt' then coalesce(e.doubtful_attempt, g.attempt)
            when e.doubtful_attempt < g.attempt then e.doubtful_attempt end,
          -- An entry that is being sent has not changed since its claim.
          doubted_at = case
            when g.kind = 'in_doubt' then coalesce(e.doubted_at, e.state_changed_at)
            when e.doubtful_attempt < g.attempt then e.doubted_at end,
          not_sent = e.not_sent + (g.kind in ('not_written', 'throttled'))::int,
          not_before = case when g.kind in ('not_written', 'throttled')
            then clock_timestamp() + g.backoff_ms * interval '1 millisecond' end,
          owner = null,
          state_reason = g.message,
          deal_id = coalesce(g.deal_id, e.deal_id),
          collab_id = coalesce(g.collab_id, e.collab_id),
          state_changed_at = clock_timestamp()
      from given g
      where e.entry_id = g.entry_id and e.attempt = g.attempt and (e.state in ('sending', 'in_doubt')
        -- Approved to be sent again, but the answer of its doubtful attempt is found after all.
        or (g.kind = 'accepted' and e.state = 'ready' and e.doubtful_attempt is not null))
      returning e.entry_id, e.attempt, e.state
    ),
    answered as (
      insert into ledger.answers (entry_id, attempt, kind, http_status, message, deal_id, collab_id,
        retry_after_ms, via, applied)
      select g.entry_id, g.attempt, g.kind, g.http_status, g.message, g.deal_id, g.collab_id,
        g.retry_after_ms, ${via},
             c.entry_id is not null
      from given g left join changed c on c.entry_id = g.entry_id and c.attempt = g.attempt
    )`;
}

/** Returns the result of each answer, in their order. */
export function statesOf(answers: readonly Answer[], rows: readonly AnsweredRow[]): readonly Recorded[] {
  const states = new Map(rows.map((row) => [`${row.entry_id}/${row.attempt}`, row.state]));
  return answers.map((answer) => {
    const state = states.get(`${answer.entryId}/${answer.attempt}`);
    return state === undefined ? LOST : state;
  });
}

function toRow({ entryId, attempt, outcome, backoffMs, claim }: Answer) {
  const row = { entry_id: entryId, attempt, claim_id: claim?.claimId ?? null, kind: outcome.kind };
  switch (outcome.kind) {
    case 'accepted':
      return {
        ...row,
        http_status: outcome.httpStatus,
        deal_id: outcome.dealId,
        collab_id: outcome.collabId,
        message: outcome.message,
      };
    case 'rejected':
      return { ...row, http_status: outcome.httpStatus, message: outcome.message };
    case 'in_doubt':
      return { ...row, http_status: outcome.httpStatus, message: outcome.reason };
    case 'throttled':
      return {
        ...row,
        http_status: outcome.httpStatus,
        retry_after_ms: outcome.retryAfterMs,
        backoff_ms: backoffMs,
      };
    case 'not_written':
      return { ...row, message: outcome.reason, backoff_ms: backoffMs };
  }
}
