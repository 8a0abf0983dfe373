import type { DecimalText } from './order.ts';
import type { RejectedRow } from './record.ts';

/** Tells a customer of a brand apart without saying who it is: 32 hexadecimal digits. */
export type CustomerHash = string;

/** Digests of one customer under the previous key and under the key in force. */
export type RekeyedHash = { readonly previous: CustomerHash; readonly current: CustomerHash };

/** A customer as an export states it. Its address goes to intake.waiting_batches and to the service, and nowhere else. */
export type StatedCustomer = {
  /** As it is sent: trimmed, NFKC, its domain in lower case and ASCII. */
  readonly address: string;
  readonly hash: CustomerHash;
  /** Has unsubscribed or was blacklisted: known, never sent. */
  readonly isUnsubscribed: boolean;
  readonly ordersCount: number | null;
  readonly spent: DecimalText | null;
  /** ISO 4217, of `spent`. */
  readonly currency: string | null;
  /** Null in exports that do not say. */
  readonly boughtWithCode: boolean | null;
};

/**
 * Why a row's customer is not submitted. `unsubscribed` ones are stated all the same, so that no other file brings them back. Of `forgotten`
 * ones nothing is kept.
 */
export const PASSED_OVER = ['no_address', 'no_consent', 'unsubscribed', 'forgotten'] as const;
export type PassedOver = (typeof PASSED_OVER)[number];

/** Rows of customers who are not submitted, by reason. */
export type PassedOverCounts = Readonly<Record<PassedOver, number>>;

export const NOBODY_PASSED_OVER: PassedOverCounts = {
  no_address: 0,
  no_consent: 0,
  unsubscribed: 0,
  forgotten: 0,
};

/** Where customers' consent stands, and what it says. Rows without a usable address are not counted. */
export type ConsentCount = {
  /** Headers as the file writes them. Empty: the file does not record consent. */
  readonly columns: readonly string[];
  readonly yes: number;
  /** Refused, unsubscribed or blacklisted. */
  readonly no: number;
  /** Neither yes nor no. */
  readonly blank: number;
};

/** `412 yes, 88 no, 3 blank in "Accepts Email Marketing"`. */
export function describeConsent({ columns, yes, no, blank }: ConsentCount): string {
  if (columns.length === 0) return 'not recorded';
  const counts = [`${yes} yes`, `${no} no`, `${blank} blank`];
  return `${counts.join(', ')} in ${columns.map((name) => `"${name}"`).join(', ')}`;
}

/** Cells of a column that nothing but look-ups needs. */
export type OptionalColumn = {
  /** Header as the file writes it. */
  readonly column: string;
  readonly holds: OptionalField;
  /** Cells that are not blank, and how many of them cannot be read. */
  readonly filled: number;
  readonly unreadable: number;
  /** Physical line of the first cell that cannot be read, 1-based; null when all can. */
  readonly firstUnreadableLine: number | null;
};

/** What such a column holds, by the name of its field in layouts. */
export type OptionalField = 'orders_count' | 'spent' | 'currency';

/** What only many rows of a file can show. */
export type CustomersSeen = {
  readonly consent: ConsentCount;
  readonly optional: readonly OptionalColumn[];
};

/** Before the first row. */
export const NOTHING_SEEN: CustomersSeen = {
  consent: { columns: [], yes: 0, no: 0, blank: 0 },
  optional: [],
};

/** What mapping hands to intake: a bounded number of rows. */
export type CustomerBatch = {
  readonly customers: readonly StatedCustomer[];
  /** What the file has shown up to here, this batch included. */
  readonly seen: CustomersSeen;
  readonly passedOver: PassedOverCounts;
  readonly rejected: readonly RejectedRow[];
  /** Records consumed = rows of customers that are not unsubscribed + Σ passedOver + rejected rows. */
  readonly rowsRead: number;
};

/** Whose consent a job needs: `ignored` sends everybody, those who have unsubscribed included. */
export type ConsentRule = 'required' | 'not_refused' | 'ignored';

/** An influencer's public profile. No name and no address: the handle says who it is. */
export type Profile = {
  readonly platform: string | null;
  readonly userId: string | null;
  readonly username: string | null;
  readonly followers: number | null;
  readonly isVerified: boolean | null;
  readonly profileUrl: string | null;
  readonly pictureUrl: string | null;
};
