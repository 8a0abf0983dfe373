import { z } from 'zod';
import { camelCased, day, oneOrMore, optional, text, wholeNumber } from '../../src/config/fields.ts';
import { type JobContext, timing } from '../../src/config/job-fields.ts';

const fields = z.strictObject({
  kind: z.literal('tell-corrections'),
  ...timing,
  of: oneOrMore(text(60)).describe(
    'Name of the job of the kind attribute-orders whose corrections are reported, or a list of names.',
  ),
  as: z
    .enum(['note', 'task'])
    .describe('note: adds a note to the deal. task: adds a task, which a person must tick off.'),
  from: day().describe(
    'First day, in time_zone, whose corrections are reported: of orders that were found changed on that day or later. Earlier ones never are.',
  ),
  due_in_days: wholeNumber(0, 365).prefault(7).describe('Days until a task is due.'),
  assigned_to: optional(text(200)).describe(
    'User id of the person to whom a task is assigned. Omit it to assign the task to no person.',
  ),
});

export const tellCorrectionsFields = fields.transform((file) => ({ name }: JobContext) => {
  const { of: jobs, as: told, from: fromDay, ...job } = camelCased(file);
  return { ...job, name, sources: [], jobs, told, fromDay };
});

export type TellCorrectionsSettings = ReturnType<z.output<typeof tellCorrectionsFields>>;
