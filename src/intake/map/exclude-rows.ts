import { FileHeld } from '../../core/held/file-held.ts';
import { reasonIn, shownHeader } from '../layout/lowering-columns.ts';
import type { ResolvedHeader } from '../layout/resolve-header.ts';
import { exclusionTest } from '../layout/test-cell.ts';
import type { Layout } from '../layout/to-layout.ts';
import type { Fault } from './fault.ts';
import type { ReadRow } from './map-rows.ts';

/**
 * Creates the function that says which rows of a file do not count, by the `exclusions` of its layout. Every word must be
 * known there: the service takes back neither clicks nor deals.
 *
 * @param options.mayExclude true if a header that the layout does not read may say that rows do not count.
 * @param options.mayMean what such a column may say, for a message: `that a row has no clicks of people`.
 * @param options.lost what would happen without the column, as a sentence.
 * @param options.help how to have the file read.
 * @param options.unknown the fault of a word that the rules do not list.
 * @throws FileHeld `column_missing`, also if the file lacks the column of a rule.
 */
export function rowExcluder(
  header: ResolvedHeader,
  { exclusions, mayBeMissing }: Layout,
  options: {
    readonly mayExclude: (header: string) => boolean;
    readonly mayMean: string;
    readonly lost: string;
    readonly help: string;
    readonly unknown: Fault;
  },
): (cells: readonly string[]) => Exclude<ReadRow<never>, { kind: 'row' }> | null {
  const { mayExclude, mayMean, lost, help, unknown } = options;
  const hold = (what: string): FileHeld =>
    new FileHeld({ code: 'column_missing', message: `${what} ${lost}`, help });
  const missing = exclusions.find(
    ({ columns }) => header.find(columns) === null && reasonIn(mayBeMissing, columns) === null,
  );
  if (missing !== undefined)
    throw hold(`The file lacks ${shownHeader(missing.columns[0] ?? '')}, which says which rows count.`);
  const unread = header.unread.find(mayExclude);
  if (unread !== undefined)
    throw hold(
      `The file has ${shownHeader(unread)}, which may say ${mayMean}, and which the layout does not read.`,
    );
  const rules = exclusions.flatMap((rule) =>
    header
      .findAll(rule.columns)
      .map((column) => ({ column, reason: rule.reason, test: exclusionTest(rule) })),
  );
  return (cells) => {
    for (const { column, reason, test } of rules) {
      const says = test(cells[column.index] ?? '');
      if (says === 'excluded') return { kind: 'passed_over', why: reason };
      if (says === 'unknown') return { kind: 'fault', fault: unknown, column };
    }
    return null;
  };
}
