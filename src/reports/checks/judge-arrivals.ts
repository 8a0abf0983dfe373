import type { SourceSettings } from '../../config/source-fields.ts';
import type { Database } from '../../db/connect.ts';
import { type FreshnessVerdict, judgeFreshness } from '../../intake/checks/freshness.ts';
import { listArrivals, listExpectedDates } from './read-checks.ts';

/** Whether a new file of a source has arrived by its deadline. */
export type Arrival = FreshnessVerdict & {
  readonly source: string;
  /** When the latest file arrived. Null if no file has arrived. */
  readonly arrivedAt: Date | null;
};

/** Judges each source that has a deadline for new files. */
export async function judgeArrivals(
  db: Database,
  { sources, now }: { readonly sources: readonly SourceSettings[]; readonly now: Date },
): Promise<readonly Arrival[]> {
  if (sources.every(({ expectations }) => expectations.freshness === null)) return [];
  const arrivals = await listArrivals(db);
  const expectedDates = await listExpectedDates(db);
  return sources.flatMap(({ name, expectations: { freshness, timeZone } }): readonly Arrival[] => {
    if (freshness === null) return [];
    const ofSource = expectedDates.filter(({ source }) => source === null || source === name);
    const arrivedAt = arrivals.get(name) ?? null;
    const judged = judgeFreshness({ freshness, timeZone, expectedDates: ofSource, arrivedAt, now });
    return [{ source: name, arrivedAt, ...judged }];
  });
}
