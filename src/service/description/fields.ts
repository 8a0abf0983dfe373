import { z } from 'zod';

const status = z.int().min(100).max(599);
export const statuses = z.array(status).readonly();
export const name = z.string().trim().min(1).max(200);
/** Names of members, with dots between them: `data.deal.id`. */
export const path = z
  .string()
  .trim()
  .max(200)
  .regex(/^[^.\s[\]{}]+(\.[^.\s[\]{}]+)*$/, 'must be a path of members, such as data.id');
export const header = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]*$/, 'must be the name of a header')
  .max(100);
export const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const sign = z
  .union([
    z.int().min(300).max(599),
    z
      .strictObject({
        status,
        text: name
          .nullable()
          .default(null)
          .describe('What the body contains; upper or lower case does not matter.'),
      })
      .refine(({ status: code, text }) => code > 299 || text !== null, {
        message: 'a status that otherwise means success needs a text',
        path: ['text'],
      }),
  ])
  .transform((value) => (typeof value === 'number' ? { status: value, text: null } : value));
export const signs = z.array(sign).readonly();
