import { sql } from 'kysely';
import type { CodeDay, LeakedCode, LeakFlag } from '../../core/money/leak.ts';
import { DAY_MS } from '../../core/time/day.ts';
import { type Database, rowsOf, toJsonParameter } from '../../db/statement.ts';
import { deviationOf, medianOf, type Part } from '../../intake/checks/expected-range.ts';
import { dateLeak, EARLIEST_DAYS, OWN_DAYS } from './date-leak.ts';

/** Number of days for which a leak is shown after its last unusual day. */
const SHOWN_DAYS = 28;

/**
 * Finds codes that may have leaked in the last four weeks, with the evidence. Those with the most orders
 * without a link come first. Uses the data of the last refresh.
 *
 * @param options.code only this code, folded.
 */
export async function findLeaks(
  db: Database,
  { now, code: only = null }: { now: Date; code?: string | null },
): Promise<readonly LeakedCode[]> {
  const today = Math.floor(now.getTime() / DAY_MS);
  const uses = await readCodeUse(db, {
    today,
    days: Math.max(LEAK_DAYS, WINDOW_DAYS + EARLIEST_DAYS + OWN_DAYS) + SHOWN_DAYS,
    recent: { days: WINDOW_DAYS + SHOWN_DAYS, orders: MIN_ORDERS },
    only,
  });
  const flagged = uses.flatMap((use) => {
    const flags = flagsOf(use, today);
    const [first] = flags;
    const last = flags.at(-1);
    if (first === undefined || last === undefined) return [];
    const flagged = first.day - first.days + 1;
    const { code, dealId, influencerHandle, firstDay } = use;
    const began = dateLeak(use.days, { flagged, last: last.day, firstDay });
    const usual = usualBefore(first, last.days);
    return [
      {
        ...last,
        ...usual,
        code,
        dealId,
        influencerHandle,
        since: isoOf(flagged),
        began: began && { from: isoOf(began.from), likeliest: isoOf(began.likeliest), to: isoOf(began.to) },
      },
    ];
  });
  const customers = await countReturning(db, flagged);
  const acknowledged = await listAcknowledgedLeaks(db);
  return flagged
    .map((leak) => ({
      ...leak,
      ...(customers.get(leak.code) ?? { known: 0, returning: 0 }),
      acknowledged: acknowledgementOf(leak, acknowledged.get(leak.code)),
    }))
    .toSorted((one, other) => other.withoutLink - one.withoutLink || (one.code < other.code ? -1 : 1));
}

/** What was usual in as many days before the first flag: the weeks before a later one have orders of the leak in them. */
function usualBefore(
  { days: of, usualOrders, usualWithoutLink, usualShare }: LeakFlag,
  days: number,
): Pick<LeakFlag, 'usualOrders' | 'usualWithoutLink' | 'usualShare'> {
  const scale = days / of;
  return { usualOrders: usualOrders * scale, usualWithoutLink: usualWithoutLink * scale, usualShare };
}

function isoOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function flagsOf({ days, firstDay }: CodeUse, today: number): readonly LeakFlag[] {
  const flags: LeakFlag[] = [];
  for (let day = today - SHOWN_DAYS + 1; day <= today; day += 1) {
    const flag = judgeCode(days, { day, firstDay });
    if (flag !== null) flags.push(flag);
  }
  return flags;
}

/*
 * Detects leaked discount codes. A code has leaked when it is used by people who do not come from its
 * creator: a coupon site lists it, or a browser extension tries it. It is then used more than before, by
 * orders without a link of the creator. A post of the creator also causes a burst, but its orders have links
 * as before. Therefore a code is flagged if two figures together are unusual for this code: the number of its
 * orders without a link, and their share. Much of one can make up for little of the other: the share says
 * little of a code with few orders, and the number says little of a busy code.
 */

const DAYS_A_WEEK = 7;
/**
 * Numbers of days that are judged together: two, because a burst of a busy code is not visible in a whole
 * week; seven, because some leaks are slow.
 */
const WINDOWS = [2, 4, 7] as const;
/** Number of weeks before the last one from which the usual figures are learned. */
const HISTORY_WEEKS = 12;
/** Minimum history in weeks. The first use of a code is always a burst. */
const MIN_WEEKS = 4;
/** Minimum number of orders without a link. Fewer are not significant. */
const MIN_ORDERS = 10;
/**
 * A code is flagged if the standard deviations by which the share is above the usual one, and `countWeight` for
 * each by which the count is, exceed `limit`. A count is worth less because posts raise it too. Chosen by
 * simulating years of thousands of codes: with these, those without a leak cause 0.7 flags in 100 months.
 */
const SURPRISE = { limit: 4.4, countWeight: 0.4, mostCount: 8, leastShare: 1 } as const;
/**
 * Variance of the share between posts, on the scale of `shareSurprise`: 0.02 is 7 points around a half. The
 * followers of each post have other habits, so even a thousand orders do not pin a share down.
 */
const SHARE_VARIANCE = 0.02;

/** The longest window of `judgeCode`, in days. */
const WINDOW_DAYS = DAYS_A_WEEK;

/** Number of days that `judgeCode` needs, including its windows. */
const LEAK_DAYS = (HISTORY_WEEKS + 1) * DAYS_A_WEEK;

/**
 * Judges the last days of a code.
 *
 * @param days days of one code, each once, oldest first. Days without an order may be omitted.
 * @param options.day the last day.
 * @param options.firstDay the day since which the code is known.
 * @returns null if nothing is unusual or too little is known.
 */
export function judgeCode(
  days: readonly CodeDay[],
  options: { readonly day: number; readonly firstDay: number },
): LeakFlag | null {
  for (const length of WINDOWS) {
    const flag = judgeWindow(days, { ...options, length });
    if (flag !== null) return flag;
  }
  return null;
}

function judgeWindow(
  days: readonly CodeDay[],
  { day, firstDay, length }: { day: number; firstDay: number; length: number },
): LeakFlag | null {
  const seen = sumDays(days, { last: day, length });
  if (seen.part < MIN_ORDERS) return null;
  const history: Part[] = [];
  const first = Math.max(firstDay, day - HISTORY_WEEKS * DAYS_A_WEEK);
  for (let last = day - DAYS_A_WEEK; last - length + 1 >= first; last -= length)
    history.push(sumDays(days, { last, length }));
  if (history.length * length < MIN_WEEKS * DAYS_A_WEEK || history.every(({ whole }) => whole === 0))
    return null;
  const usual = history.reduce(
    (sum, { part, whole }) => ({ part: sum.part + part, whole: sum.whole + whole }),
    { part: 0, whole: 0 },
  );
  const share = shareSurprise(seen, usual);
  const count = countSurprise(
    seen.part,
    history.map(({ part }) => part),
  );
  const isFlagged =
    share > SURPRISE.leastShare &&
    share + SURPRISE.countWeight * Math.min(count, SURPRISE.mostCount) > SURPRISE.limit;
  if (!isFlagged) return null;
  return {
    day,
    days: length,
    orders: seen.whole,
    withoutLink: seen.part,
    usualOrders: usual.whole / history.length,
    usualWithoutLink: usual.part / history.length,
    usualShare: usual.part / usual.whole,
  };
}

/**
 * Returns by how many standard deviations a count is above the usual ones: by chance (the square root of a
 * Poisson count has a standard deviation of 1/2, Anscombe's transform) and by their spread around the median
 * (MAD), whichever is fewer.
 */
function countSurprise(count: number, usual: readonly number[]): number {
  const mean = usual.reduce((sum, one) => sum + one, 0) / usual.length;
  const byChance =
    (2 * (Math.sqrt(count + 3 / 8) - Math.sqrt(mean + 3 / 8))) / Math.sqrt(1 + 1 / usual.length);
  const spread = deviationOf(usual);
  return spread === 0 ? byChance : Math.min(byChance, (count - medianOf(usual)) / spread);
}

/**
 * Returns by how many standard deviations a share is above the usual one. Twice the arcsine of the root of a
 * share has the variance 1/n, whatever the share.
 */
function shareSurprise(seen: Part, usual: Part): number {
  const angle = ({ part, whole }: Part): number => 2 * Math.asin(Math.sqrt(part / whole));
  // Rule of succession: if none of a hundred orders lacked a link, one still may.
  const expected = { part: usual.part + 1, whole: usual.whole + 2 };
  const variance = 1 / seen.whole + 1 / expected.whole + SHARE_VARIANCE;
  return (angle(seen) - angle(expected)) / Math.sqrt(variance);
}

/** Adds up all orders and those without a link. */
function sumDays(days: readonly CodeDay[], { last, length }: { last: number; length: number }): Part {
  let [part, whole] = [0, 0];
  for (const { day, orders, withoutLink } of days) {
    if (day > last || day <= last - length) continue;
    whole += orders;
    part += withoutLink;
  }
  return { part, whole };
}

/** Recent use of a code that has an owner. */
export type CodeUse = Pick<LeakedCode, 'dealId' | 'influencerHandle'> & {
  /** The code in the folded form by which orders are matched. */
  readonly code: string;
  /** Day of the first known order with the code. */
  readonly firstDay: number;
  readonly days: readonly CodeDay[];
};

/**
 * Reads how often codes with an owner were used, day by day, as of the last refresh. Cancelled orders and
 * tests are left out.
 *
 * @param options.days number of days before today to read, in UTC.
 * @param options.recent only codes with at least `orders` orders without a link in the last `days` days.
 */
async function readCodeUse(
  db: Database,
  {
    days,
    today,
    recent,
    only,
  }: {
    readonly days: number;
    /** Days since 1970-01-01, in UTC. */
    readonly today: number;
    readonly recent: { readonly days: number; readonly orders: number };
    readonly only: string | null;
  },
): Promise<readonly CodeUse[]> {
  const since = (ago: number) => sql`date '1970-01-01' + ${today - ago}::integer`;
  return rowsOf<CodeUse>(db)`
    with recent as materialized (
      select code_folded
      from reporting.code_use_days
      where day_utc > ${since(recent.days)} and ${only === null ? sql`true` : sql`code_folded = ${only}`}
      group by code_folded having sum(without_link) >= ${recent.orders}
    ),
    owned as materialized (
      select code_folded, min(deal_id) as deal_id, min(influencer_handle) as influencer_handle
      from intake.codes where code_folded = any (array(select code_folded from recent)) group by code_folded
    )
    select u.code_folded as code, o.deal_id as "dealId",
      reporting.without_addresses(o.influencer_handle) as "influencerHandle",
      min(u.day_utc - date '1970-01-01') as "firstDay",
      jsonb_agg(jsonb_build_object('day', u.day_utc - date '1970-01-01', 'orders', u.orders, 'withoutLink',
          u.without_link)
        order by u.day_utc) as days
    from owned o
    cross join lateral (
      select u.*
      from reporting.code_use_days u
      where u.code_folded = o.code_folded and u.day_utc > ${since(days)} offset 0) u
    group by 1, 2, 3 order by 1`;
}

/**
 * Counts the orders with each of some codes since a day: those with a known customer, and those whose
 * customer had ordered before.
 */
async function countReturning(
  db: Database,
  codes: readonly { readonly code: string; readonly since: string }[],
): Promise<ReadonlyMap<string, { readonly known: number; readonly returning: number }>> {
  if (codes.length === 0) return new Map();
  const first = codes.map(({ since }) => since).toSorted()[0] ?? '';
  const rows = await rowsOf<{ code: string; known: number; returning: number }>(db)`
    with orders as materialized (
      select o.customer_key, o.codes_folded, coalesce(o.placed_at, o.paid_at, o.first_seen_at) as ordered_at
      from intake.orders o
      where coalesce(o.placed_at, o.paid_at, o.first_seen_at) >= ${first}::date and o.is_current
        and o.customer_key is not null
        and o.codes_folded && ${codes.map(({ code }) => code)}::text[]
    )
    select c.code, count(*)::float8 as known, (count(*) filter (where exists (
        select from intake.orders p where p.customer_key = o.customer_key and p.is_current
          and coalesce(p.placed_at, p.paid_at, p.first_seen_at) < o.ordered_at)))::float8 as returning
    from jsonb_to_recordset(${toJsonParameter(codes)}::jsonb) as c (code text, since date)
    join orders o on c.code = any (o.codes_folded) and o.ordered_at >= c.since
    group by c.code`;
  return new Map(rows.map(({ code, ...counts }) => [code, counts]));
}

/** A leak that has so many times the orders a day that a person saw is not the one that was acknowledged. */
const GROWN = 2;

type Acknowledgement = NonNullable<LeakedCode['acknowledged']> & {
  /** Orders without a link a day, as the person saw them. Null if the record does not say. */
  readonly aDay: number | null;
  /** The deal that had the code. Undefined if the record does not say. */
  readonly dealId: string | null | undefined;
};

/** The acknowledgement of a leak; null if none is, or if the leak is another one than that a person saw. */
function acknowledgementOf(
  { days, withoutLink, dealId: owner }: Pick<LeakedCode, 'days' | 'withoutLink' | 'dealId'>,
  acknowledged: Acknowledgement | undefined,
): LeakedCode['acknowledged'] {
  if (acknowledged === undefined) return null;
  const { aDay, dealId, ...known } = acknowledged;
  const hasGrown = aDay !== null && withoutLink / days > GROWN * aDay;
  return hasGrown || (dealId !== undefined && dealId !== owner) ? null : known;
}

/** Lists codes that a person acknowledged in the last 30 days, from the audit. */
async function listAcknowledgedLeaks(db: Database): Promise<ReadonlyMap<string, Acknowledgement>> {
  type Row = Omit<Acknowledgement, 'dealId'> & { code: string; dealId: string | null; namesDeal: boolean };
  const rows = await rowsOf<Row>(db)`
    select distinct
      on (subject) subject as code, actor as by, occurred_at as at, coalesce(reason, '') as reason,
      (after ->> 'without_link')::float8 / nullif((after ->> 'days')::float8, 0) as "aDay",
      after ->> 'deal_id' as "dealId", coalesce(after ? 'deal_id', false) as "namesDeal"
    from ops.audit
    where subject_kind = 'code' and action = 'acknowledge_leak' and occurred_at > now() - interval '30 days'
    order by subject, audit_id desc`;
  return new Map(
    rows.map(({ code, namesDeal, dealId, ...known }) => [
      code,
      { ...known, dealId: namesDeal ? dealId : undefined },
    ]),
  );
}
