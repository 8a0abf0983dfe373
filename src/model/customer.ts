import type { DecimalText } from './order.ts';
import type { RejectedRow } from './record.ts';

/** Identifies a customer of a brand without revealing who it is: 32 hexadecimal digits. */
export type CustomerHash = string;

/** Hashes of one customer under the previous and the current key. */
export type RekeyedHash = { readonly previous: CustomerHash; readonly current: CustomerHash };

/**
 * A customer as an export states it. The address is stored in intake.waiting_batches and sent to the service,
 * and goes nowhere else.
 */
export type StatedCustomer = {
  /** The address as it is sent: trimmed, NFKC, with the domain in lower case and ASCII. */
  readonly address: string;
  readonly hash: CustomerHash;
  /** True if the customer has unsubscribed or was blacklisted. Such a customer is recorded and never sent. */
  readonly isUnsubscribed: boolean;
  readonly ordersCount: number | null;
  readonly spent: DecimalText | null;
  /** ISO 4217 currency of `spent`. */
  readonly currency: string | null;
  /** Null if the export does not contain it. */
  readonly boughtWithCode: boolean | null;
};

/**
 * Why the customer of a row is not submitted. `unsubscribed` customers are recorded nevertheless, so that no
 * other file brings them back. Nothing is stored about `forgotten` customers.
 */
export const PASSED_OVER = ['no_address', 'no_consent', 'unsubscribed', 'forgotten'] as const;
export type PassedOver = (typeof PASSED_OVER)[number];

/** Numbers of rows of customers who are not submitted, by reason. */
export type PassedOverCounts = Readonly<Record<PassedOver, number>>;

export const NOBODY_PASSED_OVER: PassedOverCounts = {
  no_address: 0,
  no_consent: 0,
  unsubscribed: 0,
  forgotten: 0,
};

/** Counts of consent in a file. Rows without a usable address are not counted. */
export type ConsentCount = {
  /** Headers of the consent columns as the file writes them. Empty if the file does not record consent. */
  readonly columns: readonly string[];
  readonly yes: number;
  /** Rows of customers who refused, unsubscribed or were blacklisted. */
  readonly no: number;
  /** Rows with neither yes nor no. */
  readonly blank: number;
};

/** Describes the counts: `412 yes, 88 no, 3 blank in "Accepts Email Marketing"`. */
export function describeConsent({ columns, yes, no, blank }: ConsentCount): string {
  if (columns.length === 0) return 'not recorded';
  const counts = [`${yes} yes`, `${no} no`, `${blank} blank`];
  return `${counts.join(', ')} in ${columns.map((name) => `"${name}"`).join(', ')}`;
}

/** The cells of a column that only look-ups need. */
export type OptionalColumn = {
  /** Header as the file writes it. */
  readonly column: string;
  readonly holds: OptionalField;
  /** Number of cells that are not blank. `unreadable` counts those of them that cannot be read. */
  readonly filled: number;
  readonly unreadable: number;
  /** Physical line of the first cell that cannot be read, 1-based. Null if all can be read. */
  readonly firstUnreadableLine: number | null;
};

/** The content of such a column, by the name of its field in layouts. */
export type OptionalField = 'orders_count' | 'spent' | 'currency';

/** Statistics of a file that only become meaningful over many rows. */
export type CustomersSeen = {
  readonly consent: ConsentCount;
  readonly optional: readonly OptionalColumn[];
};

/** The statistics before the first row. */
export const NOTHING_SEEN: CustomersSeen = {
  consent: { columns: [], yes: 0, no: 0, blank: 0 },
  optional: [],
};

/** A bounded number of rows that mapping passes to intake. */
export type CustomerBatch = {
  readonly customers: readonly StatedCustomer[];
  /** Statistics of the file so far, including this batch. */
  readonly seen: CustomersSeen;
  readonly passedOver: PassedOverCounts;
  readonly rejected: readonly RejectedRow[];
  /**
   * Number of records consumed. Equals rows of customers who have not unsubscribed + Σ passedOver + rejected
   * rows.
   */
  readonly rowsRead: number;
};

/** Consent that a job requires. `ignored` sends every customer, including those who have unsubscribed. */
export type ConsentRule = 'required' | 'not_refused' | 'ignored';

/** An influencer's public profile. It contains no name and no address: the handle identifies the person. */
export type Profile = {
  readonly platform: string | null;
  readonly userId: string | null;
  readonly username: string | null;
  readonly followers: number | null;
  readonly isVerified: boolean | null;
  readonly profileUrl: string | null;
  readonly pictureUrl: string | null;
};
