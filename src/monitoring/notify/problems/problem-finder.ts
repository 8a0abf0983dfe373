import type { JobSettings } from '../../../config/job-fields.ts';
import type { PipelineConfig } from '../../../config/schema.ts';
import { sumMoney } from '../../../core/money.ts';
import type { Amount, Problem, ProblemKind, Severity } from '../../../core/notify/notice.ts';
import type { HeldFile } from '../../../core/report.ts';
import { maskAddresses } from '../../../core/text/mask-addresses.ts';
import { plural } from '../../../core/text/plural.ts';
import { toPrintableLine } from '../../../core/text/printable.ts';
import type { Database } from '../../../db/connect.ts';
import type { ListedRun } from '../../../reports/runs/list-runs.ts';
import type { RunnableKind } from '../../../runs/runnable-kind.ts';

/** What an observation may read. It changes nothing. */
export type Situation = {
  readonly db: Database;
  readonly config: PipelineConfig;
  readonly kinds: readonly RunnableKind[];
  /** When the observation started, by the clock of the database. */
  readonly at: Date;
  /** The last run of each job that shows the state of the job. Read only once. */
  readonly lastRuns: () => Promise<readonly JobRun[]>;
  /** Files of a job's sources that are held for it. Read only once. */
  readonly heldFiles: (job: JobSettings) => Promise<readonly HeldFile[]>;
  /** Whether a person looks, and not a notice: limits below which nobody is told do not apply. */
  readonly isWatched: boolean;
  /** Returns the free bytes of the file system that holds a folder. */
  readonly freeBytes: (folder: string) => Promise<number>;
};

/** A configured job, its kind, and its last run that ended on its own or died. */
export type JobRun = { readonly job: JobSettings; readonly kind: RunnableKind; readonly run: ListedRun };

/** A problem of the finder's kind: of every job, of the usual severity and without amounts, unless it says so. */
export type Found = Pick<Problem, 'since' | 'summary' | 'command' | 'page'> &
  Partial<Pick<Problem, 'job' | 'severity' | 'amounts' | 'withoutAmount'>>;

/**
 * One kind of problem. To add one, create an entry in a list of this folder, and add its name to `PROBLEM_KINDS`, in whose
 * order they are searched for. Queries that it needs belong in `src/reports/`.
 */
export type ProblemFinder = {
  readonly kind: ProblemKind;
  readonly severity: Severity;
  /** Begins the message: `In doubt`. */
  readonly title: string;
  /**
   * Finds all current problems of this kind, at most one per job.
   *
   * @throws the error that kept it from determining them. In that case, no problem of this kind is opened or
   * resolved.
   */
  find(situation: Situation): Promise<readonly Found[]>;
  /** A sentence that says that the problem is over. */
  over(job: string | null): string;
};

/** What a kind of job calls its items. Entries of a kind that this version does not know are just that. */
export function nounsOf(kinds: Situation['kinds'], name: string): Pick<RunnableKind['nouns'], 'items'> {
  return kinds.find(({ kind }) => kind === name)?.nouns ?? { items: 'entries' };
}

/** For example `2 orders`. */
export function countOf(number: number, items: string): string {
  return plural(number, items.endsWith('ies') ? `${items.slice(0, -3)}y` : items.replace(/s$/, ''), items);
}

/** Longer texts add nothing, and some channels truncate them. */
const MAX_CHARS = 300;

/** The reason of a failure as one line for a message, without addresses. */
export function wordsOf(problem: string | null): string {
  const text = toPrintableLine(maskAddresses(problem ?? 'the reason is unknown.'));
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}…`;
}

/** Adds up exact amounts by currency, in alphabetical order. Omits sums without an amount or a currency. */
export function addUp(
  sums: readonly { readonly amount: string | null; readonly currency: string | null }[],
): readonly Amount[] {
  const known = sums.flatMap(({ amount, currency }) =>
    amount === null || currency === null ? [] : [{ amount, currency }],
  );
  return [...Map.groupBy(known, ({ currency }) => currency)]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([currency, list]) => ({ currency, amount: toExact(sumMoney(list.map(({ amount }) => amount))) }));
}

/** Shortens four decimals to two: `20.0000` → `20.00`. Drops only zeros. */
function toExact(amount: string): string {
  if (amount.endsWith('00')) return amount.slice(0, -2);
  return amount.endsWith('0') ? amount.slice(0, -1) : amount;
}
