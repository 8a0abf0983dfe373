import { z } from 'zod';

/** Fields that several forms have. Everything arrives as text; what is wrong is said in a sentence for the person. */

const MAX_TEXT = 500;

/** A text that may be empty. */
export const text = z
  .string({ error: 'The form lacks a field. Reload the page.' })
  .trim()
  .max(MAX_TEXT, `A field can have at most ${MAX_TEXT} characters.`);

/** An id of ours, which counts up. @param what `entry`, for the message. */
export function idField(what: string): z.ZodType<string> {
  const error = `The form does not name the ${what}.`;
  return z.string({ error }).regex(/^\d{1,18}$/, error);
}

/** Why a person changes something: kept with the change, and never blank. */
export const reason = z
  .string({ error: 'Say why: the reason is kept with the change.' })
  .trim()
  .min(1, 'Say why: the reason is kept with the change.')
  .max(MAX_TEXT, `The reason can have at most ${MAX_TEXT} characters.`);
