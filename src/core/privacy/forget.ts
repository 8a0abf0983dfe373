import type { CustomerHash } from '../customer.ts';

/** What happened to a row that contains a customer who is being forgotten. */
export type FoundAction = 'deleted' | 'redacted' | 'kept';

/** Where a customer was found, and what happened to these rows. */
export type FoundRows = {
  /**
   * Table and column, for example `intake.orders.codes`. Without a column if whole rows were found by digest.
   */
  readonly place: string;
  readonly rows: number;
  readonly action: FoundAction;
  /** Why the rows are kept. Null if they are not kept. */
  readonly why: string | null;
};

/** What `forget` did for one customer. Without the key, it does not reveal who the customer was. */
export type Certificate = {
  readonly tombstone: CustomerHash;
  /** First digits of the HMAC that identifies the key. */
  readonly keyFingerprint: string;
  readonly at: Date;
  /** True if nothing was changed. */
  readonly isDryRun: boolean;
  /** True if the customer had been forgotten before. */
  readonly wasForgotten: boolean;
  readonly found: readonly FoundRows[];
  /** Number of tables and columns that were searched for the address itself. */
  readonly searched: { readonly tables: number; readonly columns: number };
};

/** True if nothing was known about the customer. */
export function isUnknown({ found }: Certificate): boolean {
  return found.length === 0;
}

/** True if some data remains that only a person can remove. */
export function hasKept({ found }: Certificate): boolean {
  return found.some(({ action }) => action === 'kept');
}

/** Places where the customer may still be known and which no command can change. */
export const OUT_OF_REACH = [
  'Exports: the files of your sources, their older versions, and copies of them. Delete the customer at the shop and the mail tool, so that new exports do not contain them.',
  'The service, where a customer who was submitted is known. Ask its operator to erase them.',
  'Backups and the write-ahead log of the database, and its replicas until they have replayed the deletion. After you restore a backup, run `forget` again.',
  'Files that people created: `rejected --export`, reports, dumps, extracts of views.',
] as const;
