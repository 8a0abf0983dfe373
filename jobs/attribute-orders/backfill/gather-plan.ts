import { sql, type Transaction } from 'kysely';
import type { BackfillPlan, Period, PlanGroup, PlannedFile } from '../../../src/core/backfill.ts';
import { suitLargeStatements } from '../../../src/db/large-statements.ts';
import { countsOf, execute, rowOf, rowsOf, toJsonParameter } from '../../../src/db/statement.ts';
import type { DB } from '../../../src/db/tables.ts';
import { referralBody, referralKey } from '../../../src/ledger/effects/referral.ts';
import { adoptKeys, neverSent } from '../../../src/ledger/propose.ts';
import { decide } from '../decide/decide-orders.ts';
import {
  type AttributionRules,
  filesToAttribute,
  isWithin,
  orderedAt,
  startOf,
} from '../decide/decisions.ts';
import { orderPlatformChanged } from '../decide/prepare-entries.ts';

export type PlanRules = Omit<AttributionRules, 'rulesHash' | 'period'> & {
  readonly period: Period;
  /** The account that the database is bound to. */
  readonly accountId: string;
};

export type GatheredPlan = {
  /** Digest of what would be posted: every order and its exact request. */
  readonly hash: string;
  readonly plan: BackfillPlan;
};

/**
 * State reasons of held, unsent entries that no run and no backfill will post. A plan may take these entries.
 */
const FREE = ['no_longer_attributed', 'backfill_cancelled', 'changed_since_the_plan'];

/**
 * Fills `planned_orders` with every order of the period, what would happen to it, and the request that would
 * be sent for it now. It uses the same decisions as a run, compared with the ledger. It does not change the
 * ledger.
 */
export async function gatherPlan(trx: Transaction<DB>, rules: PlanRules): Promise<GatheredPlan> {
  await suitLargeStatements(trx);
  await execute(trx)`
    drop table if exists pg_temp.files_to_attribute, pg_temp.decided_orders, pg_temp.keyed_orders,
    pg_temp.planned_orders`;
  // No file has been decided under this empty hash, so all files are included.
  const all = { ...rules, rulesHash: '' };
  await execute(trx)`create temporary table files_to_attribute on commit drop as ${filesToAttribute(all)}`;
  await decide(trx, all);
  await keyOrders(trx, rules);
  await refuseOtherPlatform(trx, rules);
  await holdAgainstLedger(trx, rules);
  return {
    hash: await hashPlan(trx),
    plan: { files: await readFiles(trx), groups: await readGroups(trx), ...(await countOthers(trx, rules)) },
  };
}

/** Creates `keyed_orders`: the decided orders with the request that each would need. */
async function keyOrders(trx: Transaction<DB>, { sources, period, accountId }: PlanRules): Promise<void> {
  await execute(trx)`
    create temporary table keyed_orders on commit drop as
    select b.*, encode(sha256(convert_to(b.body, 'UTF8')), 'hex') as body_hash
    from (
      select w.*, ${referralKey('w')} as key,
        case when w.outcome = 'attributed' then ${referralBody('w')} end as body
      from (
        select d.*, o.codes, o.note, o.source_file_id, ${orderedAt} as ordered_at,
          s."orderPlatform" as order_platform,
          to_char(${orderedAt} at time zone ${period.timeZone}::text, 'YYYY-MM') as month
        from decided_orders d
        cross join lateral (select o.* from intake.orders o where o.order_version_id = d.order_version_id
          limit 1) o
        join jsonb_to_recordset(${toJsonParameter(sources)}::jsonb) as s(source text, "orderPlatform" text)
          on s.source = d.source
      ) w
    ) b`;
  await adoptKeys(trx, { table: 'keyed_orders', effect: 'referral', accountId });
  await execute(trx)`analyze keyed_orders`;
}

async function refuseOtherPlatform(trx: Transaction<DB>, { job }: PlanRules): Promise<void> {
  const row = await rowOf<{ source: string; before: string | null; now: string }>(trx)`
    select k.source, e.order_platform as before, k.order_platform as now
    from keyed_orders k
    cross join lateral (
      select a.entry_id
      from intake.attributions a
      where a.job = ${job} and a.source = k.source and a.order_id = k.order_id
      limit 1) a
    cross join lateral (select e.order_platform from ledger.entries e where e.entry_id = a.entry_id limit 1) e
    where ledger.fold_platform(e.order_platform) is distinct from ledger.fold_platform(k.order_platform)
    limit 1`;
  if (row !== undefined) throw orderPlatformChanged(row);
}

async function holdAgainstLedger(trx: Transaction<DB>, { job, accountId }: PlanRules): Promise<void> {
  await execute(trx)`
    create temporary table planned_orders on commit drop as
    select c.*,
      case
        when c.state = 'accepted' then 'already'
        when c.state in ('sending', 'in_doubt') then 'in_doubt'
        when c.state = 'rejected' then 'rejected'
        when c.state = 'written_off' then 'held'
        when c.state = 'ready' and not c.is_unsent then 'waiting'
        when c.outcome <> 'attributed' then c.outcome
        when c.place > 1 or (c.is_others and not c.is_free) then 'excluded'
        when c.is_free then 'to_post'
        when c.state = 'ready' then 'waiting'
        when c.state = 'held' or c.is_evident then 'held'
        else 'to_post'
      end as standing,
      case
        when c.state in ('rejected', 'in_doubt') then c.state_reason
        when c.state = 'written_off' then c.state
        when c.state in ('accepted', 'sending') or (c.state = 'ready' and not c.is_unsent) then null
        when c.outcome <> 'attributed' then c.reason
        when c.place > 1 or (c.is_others and not c.is_free) then
          case when c.entry_job <> ${job} then 'known_from_another_job' else 'known_from_another_source' end
        when c.is_free then null
        when c.state = 'held' then c.state_reason
        when c.state is null and c.is_evident then 'evidence_of_another_poster'
      end as standing_reason
    from (
      select k.*, e.entry_id, e.state, e.state_reason, e.job as entry_job,
        coalesce(${neverSent}, true) as is_unsent,
        e.entry_id is not null and (e.job <> ${job} or e.source is distinct from k.source) as is_others,
        coalesce(e.state = 'held' and e.state_reason = any(${FREE}::text[])
          and ${neverSent}, false) as is_free,
        (
          select true from ledger.evidence v
          where v.kind is distinct from 'seeded'
            and ledger.fold_order_id(v.order_id) = ledger.fold_order_id(k.order_id)
            and ledger.is_platform(v.order_platform, k.order_platform) limit 1) is not null as is_evident,
        row_number() over (partition by k.key
          order by (k.outcome = 'attributed') desc, k.order_version_id) as place
      from keyed_orders k
      left join lateral (
        select e.* from ledger.entries e
        where e.account_id = ${accountId} and e.effect = 'referral' and e.key = k.key limit 1) e on true
    ) c`;
  await execute(trx)`analyze planned_orders`;
}

/**
 * Hashes the plan in two steps, so that a plan of millions of orders does not become a single text of a
 * gigabyte.
 */
async function hashPlan(trx: Transaction<DB>): Promise<string> {
  const row = await rowOf<{ hash: string }>(trx)`
    select encode(sha256(convert_to(coalesce(string_agg(part, '' order by bucket), ''), 'UTF8')),
      'hex') as hash
    from (
      select left(body_hash, 2) as bucket,
        encode(sha256(convert_to(string_agg(key || ' ' || body_hash, chr(10) order by key collate "C"),
              'UTF8')),
          'hex') as part
      from planned_orders where standing = 'to_post' group by 1
    ) p`;
  return row?.hash ?? '';
}

async function readFiles(trx: Transaction<DB>): Promise<readonly PlannedFile[]> {
  return rowsOf<PlannedFile>(trx)`
    select f.source, f.uri, f.version, count(*)::float8 as orders
    from planned_orders p
    cross join lateral (select f.* from intake.source_files f where f.source_file_id = p.source_file_id
      limit 1) f
    group by f.source, f.uri, f.version order by f.source, f.uri, f.version`;
}

async function readGroups(trx: Transaction<DB>): Promise<readonly PlanGroup[]> {
  return rowsOf<PlanGroup>(trx)`
    select month, standing, standing_reason as reason, currency, count(*)::float8 as orders,
      coalesce(sum(amount), 0)::text as amount
    from planned_orders group by month, standing, standing_reason, currency
    order by month, standing, standing_reason, currency`;
}

/** Counts orders that the period's plan does not cover. */
async function countOthers(trx: Transaction<DB>, { sources, start, period }: PlanRules) {
  const isOfTheRuns =
    start === null ? sql`false` : sql`${orderedAt} >= ${startOf(start)} and ${isWithin(period)}`;
  return countsOf<'ofTheRuns' | 'undated'>(trx)`
    select count(*) filter (where ${isOfTheRuns}) as "ofTheRuns",
      count(*) filter (where ${orderedAt} is null) as undated
    from intake.orders o
    where (select f.state from intake.source_files f where f.source_file_id = o.source_file_id) = 'sealed'
      and o.is_current and o.source = any(${sources.map(({ source }) => source)}::text[])`;
}
