import { z } from 'zod';
import { camelCased, optional, text } from '../../src/config/fields.ts';
import { type JobContext, timing } from '../../src/config/job-fields.ts';

const fields = z.strictObject({
  kind: z.literal('delete-data'),
  ...timing,
  source: optional(text(60)).describe(
    'Name of a source whose files list customers to forget, in a column `email` (layout generic-customers). Omit it to delete old data only.',
  ),
});

export const deleteDataFields = fields.transform((file) => ({ name }: JobContext) => {
  const { source, ...job } = camelCased(file);
  return { ...job, name, sources: source === null ? [] : [source] };
});

export type DeleteDataSettings = ReturnType<z.output<typeof deleteDataFields>>;
