import { z } from 'zod';
import { name, path, scalar, statuses } from './fields.ts';

const size = {
  size: z
    .int()
    .min(1)
    .max(100_000)
    .nullable()
    .default(null)
    .describe('Items of a full page. Omitted: pages are read until one is empty.'),
  size_parameter: name
    .nullable()
    .default(null)
    .describe('Query parameter that asks for this size. Omitted: not sent.'),
};

const paging = z.discriminatedUnion('by', [
  z.strictObject({
    by: z.literal('page'),
    parameter: name.default('page'),
    first: z.int().min(0).max(1).default(1),
    ...size,
  }),
  z.strictObject({ by: z.literal('offset'), parameter: name.default('offset'), ...size }),
  z.strictObject({
    by: z.literal('cursor'),
    parameter: name.default('cursor'),
    path: path.default('next_cursor'),
  }),
  z.strictObject({ by: z.literal('link') }),
  z.strictObject({ by: z.literal('none') }),
]);

/** What one operation does differently. */
export const operation = z.strictObject({
  path: z
    .string()
    .regex(/^\/\S+$/)
    .nullable()
    .default(null)
    .describe('Path, if it is another one.'),
  method: z
    .enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
    .nullable()
    .default(null)
    .describe('Method, if it is another one.'),
  request: z
    .record(path, path.nullable())
    .default({})
    .describe('Our member: the name (or path) that the service expects; null: the member is not sent.'),
  answer: z
    .record(path, path.nullable())
    .default({})
    .describe('Our member: the path at which the service sends it; null: it does not send it.'),
  items: z.record(path, path).default({}).describe('The same for each item of a list.'),
  envelope: path.nullable().default(null).describe('Member that contains the content of this answer.'),
  list: path.nullable().default(null).describe('Path of the list. Omitted: the first of lists.keys.'),
  paging: paging
    .nullable()
    .default(null)
    .describe(
      'How further pages are asked for. none: an answer is the whole list, however long it is. Omitted: not known, so an answer that looks like a page leaves the list unfinished.',
    ),
  yes: z
    .strictObject({
      statuses: statuses.nullable().default(null),
      path: path.nullable().default(null),
      values: z
        .array(scalar)
        .readonly()
        .nullable()
        .default(null)
        .describe('Omitted: any value that is not empty.'),
    })
    .refine(({ statuses: codes, path: at }) => codes !== null || at !== null, {
      message: 'needs statuses or a path',
    })
    .nullable()
    .default(null)
    .describe(
      'What a 2xx answer must say to be a yes. Such an answer is then a yes even if it names no deal. Omitted: it must name what was credited or done.',
    ),
});
