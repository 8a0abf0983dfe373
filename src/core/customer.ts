import type { DecimalText } from './money.ts';
import type { RejectedRow } from './record.ts';

/** Identifies a customer of a brand without revealing who it is: 32 hexadecimal digits. */
export type CustomerHash = string;

/** Hashes of one customer under the previous and the current key. */
export type RekeyedHash = { readonly previous: CustomerHash; readonly current: CustomerHash };

/** Whether a person may be submitted, as far as is known. */
export type Consent = 'yes' | 'no' | 'unknown';

/**
 * What was said about the consent of one person. Statements are merged field by field, so their order does not
 * matter: whoever said yes in any of them has `saidYes`, and the latest times count.
 */
export type ConsentStatement = {
  readonly saidYes: boolean;
  /** When the person said yes, in milliseconds since 1970. Null: no yes is known, or it has no date. */
  readonly consentedAt: number | null;
  /**
   * Until when a no is known to hold: its date or, if it has none, the age of its file. Null: no refusal is known.
   */
  readonly refusedAt: number | null;
};

/** A no holds until a yes with a later date. A yes without a date never replaces it. */
export function consentOf({ saidYes, consentedAt, refusedAt }: ConsentStatement): Consent {
  if (refusedAt !== null && (consentedAt === null || consentedAt <= refusedAt)) return 'no';
  return saidYes ? 'yes' : 'unknown';
}

/** Merges two statements about the same person. */
export function mergeConsent(one: ConsentStatement, other: ConsentStatement): ConsentStatement {
  return {
    saidYes: one.saidYes || other.saidYes,
    consentedAt: later(one.consentedAt, other.consentedAt),
    refusedAt: later(one.refusedAt, other.refusedAt),
  };
}

/** Returns the later of two times; null if there is none. */
export function later(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.max(one, other);
}

/**
 * A customer as an export states it. The address is stored in intake.waiting_batches and sent to the service,
 * and goes nowhere else. A customer whose consent is `no` is recorded, so that no other file brings them back,
 * and never sent.
 */
export type StatedCustomer = ConsentStatement & {
  /** The address as it is sent: trimmed, NFKC, with the domain in lower case and ASCII. */
  readonly address: string;
  readonly hash: CustomerHash;
  readonly ordersCount: number | null;
  readonly spent: DecimalText | null;
  /** ISO 4217 currency of `spent`. */
  readonly currency: string | null;
  /** Null if the export does not contain it. */
  readonly boughtWithCode: boolean | null;
};

/**
 * Why the customer of a row is not submitted. `contradicting`: one column says yes and another no, which is a
 * no. `unknown`: the row says neither, and no setting permits that. Nothing is stored about `forgotten`
 * customers.
 */
export const PASSED_OVER = ['no_address', 'refused', 'contradicting', 'unknown', 'forgotten'] as const;
export type PassedOver = (typeof PASSED_OVER)[number];

/** Customers who are recorded although they are not submitted. */
export const IS_RECORDED: Readonly<Record<PassedOver, boolean>> = {
  no_address: false,
  refused: true,
  contradicting: true,
  unknown: false,
  forgotten: false,
};

/** Numbers of rows of customers who are not submitted, by reason. */
export type PassedOverCounts = Readonly<Record<PassedOver, number>>;

export const NOBODY_PASSED_OVER: PassedOverCounts = {
  no_address: 0,
  refused: 0,
  contradicting: 0,
  unknown: 0,
  forgotten: 0,
};

/** Counts of consent in a file. Rows without a usable address are not counted. */
export type ConsentCount = {
  /** Headers of the consent columns as the file writes them. Empty if the file does not record consent. */
  readonly columns: readonly string[];
  readonly yes: number;
  /** Rows of customers who refused, unsubscribed, bounced or were blacklisted. */
  readonly no: number;
  /** Rows with neither yes nor no. */
  readonly blank: number;
};

/** Describes the counts of rows: `412 yes, 88 no, 3 neither, by "Estado" and "Baja"`. */
export function describeConsent({ columns, yes, no, blank }: ConsentCount): string {
  if (columns.length === 0) return 'not recorded';
  const by = new Intl.ListFormat('en').format(columns.map((name) => `"${name}"`));
  return `${yes} yes, ${no} no, ${blank} neither, by ${by}`;
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
export type CustomersSeen = { readonly consent: ConsentCount; readonly optional: readonly OptionalColumn[] };

/** The statistics before the first row. */
export const NOTHING_SEEN: CustomersSeen = {
  consent: { columns: [], yes: 0, no: 0, blank: 0 },
  optional: [],
};

/** A bounded number of rows that mapping passes to intake. */
export type CustomerBatch = {
  readonly customers: readonly StatedCustomer[];
  /**
   * Customers of rejected rows whose word of consent the layout does not list. It may mean no, so it counts as
   * one if the file counts.
   */
  readonly doubtful: readonly StatedCustomer[];
  /** Statistics of the file so far, including this batch. */
  readonly seen: CustomersSeen;
  readonly passedOver: PassedOverCounts;
  readonly rejected: readonly RejectedRow[];
  /**
   * Number of records consumed. Equals rows of customers + Σ passedOver of those who are not recorded + rejected
   * rows.
   */
  readonly rowsRead: number;
};

/**
 * Whom a job submits. All rules submit customers who said yes, and none submits a no. Customers whose consent is
 * unknown are submitted under `not_refused`, and under `by_source` if their source says `consent: not_recorded`.
 */
export type ConsentRule = 'by_source' | 'required' | 'not_refused';

/** True if a job submits customers of a source whose consent is unknown. A setting must say so. */
export function submitsUnknown(
  rule: ConsentRule,
  source: { readonly consent: 'recorded' | 'not_recorded' },
): boolean {
  return rule === 'not_refused' || (rule === 'by_source' && source.consent === 'not_recorded');
}

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
