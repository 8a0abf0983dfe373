import { sql } from 'kysely';
import { type ConsentCount, NOBODY_PASSED_OVER, type PassedOverCounts } from '../../src/core/customer.ts';
import type { FileCounts, FileDetails, RunReport } from '../../src/core/report.ts';
import { countOf, countsOf, type Database, rowsOf } from '../../src/db/statement.ts';
import { countWaiting } from '../../src/intake/customers/waiting-batches.ts';
import { unreportedRuns } from '../../src/reports/runs/list-runs.ts';
import { countsBy, type NamedCount, readRunFiles, sumOf } from '../../src/reports/runs/run-report.ts';

/**
 * The result of a run of `identify-customers`. `sumsAddUp` means that customers = submitted + already +
 * waiting + refused + unsubscribed, and that the number of stored addresses equals the number of waiting
 * customers.
 */
export type CustomersReport = RunReport<'identify-customers', CustomerCounts, CustomerDetails>;

/**
 * What a run did, and the state of every customer of the brand after it. Its files and refusals include those
 * of earlier runs of the job that died before they reported. Submitted does not mean identified: the service
 * only confirms that it has queued the customers.
 */
export type CustomerCounts = FileCounts & {
  /** Rows of this run's files whose customer is not submitted, by reason. */
  readonly passed_over: PassedOverCounts;
  /**
   * Customers of the brand that are known after this run, each counted once. The sum of the five counts
   * below.
   */
  readonly customers: number;
  /** Customers that the service accepted in this run. */
  readonly submitted: number;
  /** Customers that the service accepted before this run. */
  readonly already: number;
  /** Customers to be submitted, for the first time or again. */
  readonly waiting: number;
  /** Customers that the service refused. */
  readonly refused: number;
  /** Customers that are never sent, or not sent again. */
  readonly unsubscribed: number;
  /**
   * Calls to `identify_influencers`: those that the service accepted in this run, and those needed to submit
   * the waiting customers.
   */
  readonly calls: { readonly accepted: number; readonly to_make: number };
  /** Refused batches: those that were split in half, and those of a single address. */
  readonly refusals: { readonly split: number; readonly customers: number };
  readonly lookups: {
    /** Look-ups answered in this run. */
    readonly asked: number;
    readonly influencers: number;
    readonly no_match: number;
    readonly refused: number;
    /** Look-ups left for a later file, because the budget was used up. */
    readonly beyond_budget: number;
    /** Look-ups that a run would make now. */
    readonly to_ask: number;
  };
};

/** What the files of a source that a run has read say about consent. */
export type SourceConsent = ConsentCount & { readonly source: string };

export type CustomerDetails = FileDetails & {
  /** Consent in this run's files, by source and columns. */
  readonly consent: readonly SourceConsent[];
  /** Customers of the brand who said yes without a date, and in another row or file no: the no holds. */
  readonly undatedYes: number;
  /** Why customers were refused, the most common reason first. Addresses are masked. */
  readonly refusals: readonly { readonly message: string; readonly customers: number }[];
  /** Null if the job looks up no customers. */
  readonly lookupBudget: number | null;
};

/** Maximum number of refusal reasons in a summary. */
const SHOWN = 5;

export type ReportCustomersOptions = {
  readonly runId: string;
  readonly brandId: string;
  readonly sources: readonly string[];
  /** Null if the job looks up no customers. */
  readonly lookups: { readonly budget: number; readonly beyond: number } | null;
};

/** Reports what a run of `identify-customers` did and the state of every customer of its brand after it. */
export async function reportCustomers(
  db: Database,
  options: ReportCustomersOptions,
): Promise<CustomersReport> {
  const { runId, brandId, sources, lookups } = options;
  const files = await readRunFiles(db, { runId, sources, readFor: 'customers' });
  const disposition = await readDisposition(db, { runId, brandId });
  const stored = await countWaiting(db, brandId);
  const calls = await countsOf<'accepted' | 'split' | 'refused'>(db)`
    select count(*) filter (where state = 'accepted' and run_id = ${runId}::bigint) as accepted,
      count(*) filter (where state = 'split') as split, count(*) filter (where state = 'refused') as refused
    from intake.identify_batches where run_id in ${unreportedRuns(runId, 'reported')}`;
  const counts: CustomerCounts = {
    ...files.counts,
    passed_over: { ...NOBODY_PASSED_OVER, ...files.passedOver },
    ...disposition,
    calls: { accepted: calls.accepted, to_make: stored.calls },
    refusals: { split: calls.split, customers: calls.refused },
    lookups: {
      ...(await readLookups(db, runId)),
      beyond_budget: lookups?.beyond ?? 0,
      to_ask: stored.lookups,
    },
  };
  const { customers, submitted, already, waiting, refused, unsubscribed } = counts;
  return {
    kind: 'identify-customers',
    counts,
    amounts: [],
    sumsAddUp:
      customers === submitted + already + waiting + refused + unsubscribed &&
      waiting === stored.customers &&
      files.addUp,
    doubts: 0,
    needsAttention: files.needAttention || counts.refusals.customers > 0,
    details: {
      consent: await readConsent(db, runId),
      undatedYes: await countUndatedYes(db, brandId),
      ...files.details,
      refusals: await readRefusals(db, runId),
      lookupBudget: lookups?.budget ?? null,
    },
  };
}

async function readConsent(db: Database, runId: string): Promise<readonly SourceConsent[]> {
  const count = (answer: string) => sql`coalesce(sum((consent_counts ->> ${answer})::bigint), 0)::float8`;
  return rowsOf<SourceConsent>(db)`
    select source, consent_columns as columns, ${count('yes')} as yes, ${count('no')} as no,
      ${count('blank')} as blank
    from intake.source_files
    where run_id in ${unreportedRuns(runId, 'reported')} and state = 'sealed' and consent_columns is not null
      and customer_rows > 0
    group by source, consent_columns order by source, consent_columns`;
}

function countUndatedYes(db: Database, brandId: string): Promise<number> {
  return countOf(db)`
    select count(*) as customers from intake.customers c
    where c.brand_id = ${brandId} and c.is_unsubscribed and c.said_yes and c.consented_at is null`;
}

async function readDisposition(db: Database, { runId, brandId }: { runId: string; brandId: string }) {
  const rows = await rowsOf<NamedCount>(db)`
    select case
      when c.is_waiting then 'waiting'
      when c.state = 'submitted'
        then case when c.run_id = ${runId}::bigint then 'submitted' else 'already' end
      else c.state
    end as name, sum(c.customers)::float8 as count
    from intake.customer_counts c
    where c.brand_id = ${brandId} group by 1`;
  const counts = countsBy(rows, ['submitted', 'already', 'waiting', 'refused', 'unsubscribed']);
  return { customers: sumOf(rows), ...counts };
}

async function readLookups(db: Database, runId: string) {
  return countsOf<'asked' | 'influencers' | 'no_match' | 'refused'>(db)`
    select count(*) as asked, count(*) filter (where outcome = 'influencer') as influencers,
      count(*) filter (where outcome = 'no_match') as no_match,
      count(*) filter (where outcome = 'refused') as refused
    from intake.lookups where run_id = ${runId}::bigint`;
}

async function readRefusals(db: Database, runId: string) {
  return rowsOf<{ message: string; customers: number }>(db)`
    select coalesce(message, 'no reason was given') as message, count(*)::float8 as customers
    from intake.identify_batches where run_id in ${unreportedRuns(runId, 'reported')} and state = 'refused'
    group by 1 order by 2 desc, 1 limit ${SHOWN}`;
}
