import { z } from 'zod';
import { anyNumber, camelCased, wholeNumber, yesOrNo } from '../../src/config/fields.ts';
import { type JobContext, type JobSettings, timing } from '../../src/config/job-fields.ts';

/** At 4 requests per second, a run takes about 40 minutes. */
const BUDGET = 10_000;
/** Enough for the first letters and a few hundred longer prefixes per night. */
const AUTOCOMPLETE_BUDGET = 500;
/**
 * Less than a day, so that a nightly run that starts slightly earlier than the previous one still reads every
 * deal again.
 */
const REFRESH_AFTER_HOURS = 20;

export function isMirrorAccount(job: JobSettings): job is MirrorAccountSettings {
  return job.kind === 'mirror-account';
}

const fields = z.strictObject({
  kind: z.literal('mirror-account'),
  ...timing,
  budget: wholeNumber(1, 10_000_000)
    .prefault(BUDGET)
    .describe(
      'Maximum requests in one run. Deals read longest ago come first; the rest waits for the next run.',
    ),
  autocomplete: yesOrNo()
    .prefault(true)
    .describe('Whether to search for deals by handles and prefixes of handles.'),
  autocomplete_budget: wholeNumber(0, 10_000_000)
    .prefault(AUTOCOMPLETE_BUDGET)
    .describe('Maximum requests for that search, as part of the budget.'),
  refresh_after_hours: anyNumber(0, 8_760)
    .prefault(REFRESH_AFTER_HOURS)
    .describe('Hours after which a deal is read again. A deal that an event names is read by the next run.'),
  collaborations: yesOrNo()
    .prefault(true)
    .describe('Whether to request collaborations (codes, links, sales) with each deal.'),
});

export const mirrorAccountFields = fields.transform((file) => ({ name }: JobContext) => {
  const { autocomplete, autocompleteBudget, ...job } = camelCased(file);
  return { ...job, name, sources: [], autocompleteBudget: autocomplete ? autocompleteBudget : 0 };
});

export type MirrorAccountSettings = ReturnType<z.output<typeof mirrorAccountFields>>;
