import { createHash } from 'node:crypto';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { type Database, execute, finds, rowsOf } from '../../../src/db/statement.ts';
import type { DB } from '../../../src/db/tables.ts';
import { isAbout } from '../../../src/ledger/evidence/apply-evidence.ts';
import { inDecision } from '../../../src/ledger/propose.ts';
import { spellSeeds } from '../../../src/ledger/seed.ts';
import { type AttributionRules, decisionsOf, filesToAttribute, isSent, jobsTogether } from './decisions.ts';
import { addReversed, decideElsewhere, holdContradicted, holdReattributed } from './hold-contradicted.ts';
import { foldedName, holdSimilarIds, holdSimilarOrders } from './hold-similar.ts';
import { keepClaims } from './keep-claims.ts';

export type AttributeOrdersOptions = Omit<AttributionRules, 'rulesHash' | 'period'> & {
  /** Digest of the codes, as `loadCodes` returns it. */
  readonly codesHash: string;
};

export type AttributedOrders = {
  /** Number of decisions that are new or have changed. */
  readonly decided: number;
};

/**
 * Decides for each order which influencer earned it, or why none did. It covers the current orders in sealed
 * files that this job has not yet decided under these rules. Decisions that do not change are left as they
 * are. In a transaction that is rolled back, this is a preview.
 */
export function decideOrders(db: Database, options: AttributeOrdersOptions): Promise<AttributedOrders> {
  const rules = { ...options, period: null, rulesHash: hashRules(options) };
  return inDecision(db, jobsTogether(options), async (trx) => {
    await keepRevenueRule(trx, options);
    const removed = await excludeRemovedSources(trx, {
      job: rules.job,
      sources: rules.sources.map(({ source }) => source),
    });
    await execute(trx)`
      drop table if exists pg_temp.files_to_attribute, pg_temp.decided_orders, pg_temp.new_decisions`;
    await execute(trx)`
      create temporary table files_to_attribute on commit drop as ${filesToAttribute(rules)}`;
    const files = await rowsOf(trx)`select from files_to_attribute limit 1`;
    if (files.length === 0) return { decided: 0 };
    await decide(trx, rules);
    await keepClaims(trx, rules);
    await holdReattributed(trx, rules);
    return { decided: await write(trx, { ...rules, removed }) };
  });
}

/**
 * Stores how the job computes the amount of an order, by which earnings know the refunds that it includes. What was sent by
 * another rule keeps that.
 */
export async function keepRevenueRule(
  trx: Transaction<DB>,
  { job, sources, revenue }: Pick<AttributionRules, 'job' | 'sources' | 'revenue'>,
): Promise<void> {
  const isChanged = sql`
    intake.revenue_rules r
    where r.job = ${job} and r.source = any(${sources.map(({ source }) => source)}::text[])
      and r.revenue <> ${revenue}`;
  if (await finds(trx)`select from ${isChanged} limit 1`)
    await execute(trx)`
      insert into intake.sent_revenue (entry_id, revenue)
      select a.entry_id, r.revenue
      from intake.attributions a
      join (select r.* from ${isChanged}) r on r.job = a.job and r.source = a.source
      join ledger.entries e on e.entry_id = a.entry_id
      where ${isSent} and not exists (select from intake.sent_revenue s where s.entry_id = a.entry_id)`;
  await execute(trx)`
    insert into intake.revenue_rules as r (job, source, revenue)
    select ${job}, source, ${revenue} from unnest(${sources.map(({ source }) => source)}::text[]) as source
    on conflict (job, source) do update set revenue = excluded.revenue where r.revenue <> excluded.revenue`;
}

/**
 * Creates the temporary table `decided_orders`, so that the server has statistics for the statements that
 * join it. Call it after `suitLargeStatements`. Sequential scans are disabled so that orders are read by the
 * index of their file, and similar ones by their ids, however many rows the server expects in each.
 */
export async function decide(trx: Transaction<DB>, rules: AttributionRules): Promise<void> {
  await execute(trx)`select set_config('enable_seqscan', 'off', true)`;
  await execute(trx)`
    create temporary table decided_orders on commit drop as
    select d.*, null::text as likeness from (${decisionsOf(rules)}) d`;
  await execute(trx)`analyze decided_orders`;
  await addReversed(trx, rules);
  await holdSimilarIds(trx, rules);
  await holdContradicted(trx, rules);
  await holdSimilarOrders(trx, rules);
  await execute(trx)`select set_config('enable_seqscan', 'on', true)`;
}

/**
 * Stores the decisions. The job's lock is held, so no other process decides about these orders in the
 * meantime. Orders are looked up only if the job has decided about one between the least and the greatest id, which
 * is not so for the newest part of a sorted export.
 */
async function write(
  trx: Transaction<DB>,
  { removed, ...rules }: AttributionRules & { readonly removed: readonly string[] },
): Promise<number> {
  const { job, rulesHash } = rules;
  // An order that was sent for a source which the job no longer reads: the ledger must learn what becomes of it.
  const isSuccessor =
    removed.length === 0
      ? sql`false`
      : sql`exists (
          select from intake.attributions t
          where t.job = ${job} and t.source = any(${[...removed]}::text[]) and t.order_id = d.order_id
            and t.entry_id is not null)`;
  await execute(trx)`
    create temporary table new_decisions on commit drop as
    with known as (
      select exists (
        select from (select source, min(order_id) as least, max(order_id) as greatest from decided_orders group by source) d
        cross join lateral (
          select true from intake.attributions k
          where k.job = ${job} and k.source = d.source and k.order_id between d.least and d.greatest
          limit 1) k) as is_any
    )
    select d.*, k.job is null as is_new
    from decided_orders d
    left join lateral (
      select k.* from intake.attributions k
      where (select is_any from known) and k.job = ${job} and k.source = d.source and k.order_id = d.order_id
      limit 1) k
        on true
    where row(d.order_version_id, d.outcome, d.reason, d.matched_by, d.matched_value, d.target, d.brand_id,
      d.influencer_handle,
            d.deal_id, d.collab_id, d.amount, d.currency, d.likeness)
      is distinct from
        row(k.order_version_id, k.outcome, k.reason, k.matched_by, k.matched_value, k.target, k.brand_id,
          k.influencer_handle,
            k.deal_id, k.collab_id, k.amount, k.currency, k.likeness)`;
  await decideElsewhere(trx, rules);
  const updated = await execute(trx)`
    update intake.attributions a
    set order_version_id = d.order_version_id, outcome = d.outcome, reason = d.reason,
      matched_by = d.matched_by,
        matched_value = d.matched_value, target = d.target, brand_id = d.brand_id,
        influencer_handle = d.influencer_handle,
        deal_id = d.deal_id, collab_id = d.collab_id, amount = d.amount, currency = d.currency,
        likeness = d.likeness, is_pending = d.outcome = 'attributed' or a.entry_id is not null
          or ${isSuccessor}, rules_hash = ${rulesHash}, decided_at = now()
    from new_decisions d
    where a.job = ${job} and a.source = d.source and a.order_id = d.order_id and not d.is_new
      and a.source = any (array(select distinct source from new_decisions where not is_new))
      and a.order_id = any (array(select order_id from new_decisions where not is_new))`;
  const inserted = await execute(trx)`
    insert into intake.attributions (job, source, order_id, order_version_id, outcome, reason, matched_by,
      matched_value,
      target, brand_id, influencer_handle, deal_id, collab_id, amount, currency, likeness, is_pending,
      rules_hash)
    select ${job}, source, order_id, order_version_id, outcome, reason, matched_by, matched_value, target,
      brand_id, influencer_handle, deal_id, collab_id, amount, currency, likeness, outcome = 'attributed'
        or ${isSuccessor}, ${rulesHash}
    from new_decisions d where is_new`;
  await execute(trx)`
    insert into intake.attributed_files (job, source_file_id, rules_hash)
    select ${job}, source_file_id, ${rulesHash} from files_to_attribute
    on conflict (job, source_file_id) do update set rules_hash = excluded.rules_hash, attributed_at = now()`;
  return updated + inserted;
}

/**
 * Raise it with each change by which an order may be decided otherwise. Then each job decides about all its orders once more:
 * what an earlier version would have posted, and has not, is posted only by the rules of this one.
 */
const VERSION_OF_RULES = 3;

function hashRules(options: AttributeOrdersOptions): string {
  const { codesHash, brandId, revenue, creditsDrafts, creditsRenewals, attribution, sources, start } =
    options;
  const credited = sources.map(({ source, credited, notCredited, mayLackColumn, ownOrders }) => [
    source,
    credited,
    notCredited,
    mayLackColumn,
    ...(ownOrders ? ['own orders'] : []),
  ]);
  const rules = [
    VERSION_OF_RULES,
    codesHash,
    brandId,
    revenue,
    credited,
    ...(creditsDrafts ? ['drafts'] : []),
    ...(creditsRenewals ? [] : ['no renewals']),
    ...(attribution === 'code' ? [] : [`attribution ${attribution}`]),
    ...(start === null ? [] : [start.day, start.timeZone]),
    ...(options.hasTerms ? ['terms'] : []),
    ...(options.isBrandShared ? ['shared brand'] : []),
  ];
  return createHash('sha256').update(JSON.stringify(rules)).digest('base64url');
}

/**
 * Makes the next run decide again about the orders that a seed names, perhaps in another spelling or by name: their
 * files count as not yet decided, and decisions whose entries were released are proposed again.
 */
export async function decideAgain(trx: Transaction<DB>, seedId: string): Promise<void> {
  await execute(trx)`
    update intake.attributions a set is_pending = true
    from ledger.evidence v join ledger.entries e on ${isAbout}
    where v.seed_id = ${seedId}::bigint and e.state = 'held' and e.state_reason = 'no_longer_attributed'
      and a.entry_id = e.entry_id and a.outcome = 'attributed'`;
  await spellSeeds(trx, seedId);
  await execute(trx)`
    delete from intake.attributed_files f
    where f.source_file_id in (
      with seeded as (
        select v.order_id as id from ledger.evidence v where v.seed_id = ${seedId}::bigint
        union
        select ledger.fold_order_id(v.order_id) from ledger.evidence v where v.seed_id = ${seedId}::bigint
        union
        select loose from seeded_spellings
      )
      select o.source_file_id from seeded v join intake.orders o on o.order_id = v.id and o.is_current
      union all
      select o.source_file_id from seeded v join intake.orders o on o.similar_to = v.id and o.is_current
      union all
      select o.source_file_id from seeded v join intake.orders o on ${foldedName} = v.id and o.is_current)`;
}

/** The reason of these decisions. It is also the rule by which their files count as decided. */
const SOURCE_REMOVED = 'source_removed';

/**
 * Excludes the orders of sources that the job no longer reads, for example because a source was renamed and now
 * states the same orders under its new name. Otherwise its codes without an owner would count twice, and
 * orders that the service refused could never be corrected, because no file under the old name is read again.
 *
 * Orders that were sent, or that wait to be sent, are left alone: money moved, or will move, under the old name.
 * If the job reads the source again, it decides anew about its orders. The caller holds the job's lock.
 *
 * @param options.sources the sources that the job reads.
 * @returns the sources that the job no longer reads, and about whose orders it has decided.
 */
export async function excludeRemovedSources(
  trx: Transaction<DB>,
  { job, sources }: { job: string; sources: readonly string[] },
): Promise<readonly string[]> {
  const excluded = sql`
    outcome = 'excluded', reason = ${SOURCE_REMOVED}, matched_by = null, target = null, is_pending = false,
    decided_at = now()`;
  // The service may refuse an order, or another source withdraw it, long after its file was set aside below.
  await execute(trx)`
    update intake.attributions a set ${excluded}
    where a.entry_id = any (array(
        select e.entry_id
        from ledger.entries e
        where e.job = ${job} and e.state = 'rejected' and e.effect = 'referral'
        union all
        select e.entry_id from ledger.entries e
        where e.job = ${job} and not e.is_settled and e.state = 'held'
          and e.state_reason = 'no_longer_attributed' and e.effect = 'referral'))
      and a.job = ${job} and a.outcome = 'attributed' and a.source <> all(${[...sources]}::text[])`;
  const decided = await sourcesOf(trx, job);
  const removed = decided.filter((source) => !sources.includes(source));
  if (removed.length === 0) return [];
  await execute(trx)`drop table if exists pg_temp.removed_orders, pg_temp.removed_files`;
  await execute(trx)`
    create temporary table removed_files on commit drop as
    select f.source_file_id
    from intake.source_files f
    cross join lateral (
      select d.rules_hash
      from intake.attributed_files d
      where d.job = ${job} and d.source_file_id = f.source_file_id
      limit 1) d
    where f.source = any(${removed}::text[]) and d.rules_hash <> ${SOURCE_REMOVED}`;
  const files = await rowsOf(trx)`select from removed_files limit 1`;
  if (files.length === 0) return removed;
  await execute(trx)`
    create temporary table removed_orders on commit drop as
    select o.source, o.order_id
    from removed_files f
    cross join lateral (
      select o.source, o.order_id
      from intake.orders o
      where o.source_file_id = f.source_file_id and o.is_current offset 0) o`;
  await execute(trx)`analyze removed_orders`;
  await execute(trx)`
    update intake.attributions a set ${excluded}
    from removed_orders o
    where a.job = ${job} and a.source = o.source and a.order_id = o.order_id and a.entry_id is null
      and a.source = any (array(select distinct source from removed_orders))
      and a.order_id = any (array(select order_id from removed_orders))`;
  // The new time makes the sums compare these files again.
  await execute(trx)`
    update intake.attributed_files d set rules_hash = ${SOURCE_REMOVED}, attributed_at = now()
    where d.job = ${job} and d.source_file_id in (select source_file_id from removed_files)`;
  return removed;
}

/** Lists the sources of the orders that a job has decided about. Skips from one to the next in the key of the decisions. */
async function sourcesOf(trx: Transaction<DB>, job: string): Promise<readonly string[]> {
  const next = (after: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select min(a.source) as source from intake.attributions a where a.job = ${job} and ${after}`;
  const rows = await rowsOf<{ source: string }>(trx)`
    with recursive s as (
      (${next(sql`true`)})
      union all
      select (${next(sql`a.source > s.source`)}) from s where s.source is not null
    )
    select source from s where source is not null`;
  return rows.map(({ source }) => source);
}
