import { fileName } from '../../core/text/file-name.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { toPrintableJson, toPrintableLine } from '../../core/text/printable.ts';
import type { TracedRow } from '../../privacy/trace-customer.ts';
import type { Terminal } from '../../render/terminal.ts';

const VERDICTS = {
  yes: 'yes',
  no: 'no',
  unknown: 'unknown: neither yes nor no',
  contradicting: 'no: a yes and a no',
  unlisted: 'no: the layout does not list the word, so its row is rejected',
} as const;

/**
 * Renders which row of which file said what about the consent of a person.
 *
 * @param isKnown false if nothing is stored about the person.
 */
export function renderConsentTrace(
  rows: readonly TracedRow[],
  { isKnown, terminal }: { readonly isKnown: boolean; readonly terminal: Terminal },
): string {
  const verdict = isKnown
    ? []
    : ['No file that counts says yes or no for this person, so the person is not submitted.'];
  if (rows.every(({ line }) => line === null))
    return ['No file that the sources have now names this person.', ...rows.flatMap(describeRow)].join('\n');
  return [terminal.style('bold', 'What the files say now'), ...rows.flatMap(describeRow), ...verdict].join(
    '\n',
  );
}

function describeRow(row: TracedRow): readonly string[] {
  const file = `${toPrintableLine(fileName(row.uri))} (source ${row.source}, brand ${row.brandId})`;
  const why = row.held === null ? '' : toPrintableLine(row.held);
  if (row.line === null) return [`  ${file}: not read: ${why}`];
  const { line, verdict, consentedAt, refusedAt, mayBeCut, cells } = row;
  const dates = [
    ...(consentedAt === null ? [] : [`yes of ${day(consentedAt)}`]),
    ...(refusedAt === null ? [] : [`no until ${day(refusedAt)}`]),
  ];
  return [
    `  ${file} line ${line}: ${VERDICTS[verdict]}${dates.length === 0 ? '' : ` (${dates.join(', ')})`}`,
    ...(mayBeCut ? ['    the row may be cut: it may say something else, or be about another person'] : []),
    ...(row.held === null ? [] : [`    does not count, in a file that is held or not read: ${why}`]),
    ...cells.map(
      ({ column, word, says }) =>
        `    ${toPrintableLine(column)}: ${toPrintableJson(JSON.stringify(word))} says ${says}`,
    ),
  ];
}

function day(ms: number): string {
  return formatInstant(new Date(ms)).slice(0, 16);
}
