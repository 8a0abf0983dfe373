import { type RawBuilder, sql, type Transaction } from 'kysely';
import { execute, finds } from '../../../src/db/statement.ts';
import type { DB } from '../../../src/db/tables.ts';
import { isOtherOwner } from '../../../src/ledger/propose.ts';
import { type AttributionRules, decisionsOf, filesToAttribute, isSent, placesOf } from './decisions.ts';
import { type Reversals, readReversals } from './reversals.ts';

/**
 * Holds orders of `decided_orders` that something else contradicts, even if they were sent: another source of their platform
 * states them as cancelled, another creator has the deal that they name, or they name no owner any more.
 */
export async function holdContradicted(trx: Transaction<DB>, rules: AttributionRules): Promise<void> {
  await holdCancelled(trx, rules);
  await holdOtherDeals(trx);
  await holdOwnerless(trx, rules);
}

/** SQL that makes decision `d` one that holds the order. */
export const held = (reason: string | RawBuilder<unknown>) => sql`
  outcome = 'held', reason = ${reason}, matched_by = null, target = null, brand_id = null,
  influencer_handle = null, deal_id = null,
  collab_id = null, likeness = null`;

/** SQL that is true if decision `d` would credit an order that no person has confirmed to count nevertheless. */
export const isUnconfirmed = (reason: string | RawBuilder<unknown>) => sql`
  d.outcome = 'attributed'
  and not exists (
    select from intake.rulings r
    where r.source = d.source and r.order_id = d.order_id and r.reason = ${reason} and r.decision = 'credit'
      and r.withdrawn_at is null)`;

/** SQL that is true if decision `alias` says that its order was cancelled or given back. */
const isReversed = (alias: string, { cancelled, refunded }: Reversals) => sql`
  (${sql.ref(`${alias}.outcome`)} = 'excluded'
    and ${sql.ref(`${alias}.reason`)} = any(${[...cancelled, ...refunded]}::text[]))`;

/** SQL that joins the decision `a` about order `d` as source `q` states it. Each is looked up by its key, hence the limit. */
const attributionElsewhere = sql`
      cross join lateral (
        select a.* from intake.attributions a
        where a.job = q.job and a.source = q.source and a.order_id = d.order_id limit 1) a`;

/** SQL for the sources `q` of this job, and those of other jobs, with their platforms. */
const ofJobs = ({ job, sources, elsewhere }: Pick<AttributionRules, 'job' | 'sources' | 'elsewhere'>) => {
  const rows = [...sources.map((one) => ({ ...one, job })), ...elsewhere].map(
    (one) => sql`(${one.job}, ${one.source}, ${one.orderPlatform})`,
  );
  return sql`(values ${sql.join(rows)}) q(job, source, platform)`;
};

/**
 * SQL for the orders, with their job and file, about which sources `q` must be asked again because of `decisions` about other
 * sources of their platform: those that were credited and are now stated as cancelled there, and those that were held for
 * that and are stated there again.
 */
const concernedBy = (
  decisions: 'decided_orders' | 'new_decisions',
  {
    sources,
    asked,
    reversals,
  }: Pick<AttributionRules, 'sources'> & { asked: RawBuilder<unknown>; reversals: Reversals },
) => sql`
    with waiting as materialized (
      select q.platform, a.job, a.source, a.order_id, a.order_version_id
      from ${asked} join intake.attributions a on a.job = q.job and a.source = q.source
      where a.outcome = 'held' and a.reason = 'cancelled_elsewhere'
    ),
    known as (
      select a.job, a.order_version_id
      from ${sql.table(decisions)} d
      join ${placesOf(sources)} on p.source = d.source
      join ${asked} on q.source <> p.source and ledger.is_platform(q.platform, p.platform)
      ${attributionElsewhere}
      where ${isReversed('d', reversals)} and a.outcome = 'attributed'
      union
      select a.job, a.order_version_id
      from waiting a
      join ${sql.table(decisions)} d on d.order_id = a.order_id and d.source <> a.source
      join ${placesOf(sources)} on p.source = d.source and ledger.is_platform(a.platform, p.platform)
    )
    select a.job, a.order_version_id, o.source_file_id
    from known a
    cross join lateral (
      select o.source_file_id from intake.orders o where o.order_version_id = a.order_version_id limit 1) o`;

/**
 * Adds those orders to `decided_orders` that an earlier run has credited and another source of their platform now states as
 * cancelled, and those that were held for this and that another source states again. Their files are not new, so nothing
 * else would decide about them again.
 */
export async function addReversed(trx: Transaction<DB>, rules: AttributionRules): Promise<void> {
  const { sources } = rules;
  if (sources.length < 2) return;
  const reversals = await readReversals(trx, sql`decided_orders a where true`);
  const asked = ofJobs({ ...rules, elsewhere: [] });
  await execute(trx)`drop table if exists pg_temp.orders_again, pg_temp.files_again`;
  await execute(trx)`
    create temporary table orders_again on commit drop as
    select c.order_version_id, c.source_file_id
    from (${concernedBy('decided_orders', { sources, asked, reversals })}) c
    where c.source_file_id not in (select source_file_id from files_to_attribute)`;
  if (!(await finds(trx)`select from orders_again limit 1`)) return;
  await execute(trx)`
    create temporary table files_again on commit drop as
    select f.*, o.order_version_id
    from (${filesToAttribute({ ...rules, rulesHash: '' })}) f join orders_again o using (source_file_id)`;
  await execute(trx)`
    insert into decided_orders
    select d.*, null from (${decisionsOf(rules, {
      files: 'files_again',
      // One by one: their files may be those of a first load.
      isWanted: sql`o.order_version_id = f.order_version_id`,
    })}) d`;
  await execute(trx)`
    insert into files_to_attribute (source_file_id) select distinct source_file_id from files_again`;
}

/** Has other jobs decide again about the files whose orders `new_decisions` concerns. */
export async function decideElsewhere(trx: Transaction<DB>, rules: AttributionRules): Promise<void> {
  const { sources, elsewhere } = rules;
  if (elsewhere.length === 0) return;
  const reversals = await readReversals(trx, sql`new_decisions a where true`);
  const asked = ofJobs({ ...rules, sources: [] });
  await execute(trx)`
    delete from intake.attributed_files f
    where (f.job, f.source_file_id) in (
      select c.job, c.source_file_id
      from (${concernedBy('new_decisions', { sources, asked, reversals })}) c)`;
}

/**
 * An order that another source of its platform states as cancelled, or as given back. Such sources are exports of one shop,
 * and nothing says that the one that would credit the order is newer.
 */
async function holdCancelled(trx: Transaction<DB>, rules: AttributionRules): Promise<void> {
  const { sources, elsewhere } = rules;
  if (sources.length + elsewhere.length < 2) return;
  await execute(trx)`drop table if exists pg_temp.excluded_orders`;
  await execute(trx)`
    create temporary table excluded_orders on commit drop as
    select x.source, x.order_id, x.outcome, x.reason from decided_orders x where x.outcome = 'excluded'
    union all
    select a.source, a.order_id, a.outcome, a.reason
    from decided_orders d
    join ${placesOf(sources)} on p.source = d.source
    join ${ofJobs(rules)} on q.source <> d.source and ledger.is_platform(q.platform, p.platform)
    ${attributionElsewhere}
    where d.outcome = 'attributed' and a.outcome = 'excluded'
      and not exists (select from decided_orders n where n.source = a.source and n.order_id = a.order_id)`;
  const reversals = await readReversals(trx, sql`excluded_orders a where true`);
  await execute(trx)`
    update decided_orders d set ${held('cancelled_elsewhere')}
    from excluded_orders c join ${ofJobs(rules)} on q.source = c.source cross join ${placesOf(sources)}
    where c.order_id = d.order_id and c.source <> d.source and p.source = d.source
      and ${isReversed('c', reversals)}
      and ledger.is_platform(q.platform, p.platform) and ${isUnconfirmed('cancelled_elsewhere')}`;
}

/** An order that names a deal and a creator, where the mirror or codes.csv knows that another one has the deal. */
async function holdOtherDeals(trx: Transaction<DB>): Promise<void> {
  await execute(trx)`
    with named as materialized (
      select distinct deal_id, influencer_handle from decided_orders
      where deal_id is not null and influencer_handle is not null
    ),
    contradicted as materialized (
      select n.* from named n join reporting.deal_owners w on w.deal_id = reporting.deal_id_of(n.deal_id)
      where ledger.fold_handle(w.influencer_handle) <> ledger.fold_handle(n.influencer_handle)
    )
    update decided_orders d set ${held('deal_of_another')}
    from contradicted c
    where c.deal_id = d.deal_id and c.influencer_handle = d.influencer_handle
      and ${isUnconfirmed('deal_of_another')}`;
}

/**
 * A posted order that names no owner any more: codes.csv has none for its code, or the export leaves the code out. A row or a
 * cell may be missing by mistake, for example because a file was saved while it was edited, so a person says whether the
 * creator loses what was credited.
 */
async function holdOwnerless(trx: Transaction<DB>, { job }: AttributionRules): Promise<void> {
  await execute(trx)`
    update decided_orders d set ${held('owner_lost')}
    from intake.attributions a join ledger.entries e on e.entry_id = a.entry_id
    where d.outcome in ('unattributed', 'organic') and a.job = ${job} and a.source = d.source and a.order_id = d.order_id
      and ${isSent}`;
}

/**
 * Holds posted orders that name another owner than they were posted for. The service cannot move them, and statements
 * pay the owner of then. So a person says whether codes.csv is wrong, or what was paid has to be settled between the
 * two. If codes or links of an order name both, another rule of attribution chose the other one, and whoever set it
 * could see that. Call it after `keepClaims`.
 */
export async function holdReattributed(trx: Transaction<DB>, { job }: AttributionRules): Promise<void> {
  const ownerOf = (row: 'd' | 'c') => sql`
        select ${sql.ref(`${row}.deal_id`)}, ${sql.ref(`${row}.collab_id`)},
          case when ${sql.ref(`${row}.deal_id`)} is null then ${sql.ref(`${row}.influencer_handle`)} end as influencer_handle`;
  await execute(trx)`
    update decided_orders d set ${held('owner_changed')},
      matched_value = concat(d.matched_value, ' of ', coalesce(d.influencer_handle, d.deal_id, d.collab_id),
        ', posted for ', coalesce(e.body::json ->> 'influencer_handle', e.deal_id, e.collab_id))
    from intake.attributions a join ledger.entries e on e.entry_id = a.entry_id
    where a.job = ${job} and a.source = d.source and a.order_id = d.order_id
      and ${isUnconfirmed('owner_changed')} and ${isSent} and ${isOtherOwner(ownerOf('d'))}
      and (d.matched_by = 'explicit' or not exists (
        select from intake.order_claims c
        where c.job = a.job and c.source = a.source and c.order_id = a.order_id
          and not ${isOtherOwner(ownerOf('c'))}))`;
}
