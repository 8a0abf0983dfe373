import { z } from 'zod';
import type { JobContext } from '../../src/config/configured-kind.ts';
import { id } from '../../src/config/fields.ts';
import { codesFile, firstDay, sourceNames, timing, toJobBase } from '../../src/config/job-fields.ts';
import type { JobSettings } from '../../src/core/config.ts';

export type PostClicksSettings = JobSettings & {
  readonly kind: 'post-clicks';
  readonly brandId: string;
  /** Absolute path of codes.csv. Null if the exports name influencers themselves. */
  readonly codes: string | null;
  /** First day (YYYY-MM-DD) whose clicks are posted. Null means all days that a file states. */
  readonly startDate: string | null;
};

const fields = z.strictObject({
  kind: z.literal('post-clicks'),
  ...timing,
  source: sourceNames('a source of clicks'),
  brand_id: id().describe('Brand that the clicks are credited for, unless the code names another.'),
  codes: codesFile('Use the file of attribute-orders. Omit it if the exports name influencers themselves.'),
  start_date: firstDay(
    'First day whose clicks are posted, for example 2026-06-01. Set it if the service counted earlier clicks itself. Omit it to post every day that a file states.',
  ),
});

/** Parses the settings of such a job in `pipeline.yaml`. */
export const postClicksFields = fields.transform(
  (job) =>
    (context: JobContext): PostClicksSettings => ({
      ...toJobBase(job, context),
      sources: job.source,
      brandId: job.brand_id,
      codes: job.codes === null ? null : context.resolvePath(job.codes),
      startDate: job.start_date,
    }),
);
