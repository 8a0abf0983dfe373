import { createHash } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import type { DB } from '../db/tables.ts';
import { type AttributionRules, decisionsOf, filesToAttribute } from './decisions.ts';
import { lockJob } from './lock-job.ts';

export type AttributeOrdersOptions = Omit<AttributionRules, 'rulesHash' | 'period'> & {
  /** Of `loadCodes`. */
  readonly codesHash: string;
};

export type AttributedOrders = {
  /** Decisions that are new or other than before. */
  readonly decided: number;
};

/**
 * Decides whose each order is, or why it is nobody's: current orders of sealed files that this job has not looked at under these
 * rules. What was decided before and comes out the same stays as it is. In a transaction that is rolled back it is a preview.
 */
export function attributeOrders(db: Database, options: AttributeOrdersOptions): Promise<AttributedOrders> {
  const rules = { ...options, period: null, rulesHash: hashRules(options) };
  return inTransaction(db, async (trx) => {
    // Compiling takes longer than a run with few new orders; sorting a million in memory is worth 64 MB.
    await sql`select set_config('jit', 'off', true), set_config('work_mem', '64MB', true)`.execute(trx);
    await lockJob(trx, options.job);
    await sql`drop table if exists pg_temp.files_to_attribute, pg_temp.decided_orders`.execute(trx);
    await sql`create temporary table files_to_attribute on commit drop as ${filesToAttribute(rules)}`.execute(
      trx,
    );
    const { rows: files } = await sql`select from files_to_attribute limit 1`.execute(trx);
    if (files.length === 0) return { decided: 0 };
    await decide(trx, rules);
    return { decided: await write(trx, rules) };
  });
}

/**
 * `decided_orders`. Temporary tables, so that the planner knows what it joins; until then it must not trust what it believes about tables
 * that have just been filled: nested loops would be quadratic, and orders are read by the index of their file.
 */
export async function decide(trx: Transaction<DB>, rules: AttributionRules): Promise<void> {
  await sql`select set_config('enable_nestloop', 'off', true), set_config('enable_seqscan', 'off', true)`.execute(
    trx,
  );
  await sql`create temporary table decided_orders on commit drop as ${decisionsOf(rules)}`.execute(trx);
  await sql`select set_config('enable_nestloop', 'on', true), set_config('enable_seqscan', 'on', true)`.execute(
    trx,
  );
  await sql`analyze decided_orders`.execute(trx);
}

async function write(trx: Transaction<DB>, { job, rulesHash }: AttributionRules): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into intake.attributions as a (job, source, order_id, order_version_id, outcome, reason, matched_by, matched_value,
      target, brand_id, influencer_handle, deal_id, collab_id, amount, currency, is_pending, rules_hash)
    select ${job}, d.source, d.order_id, d.order_version_id, d.outcome, d.reason, d.matched_by, d.matched_value,
      d.target, d.brand_id, d.influencer_handle, d.deal_id, d.collab_id, d.amount, d.currency, d.outcome = 'attributed', ${rulesHash}
    from decided_orders d
    left join intake.attributions k on k.job = ${job} and k.source = d.source and k.order_id = d.order_id
    where k.job is null
      or row(d.order_version_id, d.outcome, d.reason, d.matched_by, d.matched_value, d.target, d.brand_id, d.influencer_handle,
             d.deal_id, d.collab_id, d.amount, d.currency)
         is distinct from
         row(k.order_version_id, k.outcome, k.reason, k.matched_by, k.matched_value, k.target, k.brand_id, k.influencer_handle,
             k.deal_id, k.collab_id, k.amount, k.currency)
    on conflict (job, source, order_id) do update
    set order_version_id = excluded.order_version_id, outcome = excluded.outcome, reason = excluded.reason,
        matched_by = excluded.matched_by, matched_value = excluded.matched_value, target = excluded.target,
        brand_id = excluded.brand_id, influencer_handle = excluded.influencer_handle, deal_id = excluded.deal_id,
        collab_id = excluded.collab_id, amount = excluded.amount, currency = excluded.currency,
        is_pending = excluded.is_pending or a.entry_id is not null, rules_hash = excluded.rules_hash, decided_at = now()`.execute(
    trx,
  );
  await sql`
    insert into intake.attributed_files (job, source_file_id, rules_hash)
    select ${job}, source_file_id, ${rulesHash} from files_to_attribute
    on conflict (job, source_file_id) do update set rules_hash = excluded.rules_hash, attributed_at = now()`.execute(
    trx,
  );
  return Number(numAffectedRows ?? 0);
}

function hashRules({ codesHash, brandId, revenue, sources, start }: AttributeOrdersOptions): string {
  const credited = sources.map(({ source, credited }) => [source, credited]);
  const rules = [
    codesHash,
    brandId,
    revenue,
    credited,
    ...(start === null ? [] : [start.day, start.timeZone]),
  ];
  return createHash('sha256').update(JSON.stringify(rules)).digest('base64url');
}
