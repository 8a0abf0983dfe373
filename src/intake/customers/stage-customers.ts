import { sql } from 'kysely';
import { type CustomerHash, consentOf } from '../../core/customer.ts';
import { errorCode, UNIQUE_VIOLATION } from '../../core/error-code.ts';
import { canCopy } from '../../db/connect.ts';
import { BinaryRows, type CopyRows, copyInto } from '../../db/copy-rows.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { keepsPlan } from '../../db/keeps-plan.ts';
import { type Database, rowOf } from '../../db/statement.ts';
import { type FileRead, fenceOf, NOT_AWAITING_DISK } from '../files/fence.ts';
import { type BatchedCustomer, toCustomerRows } from './batched-customer.ts';
import { CURRENT_KEY_NO } from './rekey-customers.ts';

export type StageCustomersOptions = FileRead & {
  readonly brandId: string;
  /** Each customer occurs once. */
  readonly placed: readonly BatchedCustomer[];
  /** Customers who were submitted or refused at least this many days ago are submitted again. Null: never. */
  readonly recheckAfterDays: number | null;
  /**
   * A hint that none of the customers is in the database yet. Looking them up is then skipped, unless
   * inserting fails.
   */
  readonly areLikelyNew: boolean;
};

export type StagedCustomers = {
  /** Decisions about known customers. All others are new, and are submitted unless their consent is no. */
  readonly known: ReadonlyMap<CustomerHash, Decision>;
  /** Customers who were waiting to be submitted and whose consent has become no. */
  readonly withdrawn: number;
};

/**
 * `submit`: submit the customer. `known`: do nothing, because the customer was or will be submitted.
 * `unsubscribed`: do not submit the customer, whose consent is no.
 */
export type Decision = 'submit' | 'known' | 'unsubscribed';

/**
 * Stores customers in intake.customers, once for each brand and with the batch that they belong to, and
 * decides which of them to submit. Sends no address to the database: the addresses of customers to submit are
 * stored later.
 *
 * A no holds whatever another file says, unless that has a yes with a later date.
 *
 * @returns null if another reader has taken over the file. Rows stored until then are removed with everything
 * else that this reader staged.
 */
export async function stageCustomers(
  db: Database,
  options: StageCustomersOptions,
): Promise<StagedCustomers | null> {
  const known = new Map<CustomerHash, Decision>();
  let withdrawn = 0;
  let left = await addCustomers(db, options);
  while (left !== null && left.length > 0) {
    const answer = await noteKnownCustomers(db, { ...options, placed: left });
    if (answer === null) return null;
    withdrawn += answer.withdrawn;
    const gone: BatchedCustomer[] = [];
    for (const [place, one] of left.entries()) {
      const decision = DECISIONS[answer.noted[place] ?? NOTED.gone];
      if (decision === undefined) gone.push(one);
      else known.set(one.customer.hash, decision);
    }
    // The reader of another file has died since, and the customers that it staged were removed with it. They
    // are new again.
    left =
      gone.length === 0 ? gone : await addCustomers(db, { ...options, placed: gone, areLikelyNew: false });
  }
  return left === null ? null : { known, withdrawn };
}

/** Decision about a known customer: nothing to do now, not to submit, submit, or no longer in the database. */
const NOTED = { known: 'k', unsubscribed: 'u', submit: 's', gone: 'g' } as const;

const DECISIONS: Readonly<Record<string, Decision | undefined>> = {
  [NOTED.submit]: 'submit',
  [NOTED.known]: 'known',
  [NOTED.unsubscribed]: 'unsubscribed',
};

/**
 * Inserts the customers who are not in intake.customers yet, with the batch that they belong to.
 *
 * @returns the customers who were already there. Null if another reader has taken over the file; then nothing
 * was inserted.
 */
export async function addCustomers(
  db: Database,
  options: StageCustomersOptions,
): Promise<readonly BatchedCustomer[] | null> {
  try {
    return await (options.areLikelyNew && canCopy(db) ? copyNewCustomers : add)(db, options);
  } catch (error) {
    if (errorCode(error) !== UNIQUE_VIOLATION) throw error;
    if (options.areLikelyNew) return addCustomers(db, { ...options, areLikelyNew: false });
    // A reader whose lease had expired, but which is still running, has inserted one of them meanwhile. Its
    // row is now visible.
    return add(db, options);
  }
}

/**
 * Looking each customer up before the insert costs less than `on conflict`, which does a look-up too and in
 * addition writes to the WAL. `limit 1` makes the planner use the unique index for each look-up, as in
 * stage-orders.ts.
 */
const UNKNOWN = sql`
  left join lateral (select c.customer_hash from intake.customers c where c.customer_hash = g.hash limit 1) c
    on true
  where c.customer_hash is null`;

/** Inserts in the order of the keys, so that neighbours use the same page of the index. */
async function add(
  db: Database,
  { brandId, placed, areLikelyNew, ...read }: StageCustomersOptions,
): Promise<readonly BatchedCustomer[] | null> {
  const row = await rowOf<{ fenced: string; added: string; hashes: string | null }>(db)`
    with fence as materialized (${fenceOf(read)}),
    added as (
      insert into intake.customers
        (customer_hash, brand_id, is_unsubscribed, source, staged_file_id, batch_id, orders_count, spent,
          currency, bought_with_code, said_yes,
         consented_at, refused_at, key_no)
      select g.hash, ${brandId}, g.is_out, f.source, case when not g.is_out then f.source_file_id end,
        case when not g.is_out then g.batch_id end,
        g.orders_count, g.spent, g.currency, g.with_code, g.said_yes, g.consented_at, g.refused_at,
        ${CURRENT_KEY_NO}
      from fence f
      cross join (
        select hash, coalesce(is_out, false) as is_out, batch_id, orders_count, spent, currency, with_code,
          said_yes, consented_at, refused_at
        from ${toCustomerRows(placed)} order by hash
      ) g
      ${areLikelyNew ? sql`` : UNKNOWN}
      returning customer_hash
    )
    select (select count(*) from fence) as fenced, count(*) as added, ${NOT_AWAITING_DISK},
      case when count(*) < ${placed.length}::integer
        then (select string_agg(encode(uuid_send(customer_hash), 'hex'), ',') from added) end as hashes
    from added`;
  if (row?.fenced !== '1') return null;
  if (Number(row.added) === placed.length) return [];
  const added = new Set(row.hashes?.split(','));
  return placed.filter(({ customer }) => !added.has(customer.hash));
}

/**
 * Stores customers with COPY, which takes Postgres two thirds of the time of an insert. The rows are the same.
 * @returns the customers who were already there, which are none. Null if another reader has taken over the file.
 */
async function copyNewCustomers(
  db: Database,
  { brandId, placed, ...read }: StageCustomersOptions,
): Promise<readonly [] | null> {
  return inTransaction(db, async (trx) => {
    const file = await rowOf<{ source: string; keyNo: number }>(trx)`
      with fence as materialized (${fenceOf(read)})
      select source, ${CURRENT_KEY_NO} as "keyNo", ${NOT_AWAITING_DISK} from fence ${keepsPlan}`;
    if (file === undefined) return null;
    const { source, keyNo } = file;
    await copyInto(
      trx,
      `copy intake.customers (brand_id, source, key_no, staged_file_id, batch_id, is_unsubscribed, customer_hash, orders_count, spent,
        currency, bought_with_code, said_yes, consented_at, refused_at) from stdin (format binary)`,
      toRows(placed, { brandId, source, sourceFileId: read.sourceFileId, keyNo }),
    );
    return [];
  });
}

/** What all customers of a file have in common. */
type Shared = {
  readonly brandId: string;
  readonly source: string;
  readonly sourceFileId: string;
  readonly keyNo: number;
};

const COLUMNS = 14;
/** Room for a row with short names of brand and source. */
const ROW_BYTES = 180;
const KEY_BYTES = 16;
/** More customers than one statement has. A place and 32 bits fit into the 53 bits of a number. */
const PLACES = 2 ** 20;

/**
 * Encodes customers in the order of the first 32 bits of their keys, so that neighbours use the same page of the
 * index.
 */
function toRows(placed: readonly BatchedCustomer[], shared: Shared): CopyRows {
  const keys = Buffer.alloc(placed.length * KEY_BYTES);
  const order = new Float64Array(placed.length);
  for (const [place, { customer }] of placed.entries()) {
    const at = place * KEY_BYTES;
    keys.write(customer.hash, at, KEY_BYTES, 'hex');
    order[place] = keys.readUInt32BE(at) * PLACES + place;
  }
  const rows = new BinaryRows({ columns: COLUMNS, roomBytes: placed.length * ROW_BYTES });
  const valuesByBatch = new Map<string | null, Buffer>();
  for (const prefix of order.sort()) {
    const place = prefix % PLACES;
    const given = placed[place];
    if (given === undefined) throw new Error(`there is no customer at ${place}`);
    const { customer, batchId } = given;
    const ownBatch = consentOf(customer) === 'no' ? null : batchId;
    const ofBatch =
      valuesByBatch.get(ownBatch) ??
      BinaryRows.valuesOf((values) => {
        values.text(shared.brandId);
        values.text(shared.source);
        values.smallint(shared.keyNo);
        values.bigint(ownBatch === null ? null : shared.sourceFileId);
        values.bigint(ownBatch);
        values.boolean(ownBatch === null);
      });
    valuesByBatch.set(ownBatch, ofBatch);
    rows.begin();
    rows.values(ofBatch);
    rows.uuid(keys, place * KEY_BYTES);
    rows.integer(customer.ordersCount);
    rows.numeric(customer.spent);
    rows.text(customer.currency);
    rows.boolean(customer.boughtWithCode);
    rows.boolean(customer.saidYes);
    rows.timestamptz(customer.consentedAt);
    rows.timestamptz(customer.refusedAt);
  }
  return rows.toCopyRows();
}

type NotedCustomers = {
  /** One letter for each customer, in the order given. See `NOTED`. */
  readonly noted: string;
  /** Customers who were waiting to be submitted and whose consent has become no. */
  readonly withdrawn: number;
};

/**
 * Updates known customers with the data of a file, merges what it says about their consent as `mergeConsent`
 * does, and decides which of them are submitted with this file.
 * These are customers whose batch no longer exists because its file was never sealed, and customers whose
 * recheck is due. The array of changed hashes makes Postgres look each of them up in the unique index.
 *
 * @returns null if another reader has taken over the file; then nothing was changed.
 */
async function noteKnownCustomers(
  db: Database,
  { placed, recheckAfterDays, ...read }: StageCustomersOptions,
): Promise<NotedCustomers | null> {
  const row = await rowOf<{ fenced: string; noted: string; withdrawn: string }>(db)`
    with fence as materialized (${fenceOf(read)}),
    met as (
      select f.source_file_id, f.source, g.hash, g.batch_id, g.is_out as says_no, g.orders_count, g.spent,
        g.currency, g.with_code, g.place,
        c.customer_hash is not null as is_known, c.is_unsubscribed, c.staged_file_id,
        c.batch_id as old_batch_id, c.answer, c.settled_at, c.earlier_submitted_at, g.said_yes
          or coalesce(c.said_yes, false) as said_yes,
          greatest(g.consented_at, c.consented_at) as consented_at,
        -- A process of the previous version records a no without a time. It holds.
        greatest(g.refused_at, c.refused_at,
          case
            when c.is_unsubscribed
              and (c.refused_at is null or c.consented_at > c.refused_at)
                then timestamptz 'infinity' end) as refused_at,
        c.customer_hash is not null and (
          row(c.orders_count, c.spent, c.currency, c.bought_with_code) is distinct from row(
            coalesce(g.orders_count, c.orders_count), coalesce(g.spent, c.spent),
            case when g.spent is null then c.currency else g.currency end,
            coalesce(g.with_code, false) or c.bought_with_code)
          or g.said_yes > c.said_yes or g.consented_at > c.consented_at or g.consented_at is not null
          and c.consented_at is null
          or g.refused_at > c.refused_at or g.refused_at is not null and c.refused_at is null) as says_more
      from fence f cross join ${toCustomerRows(placed)}
      left join lateral (
        select c.*, b.state as answer, b.settled_at
        from intake.customers c left join intake.identify_batches b on b.batch_id = c.batch_id
        where c.customer_hash = g.hash limit 1) c on true
    ),
    judged as materialized (
      select c.*, c.is_out and c.answer is null
        and (c.staged_file_id = c.source_file_id or ${isStored}) as is_waiting,
        case
          when not c.is_known then null
          when c.is_out then case when not c.is_unsubscribed then 'withdraw' end
          -- A row that says no begins nothing, even if another row said yes later.
          when c.says_no or c.staged_file_id = c.source_file_id then null
          when c.answer is null and ${isStored} then null
          when coalesce(c.settled_at, c.earlier_submitted_at) is null then 'submit'
          when coalesce(c.settled_at, c.earlier_submitted_at) <= now() - ${recheckAfterDays}::numeric
            * interval '1 day'
            then 'submit'
        end as change
      from (select *, refused_at is not null and (consented_at > refused_at) is not true as is_out from met) c
    ),
    changed as (
      update intake.customers c
      set is_unsubscribed = k.is_out, said_yes = k.said_yes, consented_at = k.consented_at,
        refused_at = k.refused_at,
          source = case when k.change = 'withdraw' then k.source else c.source end,
          staged_file_id = case when k.change = 'submit' then k.source_file_id else c.staged_file_id end,
          batch_id = case when k.change = 'submit' then k.batch_id else c.batch_id end,
          earlier_submissions = c.earlier_submissions
            + coalesce(k.change = 'submit' and k.answer = 'accepted', false)::integer,
          earlier_submitted_at = case when k.change = 'submit' and k.answer = 'accepted' then k.settled_at
            else c.earlier_submitted_at end,
          -- An amount keeps the currency that was stated with it, also if that is unknown.
          orders_count = coalesce(k.orders_count, c.orders_count), spent = coalesce(k.spent, c.spent),
          currency = case when k.spent is null then c.currency else k.currency end,
          bought_with_code = case when k.with_code then true
            else coalesce(c.bought_with_code, k.with_code) end
      from judged k
      where c.customer_hash = k.hash and (k.change is not null or k.says_more)
        and c.customer_hash = any (array(select hash from judged where change is not null or says_more))
    )
    select (select count(*) from fence) as fenced,
      count(*) filter (where change = 'withdraw' and is_waiting) as withdrawn, coalesce(string_agg(
        case when not is_known then ${NOTED.gone} when is_out then ${NOTED.unsubscribed}
          when change = 'submit' then ${NOTED.submit} else ${NOTED.known} end, '' order by place),
          '') as noted
    from judged`;
  return row?.fenced === '1' ? { noted: row.noted, withdrawn: Number(row.withdrawn) } : null;
}

/**
 * SQL that is true if the batch of customer `c` is waiting and belongs to a sealed file. Its form makes
 * Postgres look both up by their keys, whatever the planner's statistics say.
 */
const isStored = sql`exists (
  select from intake.waiting_batches w where w.batch_id = c.old_batch_id
    and (select f.state from intake.source_files f where f.source_file_id = w.source_file_id) = 'sealed')`;
