import type { PassedOverCounts } from '../../core/customer.ts';
import type { FilesReport, HeldFile, RejectedRowPlace } from '../../core/report.ts';
import { fileName } from '../../core/text/file-name.ts';
import type { Fault, Part, Section, TextBlock } from '../../render/block.ts';
import { renderPart } from '../../render/render-blocks.ts';
import type { RunSummary } from '../../render/report-renderer.ts';
import type { Terminal } from '../../render/terminal.ts';
import { clause, formatCount, plural } from '../../render/text.ts';
import { describeFindings } from '../checks/describe-findings.ts';

type FilesSummary = RunSummary<FilesReport>;

/** The clauses for a summary: `4 rows were rejected`, `1 file is held`. */
export function attentionToFiles({ counts, details }: FilesReport): readonly string[] {
  return [
    ...clause(counts.rejected_rows, 'row was rejected', 'rows were rejected'),
    ...clause(details.heldFiles.length, 'file is held', 'files are held'),
  ];
}

/** Lists rows whose customer is not submitted: `5 without an address`, `2 refused`. */
export function listPassedOver(passed: PassedOverCounts): readonly string[] {
  const reasons = [
    [passed.no_address, 'without an address'],
    [passed.refused, 'refused'],
    [passed.contradicting, 'contradicting (a yes and a no)'],
    [passed.unknown, 'unknown consent'],
    [passed.forgotten, 'of customers who were forgotten'],
  ] as const;
  return reasons.flatMap(([rows, why]) => (rows === 0 ? [] : [`${formatCount(rows)} ${why}`]));
}

/** Describes how much a run has read. */
export function describeRead({ report: { counts, details } }: FilesSummary): TextBlock {
  const { duplicateFiles } = details;
  const again =
    duplicateFiles > 0 ? `, ${plural(duplicateFiles, 'file')} with content that was read before` : '';
  return {
    kind: 'text',
    text: `Read ${plural(counts.files, 'file')}, ${plural(counts.rows, 'row')}${again}.`,
  };
}

/** Describes a held file: name, source, reason and fix. */
export function describeHeldFile({ source, uri, message, help }: HeldFile): Part {
  const name = `${fileName(uri)} (source ${source})`;
  // A message may begin with the address of its file, which the name replaces.
  const text = message.startsWith(`${uri} `) ? `${name}${message.slice(uri.length)}` : `${name}: ${message}`;
  return { kind: 'item', text, help };
}

/**
 * Describes held files.
 * @param consequence what that means, for the heading: `nothing of them was posted`.
 */
export function describeHeldFiles({ report }: FilesSummary, consequence: string): readonly Section[] {
  const { heldFiles } = report.details;
  if (heldFiles.length === 0) return [];
  const parts = heldFiles.map(describeHeldFile);
  return [{ kind: 'section', title: 'Held files', count: heldFiles.length, note: consequence, parts }];
}

/**
 * Describes warnings about files that count nevertheless. After a plan there is nothing to acknowledge,
 * because it stores nothing.
 */
export function describeWarnings({ report, isPlan = false }: FilesSummary): readonly Section[] {
  const { warnings } = report.details;
  return describeFindings(warnings, { isStored: !isPlan });
}

/** The events for programs, before `run_finished`. */
export function warningEvents({ details }: FilesReport): readonly Readonly<Record<string, unknown>>[] {
  return details.warnings.map((finding) => ({ event: 'check_finding', ...finding }));
}

/**
 * Describes rejected rows, and how to list and fix them. After a plan there is nothing to list, because it
 * stores nothing.
 */
export function describeRejectedRows(summary: FilesSummary): readonly Section[] {
  const { report, finished, isPlan = false } = summary;
  const { rejectedRows } = report.details;
  if (rejectedRows.length === 0) return [];
  const command = `npx influencer-sync rejected --run ${finished.run_id}`;
  const commands = {
    about: 'all rejected rows, and how to export them so that you can correct them',
    lines: [command, `${command} --export fix.csv`],
  };
  const section = {
    kind: 'section',
    title: 'Rejected rows',
    count: Math.max(report.counts.rejected_rows, rejectedRows.length),
    parts: rejectedRows.map((row) => describeRejectedRow(row, row.source)),
  } as const;
  return [isPlan ? section : { ...section, commands }];
}

export type RejectedInput = {
  readonly rows: readonly RejectedRowPlace[];
  /** Total number of matching rows. */
  readonly total: number;
  /** Whether a filter was given. */
  readonly isFiltered?: boolean;
};

/** Renders rejected rows with place, value, reason and fix, and the command to export them. */
export function renderRejected(
  { rows, total, isFiltered = false }: RejectedInput,
  terminal: Terminal,
): string {
  if (rows.length === 0) return isFiltered ? 'No rejected row matches.\n' : 'No row was rejected.\n';
  const shown = rows.reduce((sum, row) => sum + row.rowCount, 0);
  const more = total - shown;
  return `${[
    terminal.style('bold', plural(total, 'rejected row')),
    ...rows.flatMap((row) =>
      renderPart(describeRejectedRow(row, `${row.source}, for ${row.readFor}`), terminal),
    ),
    ...(more > 0 ? [`  and ${formatCount(more)} more: add --limit ${total}`] : []),
    terminal.style('dim', '# export the rows, to correct and put back'),
    'npx influencer-sync rejected --export fix.csv',
  ].join('\n')}\n`;
}

function describeRejectedRow(row: RejectedRowPlace, source: string): Fault {
  const { uri, line, column, value, reason, help } = row;
  const place = `${fileName(uri)} line ${formatCount(line)}${column === null ? '' : `, column ${column}`}`;
  return { kind: 'fault', place, value, source, reason, help };
}
