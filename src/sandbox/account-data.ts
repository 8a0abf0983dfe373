import { z } from 'zod';

/** YAML is read as text throughout, so that no id is taken for a number. */
const text = z.string().min(1);
const id = z.string().regex(/^\S{1,64}$/, 'must be an id without blanks, 64 characters at most');
/** What a header can carry. */
const key = z.string().regex(/^[\x21-\x7e]{1,200}$/, 'must be a key of visible characters, without blanks');
const brandId = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be a whole number above 0')
  .transform(Number);
/** Absent, empty, `null` and `~` are the same. */
const optional = z
  .string()
  .nullish()
  .transform((value) =>
    value === undefined || value === null || ['', 'null', '~'].includes(value) ? null : value,
  );

/** Numbers are read from text too. */
const amount = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,2})?$/, 'must be a number, with two decimals at most')
  .transform(Number);
const count = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number);

const brandData = z.strictObject({ id: brandId, name: text });
const dealflowData = z.strictObject({ id, name: text, brand_id: brandId });
const outreachData = z.strictObject({
  id,
  name: text,
  /** Where its deals are opened; the first of the account when not given. */
  dealflow_id: optional,
});
const dealData = z.strictObject({
  deal_id: id,
  influencer_handle: text,
  platform: z.enum(['instagram', 'tiktok', 'youtube']),
  brand_id: brandId,
  dealflow_id: id,
  code: optional,
  /** Made from the seed when not given. */
  collab_id: optional,
});

/** Enough for a hundred and twenty pages of a first look; small enough to see it run out. */
const SEARCH_CREDITS = 1_200;
const REPORT_CREDITS = 50;

/** What an account of the sandbox holds at the start. A deal id that stands twice is one deal with two collaborations. */
const accountData = z.strictObject({
  /** Made from the seed when not given, by the account's place in the file. */
  id: optional.pipe(id.nullable()),
  /** API keys, each of a user of its own; one that is made from the seed when none is given. */
  keys: z.array(key).default([]),
  /** Signs the account's events; made from the seed when not given. */
  webhook_secret: optional,
  brands: z.array(brandData).min(1),
  /** One for each brand, made from the seed, when not given. */
  dealflows: z.array(dealflowData).optional(),
  deals: z.array(dealData).default([]),
  /** Outreach campaigns; one, made from the seed, when not given. */
  outreaches: z.array(outreachData).optional(),
  /** What the account may spend. */
  credits: z
    .strictObject({ search: amount.default(SEARCH_CREDITS), reports: count.default(REPORT_CREDITS) })
    .default({ search: SEARCH_CREDITS, reports: REPORT_CREDITS }),
});

/** A file of one account is the account itself; one of several has a list of them. */
export const oneAccount = accountData.transform((account) => ({ accounts: [account] }));
export const severalAccounts = z.strictObject({ accounts: z.array(accountData).min(1) });

export type AccountData = z.output<typeof accountData>;
export type DealData = z.output<typeof dealData>;
