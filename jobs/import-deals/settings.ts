import { z } from 'zod';
import type { JobContext } from '../../src/config/configured-kind.ts';
import { id, yesOrNo } from '../../src/config/fields.ts';
import { sourceNames, timing, toJobBase } from '../../src/config/job-fields.ts';
import type { JobSettings } from '../../src/core/config.ts';

export type ImportDealsSettings = JobSettings & {
  readonly kind: 'import-deals';
  /** Brand of the rows that name none. */
  readonly brandId: string;
  /** Dealflow of rows that name no dealflow. Null means that such a row creates nothing. */
  readonly dealflowId: string | null;
  /** Whether the service creates the code and the link in the connected shop. */
  readonly createAffiliateDetails: boolean;
};

const fields = z.strictObject({
  kind: z.literal('import-deals'),
  ...timing,
  source: sourceNames('a source of creators'),
  brand_id: id().describe('Brand of the deals, where a row names no other.'),
  dealflow_id: id()
    .nullable()
    .default(null)
    .describe(
      'Dealflow in which deals are created, where a row names no other. Leave it out when every row names one.',
    ),
  create_affiliate_details: yesOrNo()
    .default(false)
    .describe(
      'true: the service creates the discount code and the custom link in the connected shop. false: it only records them on the deal.',
    ),
});

/** Parses the settings of such a job in `pipeline.yaml`. */
export const importDealsFields = fields.transform(
  (job) =>
    (context: JobContext): ImportDealsSettings => ({
      ...toJobBase(job, context),
      sources: job.source,
      brandId: job.brand_id,
      dealflowId: job.dealflow_id,
      createAffiliateDetails: job.create_affiliate_details,
    }),
);
