import type { DecimalText } from './order.ts';
import type { RejectedRow } from './record.ts';

/** Tells a customer of a brand apart without saying who it is: 32 hexadecimal digits. */
export type ContactHash = string;

/** A customer as an export states it. Its address goes to intake.contacts and to the service, and nowhere else. */
export type StatedContact = {
  /** As it is sent: trimmed, NFKC, its domain in lower case and ASCII. */
  readonly address: string;
  readonly hash: ContactHash;
  /** Has unsubscribed or was blacklisted: known, never sent. */
  readonly isUnsubscribed: boolean;
  readonly ordersCount: number | null;
  readonly spent: DecimalText | null;
  /** ISO 4217, of `spent`. */
  readonly currency: string | null;
  /** Null in exports that do not say. */
  readonly boughtWithCode: boolean | null;
};

/** Why a row's customer is not submitted. `unsubscribed` ones are stated all the same, so that no other file brings them back. */
export type PassedOver = 'no_address' | 'no_consent' | 'unsubscribed';

/** What mapping hands to intake: a bounded number of rows. */
export type ContactBatch = {
  readonly contacts: readonly StatedContact[];
  readonly passedOver: Readonly<Record<PassedOver, number>>;
  readonly rejected: readonly RejectedRow[];
  /** Records consumed = rows of contacts that are not unsubscribed + Σ passedOver + rejected rows. */
  readonly rowsRead: number;
};

/** Whose consent a job needs: `ignored` sends everybody, those who have unsubscribed included. */
export type ConsentRule = 'required' | 'not_refused' | 'ignored';
