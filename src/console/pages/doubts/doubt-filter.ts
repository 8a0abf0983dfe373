import type { DoubtFilter } from '../../../reports/doubts/list-doubts.ts';
import type { Visit } from '../../console-page.ts';
import { optionOf, textOf } from '../../read-query.ts';

/** Options for how long an entry has been in doubt, in milliseconds. */
export const AGES: Readonly<Record<string, number>> = {
  an_hour: 3_600_000,
  a_day: 86_400_000,
  a_week: 604_800_000,
};

export type ChosenDoubts = Required<Pick<DoubtFilter, 'job' | 'reason' | 'dealId' | 'sinceBefore'>>;

/** Reads the filter from the address. Ages are counted back from `visit.now`. */
export function readDoubtFilter(visit: Pick<Visit, 'query' | 'now'>): ChosenDoubts {
  const age = AGES[optionOf(visit, 'older', Object.keys(AGES)) ?? ''];
  return {
    job: textOf(visit, 'job'),
    reason: textOf(visit, 'reason'),
    dealId: textOf(visit, 'deal'),
    sinceBefore: age === undefined ? null : new Date(visit.now.getTime() - age),
  };
}
