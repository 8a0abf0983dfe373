import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { StatedContact } from '../model/contact.ts';
import { type FileRead, fenceOf } from './fence.ts';

export type StageContactsOptions = FileRead & {
  readonly brandId: string;
  /** Each customer once. */
  readonly contacts: readonly StatedContact[];
  /** Customers whom the job would look up, in the same order; null: none of them. */
  readonly wanted: readonly boolean[] | null;
  /** A customer who was submitted, refused or looked up so many days ago is again; null: never. */
  readonly recheckAfterDays: number | null;
};

export type StagedContacts = {
  /** One letter a customer, in the order given; see `Verdict`. */
  readonly verdicts: string;
  /** First seen in this file, unsubscribed ones included. */
  readonly new: number;
  /** Waited to be submitted, and have unsubscribed since. */
  readonly withdrawn: number;
};

/** What is to be done with a customer: nothing, submit it, look it up, or both. */
export const VERDICTS = { nothing: 'n', submit: 's', lookUp: 'l', both: 'b' } as const;

/**
 * Notes customers in ledger.contacts, where each stands once a brand, and tells which of them are to be submitted: new ones; ones that
 * wait with a file that was never sealed (its reader died); ones whose time has come again. Sends no address to the database: those of
 * the ones to be submitted are staged after.
 *
 * An unsubscribed customer stays so, whatever another file says: files do not tell which of them is newer.
 * `limit 1` keeps each look-up a look-up in a unique index, as in stage-orders.ts.
 *
 * @returns null when another reader has taken the file over: nothing was noted.
 */
export async function stageContacts(
  db: Database,
  options: StageContactsOptions,
): Promise<StagedContacts | null> {
  const { brandId, contacts, wanted, recheckAfterDays } = options;
  const columns = toColumns(contacts);
  const { rows } = await sql<{ fenced: string; verdicts: string | null; new: string; withdrawn: string }>`
    with fence as materialized (${fenceOf(options)}),
    given as materialized (
      select f.source_file_id, f.source, g.hash, coalesce(g.is_out, false) as is_out, coalesce(g.is_wanted, false) as is_wanted,
        g.orders_count, g.spent, g.currency, g.with_code, g.place
      from fence f cross join rows from (
        unnest(${columns.hashes}::uuid[]), unnest(${columns.unsubscribed}::boolean[]), unnest(${toArray(wanted)}::boolean[]),
        unnest(${columns.ordersCounts}::integer[]), unnest(${columns.spents}::numeric(18,4)[]), unnest(${columns.currencies}::text[]),
        unnest(${columns.withCodes}::boolean[])
      ) with ordinality as g(hash, is_out, is_wanted, orders_count, spent, currency, with_code, place)
    ),
    inserted as (
      insert into ledger.contacts
        (contact_hash, brand_id, state, source, staged_file_id, orders_count, spent, currency, bought_with_code)
      select hash, ${brandId}, case when is_out then 'unsubscribed' else 'staged' end, source,
        case when not is_out then source_file_id end, orders_count, spent, currency, with_code
      from given on conflict (contact_hash) do nothing
      returning contact_hash
    ),
    known as materialized (
      select g.*, c.state,
        case
          when g.is_out then case when c.state <> 'unsubscribed' then 'withdraw' end
          when c.state = 'unsubscribed' or c.staged_file_id = g.source_file_id or f.state = 'sealed' then null
          when c.state = 'staged' or c.at <= now() - ${recheckAfterDays}::numeric * interval '1 day' then 'submit'
        end as change,
        c.staged_file_id is not null as is_waiting,
        row(c.orders_count, c.spent, c.currency, c.bought_with_code) is distinct from row(
          coalesce(g.orders_count, c.orders_count), coalesce(g.spent, c.spent), coalesce(g.currency, c.currency),
          coalesce(g.with_code, false) or c.bought_with_code) as says_more
      from given g
      cross join lateral (
        select c.state, c.staged_file_id, c.orders_count, c.spent, c.currency, c.bought_with_code, b.settled_at as at
        from ledger.contacts c left join ledger.identify_batches b on b.batch_id = c.batch_id
        where c.contact_hash = g.hash limit 1) c
      left join intake.source_files f on f.source_file_id = c.staged_file_id
      where not exists (select from inserted i where i.contact_hash = g.hash)
    ),
    changed as (
      update ledger.contacts c
      set state = case when k.change = 'withdraw' then 'unsubscribed' else c.state end,
          source = case when k.change = 'withdraw' then k.source else c.source end,
          staged_file_id = case when k.change = 'submit' then k.source_file_id else c.staged_file_id end,
          orders_count = coalesce(k.orders_count, c.orders_count), spent = coalesce(k.spent, c.spent),
          currency = coalesce(k.currency, c.currency),
          bought_with_code = case when k.with_code then true else coalesce(c.bought_with_code, k.with_code) end
      from known k where c.contact_hash = k.hash and (k.change is not null or k.says_more)
    ),
    asked as materialized (
      select g.place from given g cross join lateral (
        select 1 from ledger.lookups l
        where l.contact_hash = g.hash and (l.looked_up_at > now() - ${recheckAfterDays}::numeric * interval '1 day') is not false
        limit 1) l
      where g.is_wanted
    ),
    judged as (
      select g.place,
        not g.is_out and (i.contact_hash is not null or k.change = 'submit') as submits,
        g.is_wanted and not g.is_out and k.state is distinct from 'unsubscribed' and a.place is null as looks_up
      from given g left join inserted i on i.contact_hash = g.hash left join known k on k.place = g.place
        left join asked a on a.place = g.place
    )
    select (select count(*) from fence) as fenced, (select count(*) from inserted) as new,
      (select count(*) from known where change = 'withdraw' and is_waiting) as withdrawn,
      string_agg(case when submits and looks_up then 'b' when submits then 's' when looks_up then 'l' else 'n' end,
        '' order by place) as verdicts
    from judged`.execute(db);
  const [row] = rows;
  if (row?.fenced !== '1') return null;
  return { verdicts: row.verdicts ?? '', new: Number(row.new), withdrawn: Number(row.withdrawn) };
}

/** Whole columns are written and read several times faster than rows; one that says nothing is left out. */
function toColumns(contacts: readonly StatedContact[]) {
  const column = (read: (contact: StatedContact) => string | number | boolean | null) =>
    toArray(contacts.map(read));
  return {
    hashes: column(({ hash }) => hash),
    unsubscribed: column(({ isUnsubscribed }) => isUnsubscribed || null),
    ordersCounts: column(({ ordersCount }) => ordersCount),
    spents: column(({ spent }) => spent),
    currencies: column(({ currency }) => currency),
    withCodes: column(({ boughtWithCode }) => boughtWithCode),
  };
}

/** An array of Postgres as text, of values that need no quotes: digits, hexadecimal digits, letters. Null when all are. */
export function toArray(values: readonly (string | number | boolean | null)[] | null): string | null {
  if (values === null || values.every((value) => value === null)) return null;
  return `{${values.map((value) => value ?? 'null').join()}}`;
}
