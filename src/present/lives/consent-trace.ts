import { fileName } from '../../model/text/file-name.ts';
import { formatInstant } from '../../model/text/format-instant.ts';
import { toPrintableJson, toPrintableLine } from '../../model/text/printable.ts';
import type { TracedRow } from '../../pipeline/privacy/trace-customer.ts';
import type { Terminal } from '../terminal.ts';

const VERDICTS = {
  yes: 'yes',
  no: 'no',
  unknown: 'unknown: neither yes nor no',
  contradicting: 'no: a yes and a no',
  unlisted: 'no: the layout does not list the word, so its row is rejected',
} as const;

/** Renders which row of which file said what about the consent of a person. */
export function renderConsentTrace(rows: readonly TracedRow[], terminal: Terminal): string {
  if (rows.length === 0) return 'No file that the sources have now names this person.';
  return [terminal.style('bold', 'What the files say now'), ...rows.flatMap(describeRow)].join('\n');
}

function describeRow(row: TracedRow): readonly string[] {
  const file = `${toPrintableLine(fileName(row.uri))} (source ${row.source}, brand ${row.brandId})`;
  if (row.held !== null) return [`  ${file}: not read: ${toPrintableLine(row.held)}`];
  const { line, verdict, consentedAt, refusedAt, cells } = row;
  const dates = [
    ...(consentedAt === null ? [] : [`yes of ${day(consentedAt)}`]),
    ...(refusedAt === null ? [] : [`no until ${day(refusedAt)}`]),
  ];
  return [
    `  ${file} line ${line}: ${VERDICTS[verdict]}${dates.length === 0 ? '' : ` (${dates.join(', ')})`}`,
    ...cells.map(
      ({ column, word, says }) =>
        `    ${toPrintableLine(column)}: ${toPrintableJson(JSON.stringify(word))} says ${says}`,
    ),
  ];
}

function day(ms: number): string {
  return formatInstant(new Date(ms)).slice(0, 16);
}
