import { sql } from 'kysely';
import type { KnownSum } from '../../core/money.ts';
import { foldCode } from '../../core/text/fold.ts';
import { type Database, rowOf, rowsOf } from '../../db/statement.ts';
import { spellingsOf } from '../find-handles.ts';
import { type ColumnKey, hasAll, type Page } from '../wanted-rows.ts';

export type UnownedCode = KnownSum & {
  readonly job: string;
  /** The code in capitals, without blanks. */
  readonly folded: string;
  /** One spelling of the code, with e-mail addresses masked. */
  readonly code: string;
  readonly carriedAs: string;
  readonly currency: string;
  readonly orders: number;
  /** Days in UTC of the first and the last of these orders. */
  readonly firstDay: string;
  readonly lastDay: string;
  /**
   * The owner whom a person assigned since the last run of the job began; the next run credits what its rules allow.
   * Null: none.
   */
  readonly assignedTo: string | null;
};

/** A code with its owner, as loaded by the last run of the job. */
export type OwnedCode = {
  readonly job: string;
  readonly folded: string;
  readonly code: string;
  /** Line in codes.csv; negative if the file does not name it. */
  readonly line: number;
  /** True if a person assigned it in the console; else it comes from the file or from an event of the service. */
  readonly isAssigned: boolean;
  readonly brandId: string | null;
  readonly influencerHandle: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly validFrom: Date | null;
  readonly validTo: Date | null;
  /** The first and the last day, or time, as a person wrote them. Null if there is none, or it comes from an event. */
  readonly validFromText: string | null;
  readonly validToText: string | null;
};

/** An owner that a person assigned, whether or not a run has loaded it. */
export type AssignedCode = Omit<OwnedCode, 'line' | 'isAssigned' | 'validFrom' | 'validTo'> & {
  readonly assignedAt: Date;
  readonly assignedBy: string;
  /** Null while it counts. */
  readonly withdrawnAt: Date | null;
  /** Line of codes.csv that contains the code too and takes precedence; null if the last run found none. */
  readonly overriddenBy: number | null;
};

export type CodeFilter = {
  readonly job?: string | null;
  /** A part of the code. */
  readonly code?: string | null;
  /** The code itself, folded. */
  readonly folded?: string | null;
};

/** Orders that carried a code on one day, cancelled ones and tests left out. */
export type CodeUseDay = {
  /** Day in UTC. */
  readonly day: string;
  readonly orders: number;
  /** Of those: carry no link, so that only the code leads to a creator. */
  readonly withoutLink: number;
};

/**
 * Counts the orders with a code by day, as of the last refresh of the reports, oldest first.
 * @param options.days number of days, of which the last one is the newest day with an order.
 */
export function listCodeUse(db: Database, { folded, days }: { folded: string; days: number }) {
  return rowsOf<CodeUseDay>(db)`
    select day_utc::text as day, orders::float8 as orders, without_link::float8 as "withoutLink"
    from reporting.code_use_days where code_folded = ${folded}
      and day_utc > (select max(day_utc) from reporting.code_use_days where code_folded = ${folded})
        - ${days}::integer
    order by day_utc`;
}

/** Condition: assignment `s` is in force, and no run of its job has matched the orders with its code since. */
export const isNotMatchedYet = sql<boolean>`
  (s.withdrawn_at is null and not exists (
    select from ops.runs r
    where r.job = s.job and r.started_at > s.assigned_at and r.status in ('ok', 'issues')))`;

/** SQL for the owner of a row of reporting.code_days whom a person assigned and no run has matched yet. */
const assignedTo = sql`(
  select max(coalesce(s.influencer_handle, s.deal_id, s.collab_id)) from intake.code_assignments s
  where carried_as = 'code' and s.job = code_days.job and s.code_folded = lower(code_days.code_folded)
    and ${isNotMatchedYet})`;

/** Lists codes without an owner, for each currency those with the most revenue first. */
export function listUnownedCodes(
  db: Database,
  {
    limit,
    job = null,
    code = null,
    folded = null,
    currency = null,
  }: CodeFilter & { currency?: string | null; limit: number },
) {
  return rowsOf<UnownedCode>(db)`
    select job, code_folded as folded, min(code) as code, carried_as as "carriedAs", currency,
      sum(orders)::float8 as orders, sum(amount) as amount,
      sum(without_amount)::float8 as "withoutAmount", to_char(min(day_utc), 'YYYY-MM-DD') as "firstDay", to_char(max(day_utc), 'YYYY-MM-DD') as "lastDay",
      max(${assignedTo}) as "assignedTo"
    from reporting.code_days
    where (${job}::text is null or job = ${job})
      and (${code}::text is null or position(upper(${code}::text) in code_folded) > 0)
      and (${folded}::text is null or code_folded = upper(${folded}))
      and (${currency}::text is null or currency = ${currency})
    group by job, code_folded, carried_as, currency
    order by currency, sum(amount) desc nulls last, code_folded limit ${limit}`;
}

/**
 * Finds which parts of an owner neither the mirror nor a code of any job knows: `deal DEALMAI`. Empty texts are left out.
 * Nothing is unknown as long as no deal or code is known at all.
 */
export async function findUnknownOwner(
  db: Database,
  owner: {
    readonly deal: string;
    readonly collaboration: string;
    readonly brand: string;
    readonly handle: string;
  },
): Promise<readonly string[]> {
  const { deal, collaboration, brand, handle } = owner;
  const found = await rowOf<{ known: readonly string[] }>(db)`
    select array(select 'deal' from mirror.deal_versions where is_latest and deal_id = ${deal}::text
      union all select 'deal' from intake.codes where deal_id = ${deal}::text
      union all select 'collaboration' from mirror.collaboration_versions
      where collab_id = ${collaboration}::text
      union all select 'collaboration' from intake.codes where collab_id = ${collaboration}::text
      union all select 'brand' from mirror.brand_versions where brand_id = ${brand}::text
      union all select 'brand' from intake.codes where brand_id = ${brand}::text) as known
    where exists (select from mirror.deal_versions) or exists (select from intake.codes)`;
  if (found === undefined) return [];
  const known = (await spellingsOf(db, handle)).length > 0 ? [...found.known, 'handle'] : found.known;
  return Object.entries(owner).flatMap(([kind, id]) =>
    id === '' || known.includes(kind) ? [] : `${kind} ${id}`,
  );
}

/** Revenue of a job's codes without an owner, in one currency. */
export type UnownedRevenue = KnownSum & {
  readonly job: string;
  readonly currency: string;
  readonly codes: number;
  readonly orders: number;
  /** Day of the first order, in UTC. */
  readonly since: string;
};

/**
 * Sums the revenue of codes without an owner, those left out that a person has assigned since the last run, as of the
 * last refresh of the reports.
 */
export function sumUnownedCodes(db: Database) {
  return rowsOf<UnownedRevenue>(db)`
    select job, currency, count(distinct code_folded)::float8 as codes, sum(orders)::float8 as orders,
      sum(amount) as amount, sum(without_amount)::float8 as "withoutAmount",
      to_char(min(day_utc), 'YYYY-MM-DD') as since
    from reporting.code_days where ${assignedTo} is null group by 1, 2 order by 1, 2`;
}

const owner = sql`c.brand_id as "brandId", c.influencer_handle as "influencerHandle", c.deal_id as "dealId", c.collab_id as "collabId"`;

/**
 * Lists codes with an owner in alphabetical order.
 *
 * @param options.which `all`; `ambiguous`: codes with several owners at the same time; `expiring`: codes
 *   whose validity ends within 30 days or has ended.
 */
export function listOwnedCodes(
  db: Database,
  options: CodeFilter &
    Page<ColumnKey<'job' | 'folded' | 'line'>> & { which: 'all' | 'ambiguous' | 'expiring' },
) {
  const { which, limit, job, code, folded, after = null } = options;
  const isPart = code != null && sql`position(${foldCode(code)}::text in c.code_folded) > 0`;
  const isAfter =
    after !== null &&
    sql`(c.job, c.code_folded, c.line_no) > (${after.job}, ${after.folded}, ${after.line}::int)`;
  const only = {
    all: sql`true`,
    expiring: sql`c.valid_to < clock_timestamp() + interval '30 days'`,
    ambiguous: sql`exists (
      select from intake.codes o
      where o.job = c.job and o.code_folded = c.code_folded and o.target <> c.target
        and coalesce(o.brand_id, c.brand_id, '') = coalesce(c.brand_id, o.brand_id, '')
        and coalesce(o.valid_from, '-infinity') < coalesce(c.valid_to, 'infinity')
        and coalesce(c.valid_from, '-infinity') < coalesce(o.valid_to, 'infinity'))`,
  }[which];
  return rowsOf<OwnedCode>(db)`
    select c.job, c.code_folded as folded, c.code, c.line_no as line, c.line_no < 0 and exists (
        select from intake.code_assignments a
        where a.job = c.job and a.code_folded = c.code_folded and a.withdrawn_at is null) as "isAssigned",
      ${owner}, c.valid_from as "validFrom", c.valid_to as "validTo",
      c.valid_from_text as "validFromText", c.valid_to_text as "validToText"
    from intake.codes c
    where c.code_folded is not null
      and ${hasAll({ 'c.job': job, 'c.code_folded': folded }, isPart, isAfter, only)}
    order by c.job, c.code_folded, c.line_no limit ${limit}`;
}

/**
 * Lists owners that people assigned and did not withdraw.
 * @param options.folded one code, and then also the owners that were withdrawn or replaced, newest first.
 */
export function listAssignedCodes(
  db: Database,
  {
    job = null,
    folded = null,
    code = null,
    after = null,
    limit,
  }: CodeFilter & Page<ColumnKey<'job' | 'folded'>>,
) {
  return rowsOf<AssignedCode>(db)`
    select c.job, c.code_folded as folded, c.code, ${owner}, c.valid_from as "validFromText",
      c.valid_to as "validToText", c.assigned_at as "assignedAt",
      c.assigned_by as "assignedBy", c.withdrawn_at as "withdrawnAt",
      (select min(l.line_no) from intake.codes l
        where l.job = c.job and l.code_folded = c.code_folded and l.line_no > 0) as "overriddenBy"
    from intake.code_assignments c
    where (${job}::text is null or c.job = ${job})
      and (c.code_folded = ${folded}::text or ${folded === null} and c.withdrawn_at is null)
      and (${code}::text is null or position(upper(${code}::text) in upper(c.code)) > 0)
      and ${hasAll({}, after !== null && sql`(c.job, c.code_folded) > (${after.job}, ${after.folded})`)}
    order by c.job, c.code_folded, c.assigned_at desc limit ${limit}`;
}
