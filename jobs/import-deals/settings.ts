import { z } from 'zod';
import { camelCased, id, optional, yesOrNo } from '../../src/config/fields.ts';
import { type JobContext, type JobSettings, sourceNames, timing } from '../../src/config/job-fields.ts';

const fields = z.strictObject({
  kind: z.literal('import-deals'),
  ...timing,
  source: sourceNames('a source of creators'),
  brand_id: id().describe('Brand of the deals, where a row names no other.'),
  dealflow_id: optional(id()).describe(
    'Dealflow in which deals are created, where a row names no other. Leave it out when every row names one.',
  ),
  create_affiliate_details: yesOrNo()
    .default(false)
    .describe(
      'true: the service creates the discount code and the custom link in the connected shop. false: it only records them on the deal.',
    ),
});

export const importDealsFields = fields.transform((file) => ({ name }: JobContext) => {
  const { source, ...job } = camelCased(file);
  return { ...job, name, sources: source };
});

/** Whether a job creates deals from a list. */
export function isImportDeals(job: JobSettings): job is ImportDealsSettings {
  return job.kind === 'import-deals';
}

export type ImportDealsSettings = ReturnType<z.output<typeof importDealsFields>>;
