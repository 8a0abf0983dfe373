import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { OrderDoubt } from '../../core/order.ts';
import { toArrayParameter } from '../../db/array-parameters.ts';
import { countsOf, execute } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import type { OtherAges } from '../files/source-ages.ts';
import {
  columnNames,
  columnsInDoubt,
  isOtherPurchase,
  isPlacedApart,
  isSameCustomer,
  minutesBetween,
  statesTimes,
  zoneStepsOf,
} from './order-columns.ts';

/*
 * An order has the state that the newest file states, whichever file is read last. Most files are newer than all that
 * were read before, and then there is nothing to do. A file that is older than another one only changes orders that
 * no newer file states. The versions in force tell their own file, and `intake.restated_orders` all files that have
 * stated them again.
 *
 * If rows say themselves when their order last changed, these times decide instead. Two states of one time, and a row
 * that does not say it (infinity), conflict. Only versions that were read before the source went by the column have no
 * such time: then the ages of the files decide.
 *
 * A row that could not be used is a statement, too: until a newer file states its order, what older ones state is in
 * doubt. So is a row of another order with the same id, whatever the ages say.
 */

/** Numbers of orders. */
export type OutOfOrder = {
  /** A newer file states something else. */
  readonly older: number;
  /** Another file states something else, and nothing says which of the two is newer. */
  readonly conflicting: number;
};

export const NONE_OUT_OF_ORDER: OutOfOrder = { older: 0, conflicting: 0 };

/** Why an order is held of which a row was rejected that may be newer than what is known. */
const OUTDATED = 'newer_row_rejected';

/*
 * A version in this doubt has a digest of its own (`outdatedHash`), so that the next file that states the order decides, and
 * a decision of a person ends with the version. Its columns say the rest: `rejected_hash`, `stated_hash`,
 * `stated_version_id`.
 */

/** SQL for the version that a file states, of current version `c`. Only that one has an age. */
export const statedId = sql`coalesce(c.stated_version_id, c.order_version_id)`;
const statedHash = sql`coalesce(c.stated_hash, c.content_hash)`;

/** SQL for a digest that no other version has. */
function outdatedHash(...parts: readonly RawBuilder<unknown>[]): RawBuilder<string> {
  return sql<string>`'doubted:' || md5(concat_ws(':', ${sql.join(parts)}))`;
}

/** Why an order is held whose id another order has. */
export const OTHER_ORDER: OrderDoubt = 'other_order_same_id';

const statedVersion = sql`
          select s.order_version_id, s.source_file_id
          from intake.orders s
          where s.order_version_id = ${statedId}
          limit 1`;

/** The last version of an order, from the one that staged version `o` would replace, that says when it was placed. */
const placedVersion = sql`
          with recursive said as (
            select v.*
            from intake.orders v
            where v.order_version_id = o.replaces
            union all
            select v.*
            from said x
            cross join lateral (select v.* from intake.orders v where v.order_version_id = x.replaces limit 1) v
            where x.placed_at is null
          )
          select * from said where placed_at is not null limit 1`;

/**
 * Finds the staged versions of a file that may state another order than the one that they would replace: shops begin again
 * with the same numbers, and branches have the same ones. An order keeps its time, also if it is edited. So one that was
 * placed at another time is another order, unless the time is explained: both are the same purchase of the same customer;
 * or they are a step of time zones apart, and the purchase is the same, or another order of the file has the same step. A
 * refund, below zero, is part of an order, and has a time of its own. A file of days cannot be compared with one of times; one
 * of a single order, which may be either, is compared if the purchase is another one. A version that does not say when does
 * not hide what an earlier one said. The known state stays in force, in doubt, until a person decides, or a later file states
 * that order again. A second reading of a file may correct the times of the first one. Call it only if orders have changed,
 * before anything else compares them.
 *
 * @returns the number of orders.
 */
export async function doubtOtherOrders(trx: Transaction<DB>, sourceFileId: string): Promise<number> {
  const minutes = minutesBetween('o', 'c');
  return execute(trx)`
    with moved as materialized (
      select o.order_version_id, o.replaces as known_id, c.source_file_id,
        ${isPlacedApart('o', 'c')} as is_apart, ${zoneStepsOf(minutes)} as zone_steps,
        ${isOtherPurchase('o', 'c')} as differs, ${isSameCustomer('o', 'c')} is true as is_same_customer,
        coalesce(o.total, o.subtotal, 0) < 0 as is_refund
      from intake.orders o
      cross join lateral (${placedVersion}) c
      cross join lateral (${statedVersion}) s
      where o.source_file_id = ${sourceFileId}::bigint and not o.is_current and abs(${minutes}) >= 1
        and not exists (
          select from intake.source_files f
          where f.source_file_id = s.source_file_id and f.superseded_by = ${sourceFileId}::bigint)
    ),
    others as materialized (
      select order_version_id, known_id, source_file_id, is_apart, differs
      from (select *, count(*) over (partition by zone_steps) as alike from moved) m
      where is_apart or (not is_refund and case
        when zone_steps is null then differs or not is_same_customer
        else differs and alike = 1 end)
    ),
    compared as materialized (
      select f.source_file_id, ${statesTimes(sql`f.source_file_id`)} as known,
        ${statesTimes(sql`${sourceFileId}::bigint`)} as said
      from (select distinct source_file_id from others where not is_apart) f
    ),
    apart as materialized (
      select * from others o
      where is_apart or exists (
        select from compared f
        where f.source_file_id = o.source_file_id
          and ((f.known is true) = (f.said is true) or (o.differs and (f.known = f.said) is null)))
    )
    update intake.orders o set (${columnNames}, customer_key, customer_key_no, lines, similar_to, items,
      changed_at, note, content_hash, stated_hash, stated_version_id) = row(
        ${columnsInDoubt(sql.lit(OTHER_ORDER))}, c.customer_key, c.customer_key_no, c.lines, c.similar_to,
        c.items,
        c.changed_at, c.note, ${outdatedHash(sql.lit(OTHER_ORDER), statedHash, sql`o.content_hash`)},
        ${statedHash}, ${statedId})
    from apart a
      cross join lateral (select c.* from intake.orders c where c.order_version_id = a.known_id limit 1) c
    where o.order_version_id = a.order_version_id
      and o.order_version_id = any (array(select order_version_id from apart))`;
}

/**
 * Finds the staged versions of a file that must not replace the version in force. An older one is kept as a version that
 * replaces none. One of unknown age becomes the version in force, and is in doubt, so that the order is held until a
 * newer file states it. Its digest becomes one that no order has: the next file that states the order decides.
 */
export async function orderByAge(
  trx: Transaction<DB>,
  { sourceFileId, others }: { sourceFileId: string; others: OtherAges },
): Promise<OutOfOrder> {
  const { newer, unordered, isByRow } = others;
  if (newer.length === 0 && unordered.length === 0 && !isByRow) return NONE_OUT_OF_ORDER;
  return countsOf<keyof OutOfOrder>(trx)`
    with staged as materialized (
      select order_version_id, changed_at, is_newer and not adds_rows as is_older,
        is_unordered or (is_newer and adds_rows) as is_conflicting
      from (
        select o.order_version_id, greatest(o.changed_at, c.changed_at) as changed_at,
          case when ${areAged} then o.changed_at < c.changed_at and isfinite(c.changed_at)
            else ${isStatedBy(newer)} end as is_newer,
          case
            when ${areAged}
              then (o.changed_at = c.changed_at and c.stated_hash is distinct from o.content_hash)
              or not isfinite(o.changed_at) or not isfinite(c.changed_at)
            else ${isStatedBy(unordered)} end as is_unordered,
          -- An older file with items that the newer one lacks is a part of the order, not only an earlier state of it.
          -- So is one that was in no file before the refunds that the newer one states (settleSplits).
          coalesce(jsonb_array_length(o.items) > jsonb_array_length(c.items), false)
            or (coalesce(o.doubt = 'may_be_split', false) and c.replaces is null
              and coalesce(c.total, c.subtotal, 0) < 0) as adds_rows
        from intake.orders o
        cross join lateral (select c.* from intake.orders c where c.order_version_id = o.replaces limit 1) c
        cross join lateral (${statedVersion}) s
        where o.source_file_id = ${sourceFileId}::bigint and not o.is_current
          and o.stated_version_id is null) compared
    ),
    changed as (
      update intake.orders o
      set changed_at = case when s.is_older then o.changed_at else s.changed_at end,
        replaces = case when not s.is_older then o.replaces end,
        doubt = case when s.is_older then o.doubt else 'conflicting_states' end,
        content_hash = case when s.is_older then o.content_hash else 'conflicting:' || o.content_hash end
      from staged s where o.order_version_id = s.order_version_id and (s.is_older or s.is_conflicting)
        and o.order_version_id = any (array(select order_version_id from staged))
      returning s.is_older
    )
    select count(*) filter (where is_older) as older, count(*) filter (where not is_older) as conflicting
    from changed`;
}

/**
 * Doubts staged orders whose total fell by just what was refunded since the version that they would replace: an export may
 * state what is left of an order beside its refund, and then the refund would be subtracted twice. It is in doubt as long as
 * the total stays. If nothing is left, it is so either way. Call it after `orderByAge`.
 *
 * @returns the number of orders.
 */
export async function doubtRefunds(trx: Transaction<DB>, sourceFileId: string): Promise<number> {
  const doubt = sql.lit<OrderDoubt>('refund_in_total');
  return execute(trx)`
    update intake.orders o set doubt = ${doubt}
    from intake.orders c
    where o.source_file_id = ${sourceFileId}::bigint and not o.is_current and o.doubt is null
      and o.refunded > 0 and c.order_version_id = o.replaces and c.currency = o.currency
      and case when c.doubt = ${doubt} then o.total = c.total
        else o.total > 0 and o.total < c.total and c.total - o.total = o.refunded - coalesce(c.refunded, 0) end`;
}

/**
 * What is known of rejected row `r`. The reasons of rows without a value tell some of them apart: two contradictions are
 * not the same because they are contradictions.
 */
const saidOf = sql`jsonb_build_array(r.code, r.column_name, coalesce(r.value, r.reason))::text`;

/**
 * Doubts what a file states of orders of which another file has a rejected row, unless that file is older. A stronger doubt
 * stays. Call it after `orderByAge`.
 *
 * @returns the number of orders.
 */
export async function doubtOutdated(
  trx: Transaction<DB>,
  { sourceFileId, others }: { sourceFileId: string; others: OtherAges },
): Promise<number> {
  const files = [...others.newer, ...others.unordered];
  // If rows say their age, the age of their files says nothing: a later row ends the doubt, whatever its file is called.
  if (files.length === 0 || others.isByRow) return 0;
  return execute(trx)`
    with lost as materialized (
      select distinct r.order_id, r.order_name, ${saidOf} as said from intake.rejected_rows r
      where r.source_file_id = any(${toArrayParameter(files)}::bigint[]) and not exists (
        select from intake.source_files f join intake.source_files later on later.source_file_id = f.superseded_by and later.state = 'sealed'
        where f.source_file_id = r.source_file_id)
    ),
    doubted as materialized (
      select order_version_id, md5(string_agg(distinct said, ',' order by said)) as rejected
      from (
        select s.order_version_id, l.said
        from lost l join intake.orders s on s.order_id = l.order_id
        where s.source_file_id = ${sourceFileId}::bigint
        union all
        select s.order_version_id, l.said
        from lost l join intake.orders s on ${isNamed('s', 'l')}
        where s.source_file_id = ${sourceFileId}::bigint
      ) found
      group by 1
    )
    update intake.orders o set doubt = coalesce(o.doubt, ${OUTDATED}),
      content_hash = ${outdatedHash(sql`d.rejected`, sql`o.order_version_id`, sql`o.content_hash`)},
      rejected_hash = d.rejected, stated_hash = coalesce(o.stated_hash, o.content_hash)
    from doubted d
    where o.order_version_id = d.order_version_id
      and o.order_version_id = any (array(select order_version_id from doubted))
      and (o.is_current or o.replaces is not null)`;
}

/**
 * Stages the known orders again, in doubt, of which the file has a rejected row and states nothing else, unless a newer file
 * states them, or rows that contradict each other say that they are older. A stronger doubt stays. If the file was read before, and only that reading has a rejected row of an order,
 * the order is staged without this doubt, unless another file has one that may be newer than its state. Call it once all
 * other rows of the file are settled, if it has a rejected row or was read before.
 *
 * @returns the number of orders.
 */
export async function stageOutdated(
  trx: Transaction<DB>,
  { sourceFileId, others }: { sourceFileId: string; others: OtherAges },
): Promise<number> {
  const known = [...others.newer, sourceFileId];
  return execute(trx)`
    with lost as materialized (
      select f.source, r.order_id, r.order_name,
        case when r.source_file_id = ${sourceFileId}::bigint then ${saidOf} end as said,
        min(r.line_no) as line_no, min(r.record_no) as record_no,
        max(coalesce(r.changed_at, 'infinity')) as changed_at,
        bool_or(r.code = 'conflicting_rows' and r.source_file_id = ${sourceFileId}::bigint) as is_contradicted
      from intake.rejected_rows r join intake.source_files f on f.source_file_id = r.source_file_id
      where r.source_file_id = any (array(
          select ${sourceFileId}::bigint
          union all select source_file_id
          from intake.source_files
          where superseded_by = ${sourceFileId}::bigint))
        and coalesce(r.order_id, r.order_name) is not null group by 1, 2, 3, 4
    ),
    known as materialized (
      select order_version_id, min(line_no) as line_no, min(record_no) as record_no,
        max(changed_at) as changed_at, bool_or(is_contradicted) as is_contradicted,
        md5(string_agg(distinct said, ',' order by said)) as rejected
      from (
        select c.order_version_id, l.line_no, l.record_no, l.said, l.changed_at, l.is_contradicted
        from lost l
        cross join lateral (select c.order_version_id from intake.orders c
          where c.source = l.source and c.order_id = l.order_id and c.is_current limit 1) c
        union all
        select c.order_version_id, l.line_no, l.record_no, l.said, l.changed_at, l.is_contradicted
        from lost l join intake.orders c on c.source = l.source and c.is_current and ${isNamed('c', 'l')}
      ) found
      group by 1
    )
    insert into intake.orders (source, source_file_id, is_current, content_hash, ${columnNames}, line_no,
      record_no, row_count, replaces,
      customer_key, customer_key_no, lines, similar_to, items, changed_at, note, rejected_hash, stated_hash,
      stated_version_id)
    select c.source, ${sourceFileId}::bigint, false,
      ${outdatedHash(sql`coalesce(k.rejected, '')`, sql`c.order_version_id`, statedHash)},
      ${columnsInDoubt(sql`case when k.rejected is not null then coalesce(c.doubt, ${OUTDATED}) end`)},
      k.line_no, k.record_no, c.row_count, c.order_version_id,
      c.customer_key, c.customer_key_no, c.lines, c.similar_to, c.items, c.changed_at, c.note, k.rejected,
      ${statedHash}, ${statedId}
    from known k
    cross join lateral (select c.* from intake.orders c where c.order_version_id = k.order_version_id
      limit 1) c
    cross join lateral (${statedVersion}) s
    where case when k.rejected is not null
          then k.rejected is distinct from c.rejected_hash and not ${isOlder(sql`k.changed_at`)}
        else c.doubt = ${OUTDATED} and not exists (
          select from intake.rejected_rows r join intake.source_files f on f.source_file_id = r.source_file_id
          where (r.order_id = c.order_id or (${isNamed('c', 'r')})) and f.source = c.source
            and f.state = 'sealed' and not ${isOlder(sql`r.changed_at`)}
            and (s.order_version_id = c.order_version_id or r.source_file_id > s.source_file_id)
            and not exists (
              select from intake.source_files later where later.source_file_id = f.superseded_by
                and (later.state = 'sealed' or later.source_file_id = ${sourceFileId}::bigint))) end
      and not ${isStatedBy(known)} and c.source_file_id <> all(${toArrayParameter(known)}::bigint[])
      and not exists (
        select from intake.orders o
        where o.source_file_id = ${sourceFileId}::bigint and o.order_id collate "C" = c.order_id)
      and (k.is_contradicted or not exists (
        select from intake.unchanged_orders u
        where u.source_file_id = ${sourceFileId}::bigint and c.order_version_id = any(u.order_version_ids)))
    order by c.order_version_id`;
}

/** SQL that is true if a row that last changed then is older than version `c`. */
function isOlder(changedAt: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`coalesce(${changedAt} < c.changed_at and isfinite(c.changed_at), false)`;
}

/** SQL that is true if a rejected row whose id cannot be read has the name of an order. */
function isNamed(order: string, row: string): RawBuilder<boolean> {
  const [name, key] = [sql.ref(`${order}.order_name`), sql.ref(`${order}.group_key`)];
  return sql<boolean>`${sql.ref(`${row}.order_id`)} is null and ${sql.ref(`${row}.order_name`)} = coalesce(${name}, ${key})`;
}

/** SQL that is true if both versions were read with the time of their last change, or as ones that do not say it. */
const areAged = sql`o.changed_at is not null and c.changed_at is not null`;

/** SQL that is true if one of these files states version `c`: itself, or `s`, the version that it repeats in doubt. */
function isStatedBy(sourceFileIds: readonly string[]): RawBuilder<boolean> {
  if (sourceFileIds.length === 0) return sql<boolean>`false`;
  const ids = sql`${toArrayParameter(sourceFileIds)}::bigint[]`;
  return sql<boolean>`(s.source_file_id = any(${ids}) or exists (
        select from intake.restated_orders r where r.source_file_id = any(${ids})
          and (r.order_version_ids @> s.order_version_id or r.order_version_ids @> c.order_version_id)))`;
}

/** Clears the records of the unchanged orders of a file, and keeps which versions in force it states again. */
export async function keepRestated(trx: Transaction<DB>, sourceFileId: string): Promise<void> {
  await execute(trx)`
    with unchanged as (
      delete from intake.unchanged_orders where source_file_id = ${sourceFileId}::bigint
      returning source_file_id, order_version_ids
    )
    insert into intake.restated_orders (source_file_id, order_version_ids)
    select u.source_file_id, (select ${rangesOf(sql`id`)} from unnest(u.order_version_ids) as id)
    from unchanged u`;
}

/** SQL for a set of ids as ranges. */
export function rangesOf(id: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`range_agg(int8range(${id}, ${id}, '[]'))`;
}
