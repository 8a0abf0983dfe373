import { type RawBuilder, sql } from 'kysely';
import { HELD_REASONS } from '../../core/held/held-order.ts';
import { ZONE_HOURS } from '../../core/order.ts';
import type { RejectedRowInFile } from '../../core/report.ts';
import { foldCode } from '../../core/text/fold.ts';
import { foldOrderId, withoutGlobalId } from '../../core/text/order-key.ts';
import type { AgeBasis } from '../../core/time/file-age.ts';
import { type Database, rowOf, rowsOf } from '../../db/statement.ts';
import { minutesBetween, statedAmount, zoneStepsOf } from '../../intake/orders/order-columns.ts';
import { isNotMatchedYet, type OwnedCode } from '../codes/list-codes.ts';
import { listRejected } from '../files/list-rejected.ts';
import { type HeldGroup, heldDecision, heldWord } from '../held/held-orders.ts';
import { type EntryLife, readEntryLives } from './entry-lives.ts';

export type OrderVersion = {
  readonly uri: string;
  readonly line: string;
  readonly rows: number;
  readonly fileState: string;
  readonly isCurrent: boolean;
  /** True if a newer file had stated something else when this one was read, so it never was in force. */
  readonly isOlder: boolean;
  /** Why the order is held although its file counts, for example `conflicting_states`. */
  readonly doubt: string | null;
  readonly ageBasis: AgeBasis | null;
  /** When the order last changed, by its row. Null if the source does not go by the column, or a row does not say it. */
  readonly changedAt: Date | null;
  readonly status: string | null;
  readonly currency: string;
  readonly total: string | null;
  readonly subtotal: string | null;
  readonly refunded: string | null;
  readonly codes: readonly string[];
  readonly links: readonly string[];
  /** Ids at other channels that its tags and notes name. */
  readonly otherIds: readonly string[];
  readonly exclusion: string | null;
  /** The creator that the export itself names, by handle, deal or collaboration. */
  readonly influencerHandle: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly placedAt: Date | null;
  readonly cancelledAt: Date | null;
  readonly firstSeenAt: Date;
  readonly runId: string;
};

export type OrderAttribution = {
  readonly job: string;
  readonly outcome: string;
  readonly reason: string | null;
  /** What holds it because it is not known, as `status` of `HeldGroup`. */
  readonly word: string | null;
  readonly matchedBy: string | null;
  readonly matchedValue: string | null;
  readonly influencerHandle: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly brandId: string | null;
  readonly amount: string | null;
  readonly currency: string;
  readonly decidedAt: Date;
  /** The evidence and its owners, if the order has evidence for more than one: `link mia → deal D1`. */
  readonly claims: string | null;
  /** Owners of the codes of an order that nobody owns at its time: their time is over or has not begun. */
  readonly owners: readonly CodeOwner[];
  /** The code of such an order that a person has assigned since; the next run matches it. Null: none. */
  readonly assigned: { readonly code: string; readonly owner: string } | null;
  /** What a person decided about it while it is held (`HeldGroup`). */
  readonly decision: HeldGroup['decision'];
  /** The last backfill of the days of an order from before the start of the job; one that is not over comes first. */
  readonly backfill: { readonly id: string; readonly state: string } | null;
};

/** A code with its owner: a handle, a deal or a collaboration. */
export type CodeOwner = Pick<
  OwnedCode,
  'code' | 'validFrom' | 'validTo' | 'validFromText' | 'validToText'
> & { readonly owner: string };

/** A known order that a held one may be, or may be a part of. */
export type AlikeOrder = {
  readonly source: string;
  readonly orderId: string;
  readonly orderName: string | null;
  readonly placedAt: Date | null;
  readonly amount: string | null;
  readonly currency: string;
  /** The state of its entry in the ledger, else what was decided about it. Null if nothing was. */
  readonly state: string | null;
};

export type OrderLife = {
  readonly source: string | null;
  readonly orderId: string;
  readonly orderName: string | null;
  readonly versions: readonly OrderVersion[];
  /** Whether earlier versions were deleted because they were older than `retention.order_versions`. */
  readonly hasPrunedVersions: boolean;
  readonly attributions: readonly OrderAttribution[];
  readonly entries: readonly EntryLife[];
  /** Rows that state it and could not be used. */
  readonly rejected: readonly RejectedRowInFile[];
  /** Orders with which a person compares it, if it is held for that. */
  readonly alike: readonly AlikeOrder[];
};

/**
 * Reads the history of an order, from the line in the file to the service's answer. Several sources can contain the
 * same id, so there may be several results. Empty if no file contained the order and the ledger does not know it.
 *
 * @param options see `findOrders`.
 */
export async function explainOrder(
  db: Database,
  options: { readonly order: string; readonly source?: string; readonly isWhole?: boolean },
): Promise<readonly OrderLife[]> {
  const rows = await findOrders(db, options);
  return Promise.all(rows.map((life) => readLife(db, life)));
}

/**
 * Finds orders by their id or name.
 *
 * @param options.order the id, also as `gid://shopify/Order/5601`, or the name (`#1001`). The `#` may be left out if no
 *   order has such an id. If no order has the id or name, those are found whose id joins it with other columns.
 * @param options.isWhole leaves these out: to find them, all orders are looked at.
 */
export async function findOrders(
  db: Database,
  options: { readonly order: string; readonly source?: string; readonly isWhole?: boolean },
): Promise<readonly Found[]> {
  const { source = null, isWhole = false } = options;
  const order = withoutGlobalId(options.order);
  // Names have no index, because it would slow down the reading of every order. So the id is tried first,
  // unless the text can only be a name.
  const [find, findOtherwise] = order.startsWith('#') ? [findByName, findById] : [findById, findByName];
  const finders = [find, findOtherwise, ...(isWhole || !/\d/.test(order) ? [] : [findByPart])];
  for (const one of finders) {
    const found = await one(db, { order, source });
    if (found.length > 0) return found;
  }
  return [];
}

/**
 * Finds the ids that a text means, as `findOrders` does: an id or name, in either case. The text itself if it is an id, or
 * if no order is known.
 */
export async function findOrderIds(db: Database, order: string): Promise<readonly string[]> {
  const ids = (await findOrders(db, { order, isWhole: true })).map(({ orderId }) => orderId);
  return ids.length === 0 || ids.includes(order) ? [order] : [...new Set(ids)];
}

/** Finds ids that join an id with other columns (`joined_columns`): `Utrecht:1003` for `1003`. */
function findByPart(db: Database, { order, source }: Asked) {
  return rowsOf<Found>(db)`
    select source, order_id as "orderId", order_name as "orderName" from intake.orders
    where is_current and strpos(order_id, ':') > 0
      and string_to_array(lower(order_id), ':') @> array[lower(${foldOrderId(order)})]
      and (${source}::text is null or source = ${source}::text)
    order by source, order_id limit 20`;
}

type Found = { readonly source: string | null; readonly orderId: string; readonly orderName: string | null };
type Asked = { readonly order: string; readonly source: string | null };

/**
 * All sources with orders, and all jobs with attributions. The recursive queries jump from value to value in
 * the first column of an index; with those values, the rest of the index finds an order at once.
 */
const SOURCES = sql`
  sources as (
    (select o.source from intake.orders o where o.is_current order by o.source limit 1)
    union all
    select (select o.source from intake.orders o where o.is_current and o.source > s.source order by o.source
      limit 1)
    from sources s where s.source is not null
  )`;
const JOBS = sql`
  jobs as (
    (select a.job from intake.attributions a order by a.job limit 1)
    union all
    select (select a.job from intake.attributions a where a.job > j.job order by a.job limit 1)
    from jobs j
    where j.job is not null
  )`;

/** An id or name as it is written, folded, and in either case, because people do not write what a shop writes. */
function spellings(order: string): readonly string[] {
  return [...new Set([order, foldOrderId(order), order.toUpperCase(), order.toLowerCase()])];
}

function findById(db: Database, { order, source }: Asked) {
  return rowsOf<Found>(db)`
    with recursive ${SOURCES}
    select source, order_id as "orderId", max(order_name) as "orderName" from (
      select o.source, o.order_id, o.order_name from sources s
      join intake.orders o on o.source = s.source and o.order_id = any(${spellings(order)}::text[])
        and o.is_current
      union all
      select source, ledger.fold_order_id(order_id), null
      from ledger.entries
      where ledger.fold_order_id(order_id) = ${foldOrderId(order)}
      union all
      ${rejectedWith(sql`r.order_id = any(${spellings(order)}::text[])`)}
    ) known
    where (${source}::text is null or source = ${source}::text)
    group by source, order_id order by source, order_id limit 20`;
}

function findByName(db: Database, { order, source }: Asked) {
  const names = spellings(order).flatMap((each) => [each, `#${each}`]);
  return rowsOf<Found>(db)`
    select source, order_id as "orderId", max(order_name) as "orderName" from (
      select source, order_id, order_name from intake.orders where order_name = any(${names}::text[])
      union all
      ${rejectedWith(sql`r.order_name = any(${names}::text[])`)}
    ) known
    where (${source}::text is null or source = ${source}::text)
    group by source, order_id order by source, order_id limit 20`;
}

/** SQL for the orders that rejected rows state. */
function rejectedWith(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select f.source, coalesce(r.order_id, r.order_name), r.order_name
      from intake.rejected_rows r join intake.source_files f using (source_file_id) where ${condition}`;
}

async function readLife(
  db: Database,
  life: Pick<OrderLife, 'source' | 'orderId' | 'orderName'>,
): Promise<OrderLife> {
  const { versions, hasPrunedVersions } = await readVersions(db, life);
  const codes = versions.flatMap(({ isCurrent, codes: own }) => (isCurrent ? own.map(foldCode) : []));
  const attributions: OrderAttribution[] = [];
  for (const one of await readAttributions(db, life))
    attributions.push(
      one.outcome === 'unattributed'
        ? {
            ...one,
            owners: await readOwners(db, one.job, codes),
            assigned: await readAssigned(db, one.job, codes),
          }
        : one,
    );
  return {
    ...life,
    versions,
    hasPrunedVersions,
    attributions,
    entries: await readEntries(db, life),
    rejected: await listRejected(db, {
      sources: life.source === null ? null : [life.source],
      orders: [life.orderId],
    }),
    alike: attributions.some(isHeldAsAlike) ? await readAlike(db, life) : [],
  };
}

type Of = Pick<OrderLife, 'source' | 'orderId'>;

async function readVersions(
  db: Database,
  { source, orderId }: Of,
): Promise<Pick<OrderLife, 'versions' | 'hasPrunedVersions'>> {
  // The current version and those that it replaced, older ones, and versions in files that are being read or held.
  const rows = await rowsOf<OrderVersion & { readonly isPrunedBefore: boolean }>(db)`
    with recursive versions as (
      select order_version_id, replaces
      from intake.orders
      where source = ${source} and order_id = ${orderId} and is_current
      union
      select o.order_version_id, o.replaces
      from versions v join intake.orders o on o.order_version_id = v.replaces
    ), others as (
      select o.order_version_id from intake.source_files f
      join intake.orders o on o.source_file_id = f.source_file_id and o.order_id = ${orderId} collate "C"
      where f.source = ${source} and (f.state <> 'sealed' or f.orders_older > 0)
    )
    select f.uri, o.line_no as line, o.row_count as rows, f.state as "fileState", o.is_current as "isCurrent",
      o.doubt,
      f.state = 'sealed' and o.order_version_id not in (select order_version_id from versions) as "isOlder",
      f.age_basis as "ageBasis", nullif(o.changed_at, 'infinity') as "changedAt", o.status, o.currency,
      o.total, o.subtotal, o.refunded, o.codes, o.links, o.other_ids as "otherIds", o.exclusion,
      o.influencer_handle as "influencerHandle", o.deal_id as "dealId", o.collab_id as "collabId",
      o.placed_at as "placedAt", o.cancelled_at as "cancelledAt",
      o.first_seen_at as "firstSeenAt", f.run_id as "runId",
      o.replaces is not null
        and not exists (select from intake.orders r where r.order_version_id = o.replaces) as "isPrunedBefore"
    from intake.orders o join intake.source_files f using (source_file_id)
    where o.order_version_id in (select order_version_id from versions union select order_version_id
      from others)
    order by o.order_version_id`;
  return {
    versions: rows.map(({ isPrunedBefore: _, ...version }) => version),
    hasPrunedVersions: rows.some(({ isPrunedBefore }) => isPrunedBefore),
  };
}

function readAttributions(db: Database, { source, orderId }: Of) {
  return rowsOf<OrderAttribution>(db)`
    with recursive ${JOBS}
    select job, outcome, reason, matched_by as "matchedBy", matched_value as "matchedValue",
      influencer_handle as "influencerHandle",
      deal_id as "dealId", collab_id as "collabId", brand_id as "brandId", amount, currency,
      decided_at as "decidedAt",
      (select string_agg(c.kind || ' ' || c.written || ' → ' || regexp_replace(c.target, ':', ' '), ', '
          order by c.place, c.target)
        from intake.order_claims c
        where c.job = a.job and c.source = a.source and c.order_id = a.order_id) as claims,
      (select ${heldDecision} from intake.orders o
        where a.outcome = 'held' and o.order_version_id = a.order_version_id limit 1) as decision,
      (select ${heldWord} from intake.orders o
        where a.outcome = 'held' and o.order_version_id = a.order_version_id limit 1) as word,
      (select jsonb_build_object('id', b.backfill_id::text, 'state', b.state)
        from ops.backfills b join intake.orders o on o.order_version_id = a.order_version_id
        where a.reason = 'before_start' and b.job = a.job and b.state <> 'replaced'
          and coalesce(o.placed_at, o.paid_at) >= b.from_day::timestamp at time zone b.time_zone
          and coalesce(o.placed_at, o.paid_at) < (b.to_day + 1)::timestamp at time zone b.time_zone
        order by b.state in ('done', 'cancelled'), b.backfill_id desc limit 1) as backfill,
      '{}'::text[] as owners, null::jsonb as assigned
    from jobs join intake.attributions a using (job)
    where a.source = ${source} and a.order_id = ${orderId}
    order by job`;
}

async function readOwners(db: Database, job: string, codes: readonly string[]) {
  return rowsOf<CodeOwner>(db)`
    select code, coalesce(influencer_handle, (
        select w.influencer_handle from reporting.deal_owners w where w.deal_id = c.deal_id),
      deal_id, collab_id) as owner, valid_from as "validFrom",
      valid_to as "validTo", valid_from_text as "validFromText", valid_to_text as "validToText"
    from intake.codes c
    where job = ${job} and code_folded = any(${[...codes]}::text[])
    order by valid_to desc nulls first`;
}

async function readAssigned(db: Database, job: string, codes: readonly string[]) {
  const assigned = await rowOf<{ readonly code: string; readonly owner: string }>(db)`
    select s.code, coalesce(s.influencer_handle, s.deal_id, s.collab_id) as owner
    from intake.code_assignments s
    where s.job = ${job} and s.code_folded = any(${[...codes]}::text[]) and ${isNotMatchedYet}
    order by s.assignment_id desc limit 1`;
  return assigned ?? null;
}

async function readEntries(db: Database, { source, orderId }: Of): Promise<readonly EntryLife[]> {
  return readEntryLives(
    db,
    sql`e.entry_id = any (array(
      with recursive ${JOBS}
      select a.entry_id from jobs join intake.attributions a using (job)
      where a.source = ${source} and a.order_id = ${orderId} and a.entry_id is not null
      union
      select entry_id
      from ledger.entries
      where ledger.fold_order_id(order_id) = ${foldOrderId(orderId)}
        and source is not distinct from ${source}))`,
  );
}

function isHeldAsAlike({ outcome, reason }: OrderAttribution): boolean {
  return outcome === 'held' && HELD_REASONS[reason ?? '']?.comparesOrders === true;
}

/**
 * Reads the orders that may be this one: of any source, with the same id in some spelling, or named by the tags of either; or
 * with the same code, at the same time, or with the same amount less than a minute or a step of time zones apart. Those that
 * a job of the order knows come first, then those near in time. Shops of other brands have the same ids at other times.
 */
function readAlike(db: Database, { source, orderId }: Of) {
  const reach = sql`make_interval(hours => ${sql.lit(ZONE_HOURS + 1)})`;
  const minutes = minutesBetween('x', 'o');
  return rowsOf<AlikeOrder>(db)`
    with recursive ${SOURCES}, ${JOBS},
    own as (
      select o.*, array_remove(array[o.order_id, o.similar_to], null) as ids
      from intake.orders o where o.source = ${source} and o.order_id = ${orderId} and o.is_current
    ),
    own_jobs as (
      select job from jobs join intake.attributions a using (job) where a.source = ${source} and a.order_id = ${orderId}
    ),
    alike as (
      select x.order_version_id
      from own o cross join sources s
      join intake.orders x on x.source = s.source and x.is_current and x.order_id = any(o.ids || o.other_ids)
      union
      select x.order_version_id
      from own o cross join sources s
      join intake.orders x on x.source = s.source and x.is_current and x.similar_to = any(o.ids)
      union
      select x.order_version_id
      from own o join intake.orders x on x.other_ids @> array[ledger.fold_order_id(o.order_id)]
        and x.other_ids <> '{}' and x.is_current
      union
      select x.order_version_id
      from own o join intake.orders x on x.is_current and x.currency = o.currency
        and x.codes_folded is not distinct from o.codes_folded
        and coalesce(x.placed_at, x.paid_at, x.first_seen_at) between o.placed_at - ${reach} and o.placed_at + ${reach}
      where x.placed_at = o.placed_at or (${statedAmount('x')} = ${statedAmount('o')}
        and (abs(${minutes}) < 1 or ${zoneStepsOf(minutes)} is not null))
    )
    select x.source, x.order_id as "orderId", x.order_name as "orderName", x.placed_at as "placedAt",
      ${statedAmount('x')}::text as amount, x.currency, d.state
    from own o
    cross join alike
    join intake.orders x on x.order_version_id = alike.order_version_id
      and (x.source, x.order_id) <> (o.source, o.order_id)
    left join lateral (
      select coalesce(e.state, a.outcome) as state, jobs.job in (select job from own_jobs) as is_of_job
      from jobs join intake.attributions a using (job) left join ledger.entries e on e.entry_id = a.entry_id
      where a.source = x.source and a.order_id = x.order_id
      order by is_of_job desc, e.entry_id nulls last limit 1) d on true
    where d.is_of_job or abs(${minutes}) < 2 * 24 * 60
    order by d.is_of_job desc nulls last, abs(${minutes}) nulls last, ${statedAmount('x')} desc nulls last, x.source, x.order_id
    limit 10`;
}
