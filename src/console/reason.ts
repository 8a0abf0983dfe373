import { z } from 'zod';

/** Why a person changes something: kept with the change, and never blank. */
export const reason = z
  .string({ error: 'Say why: the reason is kept with the change.' })
  .trim()
  .min(1, 'Say why: the reason is kept with the change.')
  .max(500, 'The reason has 500 characters at most.');
