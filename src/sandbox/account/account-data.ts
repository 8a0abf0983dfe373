import { z } from 'zod';

/** All YAML scalars are read as text, so that no id becomes a number. */
const text = z.string().min(1);
const id = z.string().regex(/^\S{1,64}$/, 'must be an id without blanks, 64 characters at most');
/** Characters that an HTTP header can carry. */
const key = z.string().regex(/^[\x21-\x7e]{1,200}$/, 'must be a key of visible characters, without blanks');
const brandId = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be a whole number above 0')
  .transform(Number);
/** Absent, empty, `null` and `~` all mean null. */
const optional = z
  .string()
  .nullish()
  .transform((value) =>
    value === undefined || value === null || ['', 'null', '~'].includes(value) ? null : value,
  );

/** Numbers are parsed from text. */
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
  /** The dealflow of the campaign's deals; the first of the account by default. */
  dealflow_id: optional,
});
const dealData = z.strictObject({
  deal_id: id,
  influencer_handle: text,
  platform: z.enum(['instagram', 'tiktok', 'youtube']),
  brand_id: brandId,
  dealflow_id: id,
  code: optional,
  /** Derived from the seed by default. */
  collab_id: optional,
});

/** Enough for 120 pages of results, but few enough that a tester can use them up. */
const SEARCH_CREDITS = 1_200;
const REPORT_CREDITS = 50;

/** The initial data of an account. A deal id that appears twice is one deal with two collaborations. */
const accountData = z.strictObject({
  /** By default derived from the seed and the account's position in the file. */
  id: optional.pipe(id.nullable()),
  /** API keys, one per user. If there are none, one is derived from the seed. */
  keys: z.array(key).default([]),
  /** Secret that signs the account's events; derived from the seed by default. */
  webhook_secret: optional,
  brands: z.array(brandData).min(1),
  /** By default one per brand, derived from the seed. */
  dealflows: z.array(dealflowData).optional(),
  deals: z.array(dealData).default([]),
  /** Outreach campaigns; by default one, derived from the seed. */
  outreaches: z.array(outreachData).optional(),
  /** The credits that the account starts with. */
  credits: z
    .strictObject({ search: amount.default(SEARCH_CREDITS), reports: count.default(REPORT_CREDITS) })
    .default({ search: SEARCH_CREDITS, reports: REPORT_CREDITS }),
});

/** A file is either one account, or a list of accounts under `accounts`. */
export const oneAccount = accountData.transform((account) => ({ accounts: [account] }));
export const severalAccounts = z.strictObject({ accounts: z.array(accountData).min(1) });

export type AccountData = z.output<typeof accountData>;
export type DealData = z.output<typeof dealData>;
