import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { isUniqueViolation } from '../db/is-unique-violation.ts';
import { toArrayParameter } from '../db/to-array-parameter.ts';
import type { StatedContact } from '../model/contact.ts';
import type { OpenBatch } from './contact-packs.ts';
import { type FileRead, fenceOf } from './fence.ts';

export type StageContactsOptions = FileRead & {
  readonly brandId: string;
  /** Each customer once. */
  readonly contacts: readonly StatedContact[];
  /** Customers whom the job would look up, in the same order; null: none of them. */
  readonly wanted: readonly boolean[] | null;
  readonly batchSize: number;
  /** The batch that goes on with these customers; null: a new one begins. */
  readonly open: OpenBatch | null;
  /** A customer who was submitted, refused or looked up so many days ago is again; null: never. */
  readonly recheckAfterDays: number | null;
};

export type StagedContacts = {
  /** One letter a customer, in the order given; see `Verdict`. */
  readonly verdicts: string;
  /** Batches that begin with these customers, in their order. */
  readonly batchIds: readonly string[];
  /** First seen in this file, unsubscribed ones included. */
  readonly new: number;
  /** Waited to be submitted, and have unsubscribed since. */
  readonly withdrawn: number;
};

/** What is to be done with a customer: nothing, submit it, look it up, or both. */
export const VERDICTS = { nothing: 'n', submit: 's', lookUp: 'l', both: 'b' } as const;

/**
 * Notes customers in ledger.contacts, each once a brand and with the batch that it goes into, and tells which of them are to be
 * submitted: new ones; ones whose batch is gone, because the file that brought them was never sealed (its reader died); ones whose time
 * has come again. Sends no address to the database: those of the ones to be submitted are staged after.
 *
 * An unsubscribed customer stays so, whatever another file says: files do not tell which of them is newer.
 *
 * @returns null when another reader has taken the file over: nothing was noted.
 */
export async function stageContacts(
  db: Database,
  options: StageContactsOptions,
): Promise<StagedContacts | null> {
  try {
    return await note(db, options);
  } catch (error) {
    // A reader whose lease was over, and who lives on, has noted one of them meanwhile. Now it is seen.
    if (isUniqueViolation(error)) return note(db, options);
    throw error;
  }
}

/**
 * Looking each customer up before inserting costs less than `on conflict`, which does so too, and afterwards would have to be told apart.
 * `limit 1` keeps each look-up a look-up in a unique index, as in stage-orders.ts; so does the array of those that change.
 */
async function note(db: Database, options: StageContactsOptions): Promise<StagedContacts | null> {
  const { brandId, contacts, wanted, recheckAfterDays, batchSize, open } = options;
  const columns = toColumns(contacts);
  const begun = open === null ? [] : [open.batchId];
  const given = open?.given ?? 0;
  const newBatches = Math.ceil((given + contacts.length) / batchSize) - begun.length;
  const isDue = (instant: string) =>
    sql`${sql.raw(instant)} <= now() - ${recheckAfterDays}::numeric * interval '1 day'`;
  const { rows } = await sql<Row>`
    with fence as materialized (${fenceOf(options)}),
    batches as materialized (
      select ${toArrayParameter(begun)}::bigint[] || array(
        select nextval('intake.contacts_batch_id_seq') from fence, generate_series(1, ${newBatches}::integer)) as ids
    ),
    given as (
      select f.source_file_id, f.source, g.hash, coalesce(g.is_out, false) as is_out, coalesce(g.is_wanted, false) as is_wanted,
        g.orders_count, g.spent, g.currency, g.with_code, g.place,
        b.ids[1 + (${given}::integer + g.place - 1)::integer / ${batchSize}::integer] as batch_id
      from fence f cross join batches b cross join rows from (
        unnest(${columns.hashes}::uuid[]), unnest(${columns.unsubscribed}::boolean[]), unnest(${wanted === null ? null : toArrayParameter(wanted)}::boolean[]),
        unnest(${columns.ordersCounts}::integer[]), unnest(${columns.spents}::numeric(18,4)[]), unnest(${columns.currencies}::text[]),
        unnest(${columns.withCodes}::boolean[])
      ) with ordinality as g(hash, is_out, is_wanted, orders_count, spent, currency, with_code, place)
    ),
    judged as materialized (
      select g.*, c.contact_hash is null as is_new, c.is_unsubscribed, c.answer, c.settled_at,
        case
          when c.contact_hash is null then null
          when g.is_out then case when not c.is_unsubscribed then 'withdraw' end
          when c.is_unsubscribed or c.staged_file_id = g.source_file_id then null
          when c.answer is null and ${isStored} then null
          when coalesce(c.settled_at, c.earlier_submitted_at) is null then 'submit'
          when ${isDue('coalesce(c.settled_at, c.earlier_submitted_at)')} then 'submit'
        end as change,
        g.is_out and c.answer is null and (c.staged_file_id = g.source_file_id or ${isStored}) as is_waiting,
        c.contact_hash is not null and row(c.orders_count, c.spent, c.currency, c.bought_with_code) is distinct from row(
          coalesce(g.orders_count, c.orders_count), coalesce(g.spent, c.spent), coalesce(g.currency, c.currency),
          coalesce(g.with_code, false) or c.bought_with_code) as says_more,
        g.is_wanted and exists (
          select from ledger.lookups l
          where l.contact_hash = g.hash and (${isDue('l.looked_up_at')}) is not true) as is_looked_up
      from given g left join lateral (
        select c.*, b.state as answer, b.settled_at
        from ledger.contacts c left join ledger.identify_batches b on b.batch_id = c.batch_id
        where c.contact_hash = g.hash limit 1) c on true
    ),
    inserted as (
      insert into ledger.contacts
        (contact_hash, brand_id, is_unsubscribed, source, staged_file_id, batch_id, orders_count, spent, currency, bought_with_code)
      select hash, ${brandId}, is_out, source, case when not is_out then source_file_id end, case when not is_out then batch_id end,
        orders_count, spent, currency, with_code
      from judged where is_new
    ),
    changed as (
      update ledger.contacts c
      set is_unsubscribed = c.is_unsubscribed or k.change is not distinct from 'withdraw',
          source = case when k.change = 'withdraw' then k.source else c.source end,
          staged_file_id = case when k.change = 'submit' then k.source_file_id else c.staged_file_id end,
          batch_id = case when k.change = 'submit' then k.batch_id else c.batch_id end,
          earlier_submissions = c.earlier_submissions + coalesce(k.change = 'submit' and k.answer = 'accepted', false)::integer,
          earlier_submitted_at = case when k.change = 'submit' and k.answer = 'accepted' then k.settled_at else c.earlier_submitted_at end,
          orders_count = coalesce(k.orders_count, c.orders_count), spent = coalesce(k.spent, c.spent),
          currency = coalesce(k.currency, c.currency),
          bought_with_code = case when k.with_code then true else coalesce(c.bought_with_code, k.with_code) end
      from judged k
      where c.contact_hash = k.hash and (k.change is not null or k.says_more)
        and c.contact_hash = any (array(select hash from judged where change is not null or says_more))
    )
    select (select count(*) from fence) as fenced, count(*) filter (where is_new) as new,
      count(*) filter (where change = 'withdraw' and is_waiting) as withdrawn,
      (select ids[${begun.length + 1}::integer:] from batches) as "batchIds",
      string_agg(
        case (not is_out and (is_new or change is not distinct from 'submit'))::integer
          + 2 * (is_wanted and not is_out and is_unsubscribed is not true and not is_looked_up)::integer
        when 1 then 's' when 2 then 'l' when 3 then 'b' else 'n' end, '' order by place) as verdicts
    from judged`.execute(db);
  const [row] = rows;
  if (row?.fenced !== '1') return null;
  const { verdicts, batchIds, new: added, withdrawn } = row;
  return { verdicts: verdicts ?? '', batchIds, new: Number(added), withdrawn: Number(withdrawn) };
}

type Row = {
  readonly fenced: string;
  readonly verdicts: string | null;
  readonly batchIds: readonly string[];
  readonly new: string;
  readonly withdrawn: string;
};

/** Of a customer `c`: its batch waits, stored with a file that counts. Both are looked up by their keys, whatever the planner knows. */
const isStored = sql`exists (
  select from intake.contacts w where w.batch_id = c.batch_id
    and (select f.state from intake.source_files f where f.source_file_id = w.source_file_id) = 'sealed')`;

/** Whole columns are written and read several times faster than rows. */
function toColumns(contacts: readonly StatedContact[]) {
  const column = (read: (contact: StatedContact) => string | number | boolean | null) =>
    toArrayParameter(contacts.map(read));
  return {
    hashes: column(({ hash }) => hash),
    unsubscribed: column(({ isUnsubscribed }) => isUnsubscribed || null),
    ordersCounts: column(({ ordersCount }) => ordersCount),
    spents: column(({ spent }) => spent),
    currencies: column(({ currency }) => currency),
    withCodes: column(({ boughtWithCode }) => boughtWithCode),
  };
}
