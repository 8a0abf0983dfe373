import type { CustomerHash } from '../customer.ts';

/** What becomes of a row in which a customer who is to be forgotten was found. */
export type FoundAction = 'deleted' | 'redacted' | 'kept';

/** Where a customer was found, and what became of it. */
export type FoundRows = {
  /** `intake.orders.codes`; without a column where whole rows were found by digest. */
  readonly place: string;
  readonly rows: number;
  readonly action: FoundAction;
  /** Why it is kept. */
  readonly why: string | null;
};

/** What `forget` did for one customer. Nothing in it says who that was to anybody who lacks the key. */
export type Certificate = {
  readonly tombstone: CustomerHash;
  /** First digits of the HMAC that tells keys apart. */
  readonly keyFingerprint: string;
  readonly at: Date;
  /** Nothing was changed. */
  readonly isDryRun: boolean;
  /** Was forgotten before. */
  readonly wasForgotten: boolean;
  readonly found: readonly FoundRows[];
  /** How much was searched for the address itself. */
  readonly searched: { readonly tables: number; readonly columns: number };
};

/** Nothing of the customer was known. */
export function isUnknown({ found }: Certificate): boolean {
  return found.length === 0;
}

/** Something stays that only a person can remove. */
export function hasKept({ found }: Certificate): boolean {
  return found.some(({ action }) => action === 'kept');
}

/** Where the customer may still be, which no command can change. */
export const OUT_OF_REACH = [
  'Exports: the files of your sources, their older versions, and copies of them. Delete the customer at the shop and the mail tool, so that new exports do not contain them.',
  'The service, where a customer who was submitted is known. Ask its operator to erase them.',
  'Backups and the write-ahead log of the database, and its replicas until they have replayed the deletion. After you restore a backup, run `forget` again.',
  'Files that people created: `rejected --export`, reports, dumps, extracts of views.',
] as const;
