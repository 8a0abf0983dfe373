import { z } from 'zod';
import type { JobContext } from '../../src/config/configured-kind.ts';
import { text } from '../../src/config/fields.ts';
import { timing, toJobBase } from '../../src/config/job-fields.ts';
import type { JobSettings } from '../../src/core/config.ts';

export type DeleteDataSettings = JobSettings & { readonly kind: 'delete-data' };

const fields = z.strictObject({
  kind: z.literal('delete-data'),
  ...timing,
  source: text(60)
    .nullable()
    .default(null)
    .describe(
      'Name of a source whose files list customers to forget, in a column `email` (layout generic-customers). Omit it to delete old data only.',
    ),
});

/** Parses the settings of such a job in `pipeline.yaml`. */
export const deleteDataFields = fields.transform(
  (job) =>
    (context: JobContext): DeleteDataSettings => ({
      ...toJobBase(job, context),
      sources: job.source === null ? [] : [job.source],
    }),
);
