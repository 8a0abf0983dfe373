import { BELOW_ZERO } from '../../src/core/held/held-order.ts';
import type { LeakedCode } from '../../src/core/money/leak.ts';
import type { DecimalText } from '../../src/core/money.ts';
import { sumOrders } from '../../src/core/order.ts';
import type { CodeProblem, DoubtDetails, FileCounts, FileDetails, RunReport } from '../../src/core/report.ts';
import { type Database, rowsOf } from '../../src/db/statement.ts';
import { findLeaks } from '../../src/money/leaks/find-leaks.ts';
import { type HeldGroup, listHeldGroups } from '../../src/reports/held/held-orders.ts';
import {
  listOtherCurrency,
  type OtherCurrency,
  sumOtherCurrency,
} from '../../src/reports/money/list-other-currency.ts';
import { SHOWN_OTHER_CURRENCY } from '../../src/reports/money/other-currency.ts';
import {
  type AdjustmentGroup,
  countsBy,
  type ReportedRun,
  readAdjustments,
  readRunDoubts,
  readRunFiles,
} from '../../src/reports/runs/run-report.ts';
import {
  acceptedInRun,
  BY_BACKFILL,
  countOrders,
  type Disposition,
  type DispositionGroup,
  listUnownedCodes,
  readDispositions,
  STORED,
  type UnownedCode,
  workOutStandings,
} from './read-dispositions.ts';

/**
 * The result of a run of `attribute-orders`. `sumsAddUp` means that orders = Σ excluded + unattributed +
 * organic + Σ entries, and rows = rows of orders + rejected rows.
 */
export type OrdersReport = RunReport<'attribute-orders', OrderCounts, OrderDetails>;

/**
 * What a run did, and the disposition of every order of the job after it. `entries.accepted`, the files and
 * the rows count this run only. The other counts are totals of the job after the run, so that orders = Σ
 * excluded + unattributed + organic + Σ entries.
 */
export type OrderCounts = FileCounts & {
  /** Orders of the job known after this run, each counted once. */
  readonly orders: number;
  /** Orders that are never posted, by reason. */
  readonly excluded: Readonly<Record<string, number>>;
  /** Orders with a code, link or handle that no influencer owns. */
  readonly unattributed: number;
  /** Orders without any code, link or handle. */
  readonly organic: number;
  readonly entries: {
    /** Accepted in this run. */
    readonly accepted: number;
    readonly rejected: number;
    readonly in_doubt: number;
    /**
     * Not sent until a person or an event decides: ambiguous codes, evidence that another tool posted the
     * order, or written off.
     */
    readonly held: number;
    readonly ready: number;
    /** Accepted before this run. */
    readonly already: number;
  };
  /** The part of `entries.ready` that an unfinished backfill has taken. Only that backfill posts them. */
  readonly ready_by_backfill: number;
  /** Posted orders that an export states in another currency since, and that no decision has settled. */
  readonly other_currency: number;
};

/** Returns true if the report belongs to a run of `attribute-orders`. */
export function isOrdersReport(report: RunReport): report is OrdersReport {
  return report.kind === 'attribute-orders';
}

/** What the summary of a run shows in addition to its counts. */
export type OrderDetails = FileDetails &
  DoubtDetails & {
    readonly dispositions: readonly DispositionGroup[];
    /** The influencers with the highest totals of each currency, at most 100 in all. */
    readonly credits: readonly Credit[];
    readonly creditsTotal: number;
    /** The codes with the highest revenue of each currency, at most 10 in all. */
    readonly unownedCodes: readonly UnownedCode[];
    readonly unownedCodesTotal: number;
    /** Held orders whose credit depends on something that is not known, by reason. */
    readonly heldOrders: readonly HeldGroup[];
    /** The first posted orders that are stated in another currency since, by source and id. */
    readonly otherCurrency: readonly OtherCurrency[];
    readonly adjustments: readonly AdjustmentGroup[];
    /** Codes that may have leaked, in all jobs, and that nobody has acknowledged. */
    readonly leaks: readonly LeakedCode[];
    /** Rows of codes.csv that could not be used. */
    readonly codeProblems: readonly CodeProblem[];
    /** Whether the mirror shows which owners the service knows. */
    readonly areOwnersChecked: boolean;
  };

const SHOWN_CODES = 10;
/** The limit suits an HTML report, which can list more than a terminal. */
const SHOWN_CREDITS = 100;

/**
 * Reports what a run of `attribute-orders` did and the disposition of every order of its job after it. Call
 * it once the run has settled its claims and `refreshReporting` has processed them, before the run is ended.
 *
 * @param options.codeProblems rows of codes.csv that could not be used.
 * @param options.areReportsStale the refresh failed. The dispositions are then computed from the orders,
 * which takes a while if there are many, and neither credits, codes without an owner nor leaked codes are listed.
 */
export async function reportOrders(
  db: Database,
  options: ReportedRun & {
    readonly codeProblems: readonly CodeProblem[];
    readonly areOwnersChecked: boolean;
    readonly areReportsStale: boolean;
  },
): Promise<OrdersReport> {
  const { runId, job, sources, codeProblems, areReportsStale } = options;
  const dispositions = areReportsStale
    ? await workOutStandings(db, options)
    : await readDispositions(db, options);
  const files = await readRunFiles(db, { runId, sources });
  const restated = await sumOtherCurrency(db, { job });
  const counts = {
    ...toCounts(dispositions, { ...files.counts, orders: await countOrders(db, sources) }),
    other_currency: sumOrders(restated),
  };
  const unowned = areReportsStale
    ? { codes: [], total: 0 }
    : await listUnownedCodes(db, { job, sources, limit: SHOWN_CODES });
  const credited = areReportsStale
    ? { credits: [], total: 0 }
    : await readCredits(db, { runId, job, sources, limit: SHOWN_CREDITS });
  const leaks = areReportsStale ? [] : await findLeaks(db, { now: new Date() });
  // Of the ledger, not of the orders: a doubt remains one when its source has another name, or is left out.
  const { count: doubts, details: doubtDetails } = await readRunDoubts(db, { job });
  const heldOrders = await listHeldGroups(db, { job });
  const otherCurrency = await listOtherCurrency(db, { job, limit: SHOWN_OTHER_CURRENCY });
  const { rejected, held } = counts.entries;
  return {
    kind: 'attribute-orders',
    counts,
    amounts: dispositions
      .filter(({ disposition }) => disposition === 'accepted')
      .flatMap(({ currency, amount }) => (amount === null ? [] : { currency, accepted: amount })),
    sumsAddUp: countOf(dispositions, 'unaccounted').unaccounted === 0 && addUp(counts) && files.addUp,
    doubts,
    needsAttention:
      codeProblems.length > 0 ||
      files.needAttention ||
      rejected + held + heldOrders.length + counts.other_currency + (counts.excluded[BELOW_ZERO] ?? 0) > 0,
    details: {
      dispositions,
      credits: credited.credits,
      creditsTotal: credited.total,
      ...files.details,
      ...doubtDetails,
      unownedCodes: unowned.codes,
      unownedCodesTotal: unowned.total,
      heldOrders,
      otherCurrency,
      adjustments: await readAdjustments(db, runId),
      leaks: leaks.filter(({ acknowledged }) => acknowledged === null),
      codeProblems,
      areOwnersChecked: options.areOwnersChecked,
    },
  };
}

/**
 * Returns true if every order is counted exactly once: orders = Σ excluded + unattributed + organic + Σ
 * entries.
 */
export function addUp({ orders, excluded, unattributed, organic, entries }: OrderCounts): boolean {
  const parts = [...Object.values(excluded), unattributed, organic, ...Object.values(entries)];
  return orders === parts.reduce((sum, part) => sum + part, 0);
}

function toCounts(
  dispositions: readonly DispositionGroup[],
  { files, rows, rejected_rows, orders: all }: FileCounts & { readonly orders: number },
): Omit<OrderCounts, 'other_currency'> {
  const excluded: Record<string, number> = {};
  for (const { disposition, reason, orders } of dispositions) {
    if (disposition === 'excluded') excluded[reason ?? 'other'] = (excluded[reason ?? 'other'] ?? 0) + orders;
  }
  return {
    files,
    rows,
    orders: all,
    excluded,
    ...countOf(dispositions, 'unattributed', 'organic'),
    rejected_rows,
    entries: countOf(dispositions, 'accepted', 'rejected', 'in_doubt', 'held', 'ready', 'already'),
    ready_by_backfill: countOf(
      dispositions.filter(({ reason }) => reason === BY_BACKFILL),
      'ready',
    ).ready,
  };
}

function countOf<Name extends Disposition>(groups: readonly DispositionGroup[], ...names: readonly Name[]) {
  return countsBy(
    groups.map(({ disposition, orders }) => ({ name: disposition, count: orders })),
    names,
  );
}

/** What one influencer was credited with in one currency. */
type Credit = {
  /** The handle. If it is not known, the deal or collaboration. */
  readonly influencer: string;
  readonly dealId: string | null;
  readonly currency: string;
  /** Orders accepted in this run. */
  readonly orders: number;
  readonly amount: DecimalText;
  /** Orders accepted so far, by runs of all jobs and by backfills. */
  readonly ordersSoFar: number;
  readonly amountSoFar: DecimalText;
  /**
   * Commission of the deal so far, net of refunds, in this currency. It is in the first row of the deal only.
   * `unknown` if a rate is unknown, or what was bought. Null in its other rows, and if the deal is unknown.
   */
  readonly earnedSoFar: DecimalText | 'unknown' | null;
  /** If it is unknown: the commission of the other orders, and how many orders are unknown. */
  readonly earnedAtLeast?: { readonly amount: DecimalText; readonly unknownOrders: number } | null;
  /** `amountSoFar` as a share (0 to 1) of the highest amount of any influencer in this currency. */
  readonly share: number;
};

/**
 * Lists what influencers were credited with, as of the last refresh. Ranks them by their total within each
 * currency, and lists the top influencer of each currency first.
 */
async function readCredits(
  db: Database,
  options: ReportedRun & { readonly limit: number },
): Promise<{ readonly credits: readonly Credit[]; readonly total: number }> {
  const rows = await rowsOf<Credit & { total: number }>(db)`
    with of_run as materialized (
      select s.target, s.currency, count(*) as orders, sum(s.amount) as amount
      from ${STORED.orders} s where ${acceptedInRun(options)} and s.target is not null
      group by s.target, s.currency
    ),
    -- From an index, in each currency only as many as are shown.
    ranked as (
      select t.*, k.total,
        row_number() over (partition by t.currency order by t.amount desc, t.target) as place,
        max(t.amount) over (partition by t.currency) as highest
      from (
        select currency, sum(count(*)) over () as total
        from reporting.deal_totals
        where orders > 0
        group by currency) k
      cross join lateral (
        select t.* from reporting.deal_totals t where t.currency = k.currency and t.orders > 0
        order by t.amount desc, t.target limit ${options.limit}) t
      order by place, t.currency limit ${options.limit}
    )
    select coalesce(a.influencer_handle, a.deal_id, regexp_replace(a.target, '^[a-z]+:', '')) as influencer,
      a.deal_id as "dealId", a.currency,
      coalesce(r.orders, 0)::float8 as orders, coalesce(r.amount, 0)::text as amount,
      a.orders::float8 as "ordersSoFar", a.amount::text as "amountSoFar",
      case when row_number() over (partition by a.deal_id, a.currency order by a.place) = 1 then (
        select case
          when sum(m.unrated_orders + m.unlined_orders + m.unvalued_orders) = 0
            then sum(m.commission_amount)::text
          else 'unknown' end
        from reporting.return_months m
        where m.deal_id = a.deal_id and m.currency = a.currency
        having count(*) > 0) end as "earnedSoFar",
      case when row_number() over (partition by a.deal_id, a.currency order by a.place) = 1 then (
        select jsonb_build_object('amount', sum(m.commission_amount)::text, 'unknownOrders',
          sum(m.unrated_orders + m.unlined_orders + m.unvalued_orders))
        from reporting.return_months m where m.deal_id = a.deal_id and m.currency = a.currency
        having sum(m.unrated_orders + m.unlined_orders + m.unvalued_orders) > 0
          and sum(m.commission_amount) > 0) end as "earnedAtLeast",
      case when a.highest > 0 then greatest(a.amount, 0) / a.highest else 0 end::float8 as share,
      a.total::float8
    from ranked a left join of_run r on r.target = a.target and r.currency = a.currency
    order by a.place, a.currency`;
  return { credits: rows.map(({ total: _total, ...row }) => row), total: rows[0]?.total ?? 0 };
}
