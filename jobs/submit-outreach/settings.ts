import { z } from 'zod';
import {
  anyNumber,
  camelCased,
  id,
  oneOrMore,
  optional,
  text,
  wholeNumber,
  yesOrNo,
} from '../../src/config/fields.ts';
import { type JobContext, timing } from '../../src/config/job-fields.ts';

/** Half a year. */
const NOT_CONTACTED_DAYS = 180;
const BATCH_SIZE = 100;

const fields = z.strictObject({
  kind: z.literal('submit-outreach'),
  ...timing,
  brand_id: id().describe('Brand whose customers are considered, as in the job that identifies them.'),
  outreach_id: text(200).describe('Outreach campaign that the influencers are added to.'),
  platform: oneOrMore(z.enum(['instagram', 'tiktok', 'youtube'])).describe(
    'instagram, tiktok or youtube, or a list of them. Each request is for one platform.',
  ),
  min_followers: optional(wholeNumber(0, 1_000_000_000)).describe('Minimum number of followers.'),
  max_followers: optional(wholeNumber(0, 1_000_000_000)).describe('Maximum number of followers.'),
  verified: z
    .enum(['yes', 'no', 'any'])
    .default('any')
    .describe('yes: only accounts that the platform has verified. no: only others. any: all.'),
  min_orders: optional(wholeNumber(1, 1_000_000)).describe(
    'Customers with so many orders or more, where the export says.',
  ),
  min_spent: optional(anyNumber(0, 1_000_000_000)).describe(
    'Only customers who have spent at least this much, in the currency of the export.',
  ),
  with_code: yesOrNo()
    .prefault(false)
    .describe('Only customers who have used a discount code, according to exports of orders.'),
  not_contacted_days: anyNumber(0, 36_500)
    .nullable()
    .prefault(NOT_CONTACTED_DAYS)
    .describe(
      'Days after a submission to another outreach during which an influencer is not submitted again. null: no such limit. An influencer is never submitted to the same outreach twice.',
    ),
  credits: anyNumber(0.04, 1_000_000).describe(
    'Search credits that one run may spend. The service takes 0.04 for each influencer that it adds, so 10 credits are 250 influencers.',
  ),
  batch_size: wholeNumber(1, 1_000).prefault(BATCH_SIZE).describe('Influencers of one request.'),
  approve: yesOrNo()
    .prefault(false)
    .describe(
      'true: runs submit without asking; a job with a schedule needs it. false: `run` asks, unless you pass --yes.',
    ),
});

export const submitOutreachFields = fields.transform((file) => ({ name }: JobContext) => {
  const { platform, verified, credits, ...job } = camelCased(file);
  const { minFollowers, maxFollowers, minOrders, minSpent, withCode, notContactedDays, ...own } = job;
  return {
    ...own,
    name,
    sources: [],
    customersOf: job.brandId,
    /** Which influencers to submit: those who meet every condition that is set. Null means not set. */
    rule: {
      platforms: platform,
      isVerified: verified === 'any' ? null : verified === 'yes',
      minFollowers,
      maxFollowers,
      minOrders,
      minSpent,
      withCode,
      notContactedDays,
    },
    creditHundredths: Math.round(credits * 100),
  };
});

export type SubmitOutreachSettings = ReturnType<z.output<typeof submitOutreachFields>>;

/** From the section "Limits" of the specification: 0.04 search credits for each influencer added. */
export const HUNDREDTHS_AN_INFLUENCER = 4;

/** The maximum cost of this number of influencers, for example `1.60`. */
export function costOf(influencers: number): string {
  return creditText(influencers * HUNDREDTHS_AN_INFLUENCER);
}

/** Search credits, given in hundredths, for example `1.60`. */
export function creditText(hundredths: number): string {
  return (hundredths / 100).toFixed(2);
}
