import type { UnitSubject } from '../../core/work.ts';

/** Says what a unit of work does, as a phrase after the name of its job: `reading source shop`. */
export function describeUnit({
  kind,
  source,
  backfillId,
}: Pick<UnitSubject, 'kind' | 'source' | 'backfillId'>): string {
  switch (kind) {
    case 'read-source':
      return `reading source ${source}`;
    case 'post-backfill':
      return `posting a share of backfill ${backfillId}`;
    case 'fetch-deals':
      return 'reading a share of the deals';
    case 'submit-batches':
      return 'submitting a share of the customers';
    default:
      return 'posting a share of its orders';
  }
}

/** The command that does what a failed unit left undone, with the reason that the person adds. */
export function commandOfUnit({ job, kind, backfillId }: UnitSubject): string {
  const words = kind === 'post-backfill' ? `backfill resume ${backfillId}` : `run ${job}`;
  return `npx influencer-sync ${words} --reason '…'`;
}
