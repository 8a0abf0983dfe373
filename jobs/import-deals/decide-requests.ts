import { sql, type Transaction } from 'kysely';
import { configurationError, type KnownError } from '../../src/core/known-error.ts';
import { databaseClock } from '../../src/db/clock.ts';
import { countOf, type Database, execute, rowsOf } from '../../src/db/statement.ts';
import type { DB } from '../../src/db/tables.ts';

/**
 * Returns true if `mirror-account` has published at least once. Before that, the tool does not know which
 * deals exist.
 */
export async function isMirrored(db: Database): Promise<boolean> {
  const any = await db.selectFrom('mirror.publications').select('run_id').limit(1).executeTakeFirst();
  return any !== undefined;
}

/** The error of a job without a mirror of the account. */
export function mirrorMissing(job: string): KnownError {
  return configurationError({
    code: 'mirror_missing',
    message: 'The account was never mirrored, so the job would create existing deals a second time.',
    where: `jobs.${job}`,
    help: 'Run a job of the kind mirror-account first:  npx influencer-sync run mirror-account\nIf pipeline.yaml has none, add `mirror-account: { kind: mirror-account }` below jobs. Schedule it before this job.',
    safe: 'Nothing was read or sent.',
  });
}

/** Number of ledger attempts that a run has started so far. */
export async function countAttempts(db: Database, runId: string): Promise<number> {
  return countOf(db)`
    select count(*) as attempts from ledger.attempts where run_id = ${runId}::bigint`;
}

/** Handles, in their original spelling, for which a deal is to be created and that were not looked up yet. */
export async function handlesToLookUp(
  db: Database,
  { job, limit }: { job: string; limit: number | null },
): Promise<readonly { readonly folded: string; readonly handle: string }[]> {
  return rowsOf<{ folded: string; handle: string }>(db)`
    select handle_folded as folded, min(influencer_handle) as handle from intake.creators
    where job = ${job} and outcome = 'create' and looked_up_at is null
    group by handle_folded order by min(creator_id) limit ${limit}::bigint`;
}

/**
 * Stores the answer of the service for a deal of this handle. @param looked.dealId null if the service knows
 * no deal.
 */
export async function saveLookup(
  db: Database,
  { job, folded, dealId }: { job: string; folded: string; dealId: string | null },
): Promise<void> {
  await db
    .updateTable('intake.creators')
    .set({ looked_up_at: databaseClock, found_deal_id: dealId })
    .where((eb) => eb.and({ job, handle_folded: folded }))
    .where('looked_up_at', 'is', null)
    .execute();
}

/** A stage or an active status that the service has not accepted yet. */
export type WaitingUpdate = {
  readonly creatorId: string;
  readonly dealId: string;
  /** Null if there is no stage to send. */
  readonly stage: number | null;
  readonly isActive: boolean | null;
};

/** SQL conditions: row `c` states a stage, or a status, that the service has not accepted; it has a deal. */
export const waits = {
  stage: sql`(c.stage is not null and c.stage is distinct from c.stage_taken)`,
  status: sql`(c.is_active is not null and c.is_active is distinct from c.is_active_taken)`,
  hasDeal: sql`(c.outcome in ('create', 'known') and c.deal_id is not null)`,
};

/**
 * Deals of the job whose stage or status has to be sent, in the order in which their creators were first
 * stated.
 */
export async function waitingUpdates(db: Database, job: string): Promise<readonly WaitingUpdate[]> {
  return rowsOf<WaitingUpdate>(db)`
    select c.creator_id as "creatorId", c.deal_id as "dealId",
      case when ${waits.stage} then c.stage end as stage,
      case when ${waits.status} then c.is_active end as "isActive"
    from intake.creators c where c.job = ${job} and ${waits.hasDeal} and (${waits.stage} or ${waits.status})
    order by c.creator_id`;
}

/** The result of the updates of a deal so far. */
export type UpdateAnswer = Pick<WaitingUpdate, 'creatorId'> & {
  /** The stage that the service accepted. Null: none. */
  readonly stage: number | null;
  /** The active status that the service accepted. Null: none. */
  readonly isActive: boolean | null;
  /** Why the service refused the stage or the status. Null if it refused neither. */
  readonly problem: string | null;
};

/** Stores what the service accepted, or why it refused. */
export async function saveUpdate(db: Database | Transaction<DB>, answer: UpdateAnswer): Promise<void> {
  const { creatorId, stage, isActive, problem } = answer;
  await execute(db)`
    update intake.creators
    set stage_taken = coalesce(${stage}::integer, stage_taken),
        is_active_taken = coalesce(${isActive}::boolean, is_active_taken),
        update_problem = ${problem}
    where creator_id = ${creatorId}::bigint`;
}
