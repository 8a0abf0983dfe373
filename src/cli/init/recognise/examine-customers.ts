import { createHash } from 'node:crypto';
import {
  type ConsentCount,
  type ConsentStatement,
  consentOf,
  mergeConsent,
  NOBODY_PASSED_OVER,
  NOTHING_SEEN,
  PASSED_OVER,
  type PassedOverCounts,
} from '../../../core/customer.ts';
import { FileHeld } from '../../../core/held/file-held.ts';
import type { RejectedRow } from '../../../core/record.ts';
import { fileName } from '../../../core/text/file-name.ts';
import { mapCustomers } from '../../../intake/customers/map/map-customers.ts';
import type { Layout } from '../../../intake/layout/to-layout.ts';
import { type ExamineOptions, openDetected } from './recognise-file.ts';

/**
 * What was found in the files of one source of customers. Contains only counts, never an address or a name.
 */
export type CustomersExamined = {
  readonly kind: 'customers';
  readonly layout: Layout;
  readonly rows: number;
  readonly isPartial: boolean;
  readonly consent: ConsentCount;
  /**
   * Number of people that would be submitted, whatever number of rows each has; if `needsConsent`, once the source says
   * `not_recorded`.
   */
  readonly submitted: number;
  /** Numbers of rows of the other customers. */
  readonly passedOver: PassedOverCounts;
  readonly rejected: number;
  /** The first row that cannot be used, and the name of its file. Null if each can. */
  readonly firstRejected:
    | (Pick<RejectedRow, 'line' | 'column' | 'reason'> & { readonly file: string })
    | null;
  /** The export does not state which customers have consented, so the source must say whether they are submitted. */
  readonly needsConsent: boolean;
  readonly held: readonly string[];
};

/** Tells people apart while the files are read. */
function hashOf(folded: string): string {
  return createHash('sha256').update(folded).digest('hex').slice(0, 32);
}

/** Reads the customers of a source as a run would, and keeps only counts. */
export async function examineCustomers({
  files,
  layout,
  maxRows,
  source,
  clients,
}: ExamineOptions): Promise<CustomersExamined> {
  const held = new Set<string>();
  const needsConsent = layout.consent.given.length === 0;
  const counts = { rows: 0, rejected: 0 };
  let firstRejected: CustomersExamined['firstRejected'] = null;
  const people = new Map<string, ConsentStatement>();
  const passedOver = { ...NOBODY_PASSED_OVER };
  const consent = { columns: new Set<string>(), yes: 0, no: 0, blank: 0 };
  for (const { file, encoding } of files) {
    if (counts.rows >= maxRows) break;
    let seen = NOTHING_SEEN;
    try {
      const chunks = openDetected(file, layout, { source, clients, encoding });
      const batches = mapCustomers(chunks, {
        layout,
        source: { name: source.name, currency: 'XXX', consent: needsConsent ? 'not_recorded' : 'recorded' },
        consent: 'by_source',
        asOf: file.modifiedAt ?? new Date(),
        uri: file.uri,
        hashOf,
      });
      for await (const batch of batches) {
        counts.rows += batch.rowsRead;
        for (const { hash, saidYes, consentedAt, refusedAt } of batch.customers) {
          const said = { saidYes, consentedAt, refusedAt };
          people.set(hash, mergeConsent(people.get(hash) ?? said, said));
        }
        counts.rejected += batch.rejected.length;
        const [first] = batch.rejected;
        if (first !== undefined) firstRejected ??= { ...first, file: fileName(file.uri) };
        for (const why of PASSED_OVER) passedOver[why] += batch.passedOver[why];
        seen = batch.seen;
        if (counts.rows >= maxRows) break;
      }
    } catch (error) {
      if (!(error instanceof FileHeld)) throw error;
      held.add(error.message);
    }
    for (const name of seen.consent.columns) consent.columns.add(name);
    consent.yes += seen.consent.yes;
    consent.no += seen.consent.no;
    consent.blank += seen.consent.blank;
  }
  return {
    kind: 'customers',
    layout,
    ...counts,
    firstRejected,
    submitted: [...people.values()].filter((said) => consentOf(said) !== 'no').length,
    passedOver,
    isPartial: counts.rows >= maxRows,
    consent: { ...consent, columns: [...consent.columns] },
    needsConsent,
    held: [...held],
  };
}
