import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';
import { type FileRead, fenceOf } from '../files/fence.ts';
import { type BatchedCustomer, toCustomerRows } from './batched-customer.ts';

export type NoteKnownOptions = FileRead & {
  /** Each customer occurs once. */
  readonly placed: readonly BatchedCustomer[];
  /** Customers who were submitted or refused at least this many days ago are submitted again. Null: never. */
  readonly recheckAfterDays: number | null;
};

export type NotedCustomers = {
  /** One letter for each customer, in the order given. See `NOTED`. */
  readonly noted: string;
  /** Customers who were waiting to be submitted and whose consent has become no. */
  readonly withdrawn: number;
};

/** Decision about a known customer: nothing to do now, not to submit, submit, or no longer in the database. */
export const NOTED = { known: 'k', unsubscribed: 'u', submit: 's', gone: 'g' } as const;

/**
 * Updates known customers with the data of a file, merges what it says about their consent as `mergeConsent`
 * does, and decides which of them are submitted with this file.
 * These are customers whose batch no longer exists because its file was never sealed, and customers whose
 * recheck is due. The array of changed hashes makes Postgres look each of them up in the unique index.
 *
 * @returns null if another reader has taken over the file; then nothing was changed.
 */
export async function noteKnownCustomers(
  db: Database,
  { placed, recheckAfterDays, ...read }: NoteKnownOptions,
): Promise<NotedCustomers | null> {
  const { rows: answer } = await sql<{ fenced: string; noted: string; withdrawn: string }>`
    with fence as materialized (${fenceOf(read)}),
    met as (
      select f.source_file_id, f.source, g.hash, g.batch_id, g.is_out as says_no, g.orders_count, g.spent, g.currency, g.with_code, g.place,
        c.customer_hash is not null as is_known, c.is_unsubscribed, c.staged_file_id, c.batch_id as old_batch_id, c.answer, c.settled_at,
        c.earlier_submitted_at, g.said_yes or coalesce(c.said_yes, false) as said_yes, greatest(g.consented_at, c.consented_at) as consented_at,
        -- A process of the previous version records a no without a time. It holds.
        greatest(g.refused_at, c.refused_at,
          case when c.is_unsubscribed and (c.refused_at is null or c.consented_at > c.refused_at) then timestamptz 'infinity' end) as refused_at,
        c.customer_hash is not null and (
          row(c.orders_count, c.spent, c.currency, c.bought_with_code) is distinct from row(
            coalesce(g.orders_count, c.orders_count), coalesce(g.spent, c.spent), case when g.spent is null then c.currency else g.currency end,
            coalesce(g.with_code, false) or c.bought_with_code)
          or g.said_yes > c.said_yes or g.consented_at > c.consented_at or g.consented_at is not null and c.consented_at is null
          or g.refused_at > c.refused_at or g.refused_at is not null and c.refused_at is null) as says_more
      from fence f cross join ${toCustomerRows(placed)}
      left join lateral (
        select c.*, b.state as answer, b.settled_at
        from intake.customers c left join intake.identify_batches b on b.batch_id = c.batch_id
        where c.customer_hash = g.hash limit 1) c on true
    ),
    judged as materialized (
      select c.*, c.is_out and c.answer is null and (c.staged_file_id = c.source_file_id or ${isStored}) as is_waiting,
        case
          when not c.is_known then null
          when c.is_out then case when not c.is_unsubscribed then 'withdraw' end
          -- A row that says no begins nothing, even if another row said yes later.
          when c.says_no or c.staged_file_id = c.source_file_id then null
          when c.answer is null and ${isStored} then null
          when coalesce(c.settled_at, c.earlier_submitted_at) is null then 'submit'
          when coalesce(c.settled_at, c.earlier_submitted_at) <= now() - ${recheckAfterDays}::numeric * interval '1 day' then 'submit'
        end as change
      from (select *, refused_at is not null and (consented_at > refused_at) is not true as is_out from met) c
    ),
    changed as (
      update intake.customers c
      set is_unsubscribed = k.is_out, said_yes = k.said_yes, consented_at = k.consented_at, refused_at = k.refused_at,
          source = case when k.change = 'withdraw' then k.source else c.source end,
          staged_file_id = case when k.change = 'submit' then k.source_file_id else c.staged_file_id end,
          batch_id = case when k.change = 'submit' then k.batch_id else c.batch_id end,
          earlier_submissions = c.earlier_submissions + coalesce(k.change = 'submit' and k.answer = 'accepted', false)::integer,
          earlier_submitted_at = case when k.change = 'submit' and k.answer = 'accepted' then k.settled_at else c.earlier_submitted_at end,
          -- An amount keeps the currency that was stated with it, also if that is unknown.
          orders_count = coalesce(k.orders_count, c.orders_count), spent = coalesce(k.spent, c.spent),
          currency = case when k.spent is null then c.currency else k.currency end,
          bought_with_code = case when k.with_code then true else coalesce(c.bought_with_code, k.with_code) end
      from judged k
      where c.customer_hash = k.hash and (k.change is not null or k.says_more)
        and c.customer_hash = any (array(select hash from judged where change is not null or says_more))
    )
    select (select count(*) from fence) as fenced, count(*) filter (where change = 'withdraw' and is_waiting) as withdrawn,
      coalesce(string_agg(
        case when not is_known then ${NOTED.gone} when is_out then ${NOTED.unsubscribed}
          when change = 'submit' then ${NOTED.submit} else ${NOTED.known} end, '' order by place), '') as noted
    from judged`.execute(db);
  const [row] = answer;
  return row?.fenced === '1' ? { noted: row.noted, withdrawn: Number(row.withdrawn) } : null;
}

/**
 * SQL that is true if the batch of customer `c` is waiting and belongs to a sealed file. Its form makes
 * Postgres look both up by their keys, whatever the planner's statistics say.
 */
const isStored = sql`exists (
  select from intake.waiting_batches w where w.batch_id = c.old_batch_id
    and (select f.state from intake.source_files f where f.source_file_id = w.source_file_id) = 'sealed')`;
