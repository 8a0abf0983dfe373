import { z } from 'zod';
import { isDay } from '../core/time/day.ts';
import { isMonth } from '../core/time/month.ts';

/**
 * Fields that several forms share. All values arrive as text. Problems are reported as sentences for the
 * person.
 */

const MAX_TEXT = 500;

/** Text that may be empty. */
export const text = z
  .string({ error: 'The form lacks a field. Reload the page.' })
  .trim()
  .max(MAX_TEXT, `A field can have at most ${MAX_TEXT} characters.`);

/**
 * A numeric id of this project.
 * @param what what the id belongs to, for the message, such as `entry`.
 */
export function idField(what: string): z.ZodType<string> {
  const error = `The form does not name the ${what}.`;
  return z.string({ error }).regex(/^\d{1,18}$/, error);
}

/** A month such as 2026-10. */
export const monthField = z
  .string({ error: 'The form does not name a month.' })
  .refine(isMonth, 'The form does not name a month.');

/** A day of the calendar such as 2026-10-31. */
export const dayField = z
  .string({ error: 'The form does not name a day.' })
  .refine(isDay, 'The form does not name a day.');

/** What a person ticks before something that nobody can undo (`actionForm`, `confirm`). */
export const understood = z.literal('yes', { error: 'Tick the box: this cannot be undone.' });

/** The reason for a change. It is stored with the change and never blank. */
export const reasonField = z
  .string({ error: 'Say why: the reason is kept with the change.' })
  .trim()
  .min(1, 'Say why: the reason is kept with the change.')
  .max(MAX_TEXT, `The reason can have at most ${MAX_TEXT} characters.`);
