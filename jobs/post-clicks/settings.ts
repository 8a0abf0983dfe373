import { z } from 'zod';
import { camelCased, id } from '../../src/config/fields.ts';
import { codesFile, firstDay, type JobContext, sourceNames, timing } from '../../src/config/job-fields.ts';

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

export const postClicksFields = fields.transform((file) => ({ name, resolvePath }: JobContext) => {
  const { source, ...job } = camelCased(file);
  return { ...job, name, sources: source, codes: resolvePath(job.codes) };
});

export type PostClicksSettings = ReturnType<z.output<typeof postClicksFields>>;
