import { type RawBuilder, sql } from 'kysely';
import type { DoubleCredit, Doubt, EntryState } from '../../core/ledger.ts';
import { countOf, type Database, rowOf, rowsOf } from '../../db/statement.ts';
import { attemptReference, lacksReference } from '../../ledger/effects/effect.ts';
import { effects } from '../../ledger/effects/index.ts';
import { isAboutOrder } from '../../ledger/evidence/apply-evidence.ts';
import { isAbandoned, isDoubt, isRefusedAndGone } from '../../rollups/disposition.ts';
import { spellingsOf } from '../find-handles.ts';
import { entrySubject } from '../lives/entry-lives.ts';
import { type ColumnKey, type Having, hasAll, type Page } from '../wanted-rows.ts';

export type DoubtFilter = Having<'job' | 'entryId' | 'dealId'> & {
  /** The whole reason, in any case, or one of several. */
  readonly reason?: string | readonly string[] | null;
  /** Only doubts that exist since this instant or longer. */
  readonly sinceBefore?: Date | null;
};

/** Lists entries in doubt, oldest first, with what is known about each. */
export function listDoubts(
  db: Database,
  { limit = null, after = null, ...filter }: DoubtFilter & Partial<Page<ColumnKey<'since' | 'entryId'>>> = {},
) {
  // First selects the entries, then looks up details for these only.
  return rowsOf<Doubt>(db)`
    select ${doubtColumns}
    from (
      select entry_id
      from ${doubtsOf(filter, { after, limit })} doubts
      order by since, entry_id
      limit ${limit}::bigint) listed
    cross join lateral (select * from ledger.entries e where e.entry_id = listed.entry_id limit 1) e
    ${withAttribution}
    order by ${since}, e.entry_id`;
}

/**
 * An entry in any state, with the data that identifies its situation. The state is `in_doubt` also if its
 * process is gone.
 */
export type OpenEntry = Doubt & {
  readonly state: EntryState;
  readonly attempt: number;
  /**
   * The text in the record of the service that names the doubtful attempt. Null if the operation has no member for
   * it, if nothing was sent, or if another ledger sent it.
   */
  readonly reference: string | null;
};

/** @returns null if there is no such entry. */
export async function findEntry(db: Database, entryId: string): Promise<OpenEntry | null> {
  const row = await rowOf<OpenEntry>(db)`
    select ${doubtColumns}, case when ${isDoubt} then 'in_doubt' else e.state end as state, e.attempt,
      case
        when e.attempt > e.not_sent and e.effect = any(${REFERENCED}::text[]) and not ${lacksReference('e')}
        and not exists (select from ledger.recovered_claims r where r.entry_id = e.entry_id)
          then ${reference} end as reference
    from ledger.entries e ${withAttribution} where e.entry_id = ${entryId}::bigint`;
  return row ?? null;
}

const REFERENCED = Object.values(effects).flatMap(({ effect, referenceMember }) =>
  referenceMember === null ? [] : [effect],
);

const reference = attemptReference({
  ledger: sql`(select left(i.ledger_id::text, 8) from ledger.identity i)`,
  entryId: sql`e.entry_id`,
  attempt: sql`coalesce(e.doubtful_attempt, e.attempt)`,
});

/** Matching doubts, summed by reason and currency. */
export type DoubtSum = {
  readonly reason: string;
  readonly currency: string | null;
  readonly doubts: number;
  /** Null for entries without an amount, such as those of clicks. */
  readonly amount: string | null;
  /** When the oldest of them was sent. */
  readonly since: Date;
};

/**
 * Counts the matching doubts and sums their amounts, the most frequent reasons first.
 *
 * @param options.limit counts at most this number of doubts, the oldest ones; null for all.
 */
export function sumDoubts(
  db: Database,
  filter: DoubtFilter = {},
  { limit = null }: { limit?: number | null } = {},
) {
  return rowsOf<DoubtSum>(db)`
    select reason, currency, count(*)::float8 as doubts, sum(amount) as amount,
      min(since) as since
    from (select * from ${doubtsOf(filter, { limit })} doubts limit ${limit}::bigint) counted
    group by 1, 2 order by 3 desc, 1, 2`;
}

/**
 * SQL that selects entries to settle together: the doubts that match a filter, or the entries that a person
 * picked, in any state. Its rows have entry_id, job, effect, state, attempt, amount, currency, has_evidence,
 * and the deal and collaboration of the entry or its evidence.
 */
export function selectToSettle(
  chosen: DoubtFilter | { readonly entryIds: readonly string[] },
): RawBuilder<unknown> {
  const isChosen =
    'entryIds' in chosen
      ? sql`e.entry_id = any(${[...chosen.entryIds]}::bigint[])`
      : sql`${isDoubt} and ${matches(chosen)}`;
  return sql`
    select e.entry_id, e.job, e.effect, e.state, e.attempt, e.amount, e.currency,
      coalesce(${dealId}, v.deal_id) as deal_id, ${collabId} as collab_id, v.has_evidence
    from ledger.entries e ${withAttribution}
    cross join lateral (
      select count(*) > 0 as has_evidence,
        (array_agg(v.deal_id order by v.evidence_id) filter (where v.deal_id is not null))[1] as deal_id
      from ledger.evidence v where ${isAboutEntry}) v
    where ${isChosen}`;
}

const reason = sql`coalesce(e.state_reason, 'its process was gone before the answer was recorded')`;
const dealId = sql`coalesce(e.deal_id, e.body::jsonb ->> 'deal_id', a.deal_id)`;
/**
 * When the doubtful request of entry `e` was claimed. As the index `entries_in_doubt` has it: in milliseconds,
 * the precision of a JavaScript Date, with which pages compare it.
 */
const since = sql`coalesce(e.doubted_at, e.state_changed_at)::timestamptz(3)`;

const collabId = sql`coalesce(e.collab_id, e.body::jsonb ->> 'collab_id', a.collab_id)`;
/** Condition: evidence `v` is about entry `e` or its order. */
const isAboutEntry = sql`(v.entry_id = e.entry_id or (${isAboutOrder}))`;

const doubtColumns = sql`
  e.entry_id as "entryId", e.job, e.effect, ${entrySubject} as subject, e.order_platform as "orderPlatform",
  e.order_id as "orderId", e.currency, e.amount, ${dealId} as "dealId", ${collabId} as "collabId",
  coalesce(e.body::jsonb ->> 'influencer_handle', a.influencer_handle) as "influencerHandle",
  ${reason} as reason, e.attempt - e.not_sent as attempts,
  to_char(${since} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as since,
  round(extract(epoch from clock_timestamp() - ${since}))::float8 as "ageSeconds",
  coalesce((
    select jsonb_agg(jsonb_build_object('kind', v.kind, 'dealId', v.deal_id, 'collabId', v.collab_id,
        'amount', v.amount::text,
      'currency', v.currency, 'isLegible', v.is_legible, 'receivedAt', v.received_at) order by v.evidence_id)
    from ledger.evidence v where ${isAboutEntry}
  ), '[]'::jsonb) as evidence`;

/** Joins the attribution of the order, as `a`. */
const withAttribution = sql`
  left join lateral (select a.* from intake.attributions a where a.entry_id = e.entry_id limit 1) a on true`;

/**
 * SQL for the doubts that match a filter, as a subquery with the columns entry_id, since, reason, currency and
 * amount.
 *
 * The index `entries_in_doubt` has the doubts in the order of the list, so that a page of 100,000 doubts costs as
 * much as a page of ten. Entries whose process is gone are few: they become doubts when a process reaps them.
 *
 * @param page.limit reads at most this number of rows of each kind, the oldest ones; null for all.
 */
function doubtsOf(
  filter: DoubtFilter,
  { after = null, limit }: Page<ColumnKey<'since' | 'entryId'>>,
): RawBuilder<unknown> {
  const isAfter =
    after !== null &&
    sql`(${since}, e.entry_id) > (${after.since}::timestamptz(3), ${after.entryId}::bigint)`;
  // All of them are added up, or sorted later.
  const first = limit === null ? sql`` : sql`order by ${since}, e.entry_id limit ${limit}::bigint`;
  const select = (isOfKind: RawBuilder<unknown>) => sql`
    select e.entry_id, ${since} as since, ${reason} as reason, e.currency, e.amount
    from ledger.entries e ${filter.dealId == null ? sql`` : withAttribution}
    where ${hasAll({}, isOfKind, matches(filter), isAfter)} ${first}`;
  return sql`(
    (${select(sql`e.state = 'in_doubt'`)})
    union all (${select(isAbandoned)}))`;
}

function matches({
  job,
  entryId,
  reason: words,
  dealId: deal,
  sinceBefore,
}: DoubtFilter): RawBuilder<unknown> {
  return hasAll(
    { 'e.job': job, 'e.entry_id': entryId },
    words != null && sql`lower(${reason}) in (select lower(w) from unnest(${[words].flat()}::text[]) w)`,
    deal != null && sql`${dealId} = ${deal}`,
    sinceBefore != null && sql`${since} <= ${sinceBefore}::timestamptz`,
  );
}

/** Counts the doubts of a job. */
export async function countDoubts(db: Database, job: string): Promise<number> {
  return countOf(db)`
    select count(*) as doubts from ledger.entries e where ${isDoubt} and e.job = ${job}`;
}

/**
 * Lists entries for which the service has accepted more than one request and that are not acknowledged yet.
 * They are rare, and an index finds them.
 */
export function listDoubleCredits(db: Database, { job, entryId }: Having<'job' | 'entryId'> = {}) {
  return rowsOf<DoubleCredit>(db)`
    select e.entry_id as "entryId", e.job, e.order_platform as "orderPlatform", e.order_id as "orderId",
      ${entrySubject} as subject, e.amount,
      e.currency, e.deal_id as "dealId", e.collab_id as "collabId", d.credits::float8 as credits
    from ledger.double_credits d join ledger.entries e using (entry_id)
    where ${hasAll({ 'e.job': job, 'e.entry_id': entryId })} order by e.entry_id`;
}

/**
 * SQL that selects double credits to acknowledge together: those of a job, or the entries that a person picked,
 * whether or not they are credited twice. Its rows have entry_id, job, state, attempt, amount, currency and credits.
 */
export function selectToAcknowledge(
  chosen: { readonly job: string | null } | { readonly entryIds: readonly string[] },
): RawBuilder<unknown> {
  const isChosen =
    'entryIds' in chosen
      ? sql`e.entry_id = any(${[...chosen.entryIds]}::bigint[])`
      : sql`d.credits is not null and (${chosen.job}::text is null or e.job = ${chosen.job})`;
  return sql`
    select e.entry_id, e.job, e.state, e.attempt, e.amount, e.currency, d.credits::integer as credits
    from ledger.entries e left join ledger.double_credits d using (entry_id) where ${isChosen}`;
}

/** A deal of an influencer, as the mirror last read it. */
export type DealOfHandle = {
  readonly dealId: string;
  readonly brandId: string | null;
  readonly isActive: boolean | null;
};

/** Lists the influencer's deals in the mirror, active ones first. The service may have others. */
export async function dealsOfHandle(db: Database, handle: string): Promise<readonly DealOfHandle[]> {
  return rowsOf<DealOfHandle>(db)`
    select deal_id as "dealId", brand_id as "brandId", is_active as "isActive" from mirror.deal_versions
    where is_latest and is_current
      and influencer_handle = any(${[...(await spellingsOf(db, handle))]}::text[])
    order by is_active desc nulls last, deal_id`;
}

/** Entries of a job that the service refused and that the job still wants to post, added up by currency. */
export type RefusedSum = {
  readonly job: string;
  /** Null for entries without an amount, such as those of clicks. */
  readonly currency: string | null;
  readonly entries: number;
  /** Exact text, in `currency`. */
  readonly amount: string | null;
  /** When the service first refused one of them. */
  readonly since: Date;
};

/**
 * Adds up refused entries. As in `dispositionOfOrders`, a refused order that attribution no longer wants is left out.
 */
export function sumRefused(db: Database) {
  return rowsOf<RefusedSum>(db)`
    select e.job, e.currency, count(*)::float8 as entries, sum(e.amount) as amount,
      min(e.state_changed_at) as since
    from ledger.entries e
    left join lateral (select a.outcome from intake.attributions a where a.entry_id = e.entry_id limit 1) a
      on true
    where e.state = 'rejected'
      and case e.effect when 'referral' then a.outcome = 'attributed'
        when 'click' then not ${isRefusedAndGone} else true end
    group by 1, 2 order by 1, 2`;
}
