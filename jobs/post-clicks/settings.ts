import { z } from 'zod';
import type { JobContext } from '../../src/config/configured-kind.ts';
import { day, id, text } from '../../src/config/fields.ts';
import { timing, toTiming } from '../../src/config/timing.ts';
import type { JobSettings } from '../../src/model/config.ts';

export type PostClicksSettings = JobSettings & {
  readonly kind: 'post-clicks';
  readonly brandId: string;
  /** Absolute path of codes.csv; null when the exports name influencers themselves. */
  readonly codes: string | null;
  /** First day (YYYY-MM-DD) whose clicks are posted; null: all days that a file states. */
  readonly startDate: string | null;
};

const fields = z.strictObject({
  kind: z.literal('post-clicks'),
  ...timing,
  source: z
    .union([text(60), z.array(text(60)).min(1)], { error: 'names' })
    .describe('Name of a source of clicks, or a list of names.'),
  brand_id: id().describe('Brand that the clicks are credited for, unless the code names another.'),
  codes: text()
    .nullable()
    .default(null)
    .describe(
      'CSV file with the columns code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to; relative to this file. Use the file of attribute-orders. Omit it if the exports name influencers themselves.',
    ),
  start_date: day()
    .nullable()
    .default(null)
    .describe(
      'First day whose clicks are posted, for example 2026-06-01. Set it if the service counted earlier clicks itself. Omit it to post every day that a file states.',
    ),
});

/** What `pipeline.yaml` says of such a job. */
export const postClicksFields = fields.transform(
  (job) =>
    (context: JobContext): PostClicksSettings => ({
      name: context.name,
      kind: job.kind,
      ...toTiming(job),
      sources: typeof job.source === 'string' ? [job.source] : job.source,
      brandId: job.brand_id,
      codes: job.codes === null ? null : context.resolvePath(job.codes),
      startDate: job.start_date,
    }),
);
