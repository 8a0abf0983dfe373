import { jobKinds } from '../../jobs/index.ts';
import type { PipelineConfig } from '../config/schema.ts';
import type { Problem } from '../core/notify/notice.ts';
import type { Database } from '../db/connect.ts';
import { observeProblems } from '../monitoring/notify/observe-problems.ts';
import { keptProblems } from '../monitoring/notify/problems/index.ts';
import { countRejected, rejectedSince } from '../reports/files/list-rejected.ts';
import { listOpenProblems } from '../reports/notices/list-notices.ts';
import { countUpTo } from './markup/parts.ts';
import { COUNT_LIMIT } from './read-query.ts';

/**
 * Finds what waits for a person, errors first, then the oldest: the problems that notices report, in the same words,
 * whether or not a channel is configured. What only a running `serve` can see, such as a full disk, is as it was
 * last recorded.
 *
 * @param options.isCount only the number is shown, on every page: what reads files or a bucket is as it was last
 * recorded, too.
 */
export async function findWaiting(
  db: Database,
  {
    config,
    onError,
    isCount = false,
  }: { config: PipelineConfig; onError: (error: unknown) => void; isCount?: boolean },
): Promise<readonly Problem[]> {
  const finders = keptProblems.filter(({ kind }) => !isCount || kind !== 'ledger_went_back');
  const observed = { config, kinds: jobKinds, onTrouble: (_: unknown, error: unknown) => onError(error) };
  const [{ problems, at }, kept, rejected, since] = await Promise.all([
    observeProblems(db, observed, finders),
    listOpenProblems(db),
    countRejected(db, { limit: COUNT_LIMIT, isOpen: true }),
    rejectedSince(db, { isOpen: true }),
  ]);
  const others = kept.filter(({ kind }) => finders.every((finder) => finder.kind !== kind));
  const found = [
    ...problems.filter(({ kind }) => kind !== 'rows_rejected'),
    ...others,
    // A run reports its own rows; until they are corrected, those of earlier runs wait as well.
    ...(rejected === 0 ? [] : [allRejected(rejected, since ?? at)]),
  ];
  // Codes without an owner are old and many; they never hide what happened today.
  const rank = ({ severity, kind }: Problem) => (severity === 'error' ? 0 : kind === 'codes_unowned' ? 2 : 1);
  return found.toSorted(
    (one, other) => rank(one) - rank(other) || one.since.getTime() - other.since.getTime(),
  );
}

function allRejected(count: number, since: Date): Problem {
  return {
    kind: 'rows_rejected',
    job: null,
    severity: 'warning',
    since,
    amounts: [],
    summary: `${countUpTo(count, COUNT_LIMIT)} ${count === 1 ? 'row of a file could not be used; what it says is not known' : 'rows of files could not be used; what they say is not known'}.`,
    command: 'npx influencer-sync rejected',
    page: '/rejected',
  };
}
