import type { FilesReport, HeldFile, RejectedRowPlace } from '../model/report.ts';
import { fileName } from '../model/text/file-name.ts';
import type { Fault, Part, Section, TextBlock } from './blocks/block.ts';
import { renderPart } from './blocks/render-blocks.ts';
import { describeFindings } from './checks/describe-findings.ts';
import type { RunSummary } from './report-renderer.ts';
import type { Terminal } from './terminal.ts';
import { clause, formatCount, plural } from './text.ts';

type FilesSummary = RunSummary<FilesReport>;

/** What needs a person in files: `4 rows were rejected`, `1 file is held`. */
export function attentionToFiles({ counts, details }: FilesReport): readonly string[] {
  return [
    ...clause(counts.rejected_rows, 'row was rejected', 'rows were rejected'),
    ...clause(details.heldFiles.length, 'file is held', 'files are held'),
  ];
}

/** How much a run has read. */
export function describeRead({ report: { counts, details } }: FilesSummary): TextBlock {
  const { duplicateFiles } = details;
  const again =
    duplicateFiles > 0 ? `, ${plural(duplicateFiles, 'file')} with content that was read before` : '';
  return {
    kind: 'text',
    text: `Read ${plural(counts.files, 'file')}, ${plural(counts.rows, 'row')}${again}.`,
  };
}

/** File, source and why, then how to fix it. */
export function describeHeldFile({ source, uri, message, help }: HeldFile): Part {
  const name = `${fileName(uri)} (source ${source})`;
  // A message may begin with the address of its file, whose name says enough.
  const text = message.startsWith(`${uri} `) ? `${name}${message.slice(uri.length)}` : `${name}: ${message}`;
  return { kind: 'item', text, help };
}

/** @param consequence what that means, for the heading: `nothing of them was posted`. */
export function describeHeldFiles({ report }: FilesSummary, consequence: string): readonly Section[] {
  const { heldFiles } = report.details;
  if (heldFiles.length === 0) return [];
  const parts = heldFiles.map(describeHeldFile);
  return [{ kind: 'section', title: 'Held files', count: heldFiles.length, note: consequence, parts }];
}

/** What checks found unusual in files that count all the same. A plan leaves nothing behind that could be acknowledged. */
export function describeWarnings({ report, configOption, isPlan }: FilesSummary): readonly Section[] {
  const { warnings } = report.details;
  return describeFindings(warnings, isPlan === true ? null : (configOption ?? ''));
}

/** What a program is told of them before `run_finished`. */
export function warningEvents({ details }: FilesReport): readonly Readonly<Record<string, unknown>>[] {
  return details.warnings.map((finding) => ({ event: 'check_finding', ...finding }));
}

/** Rejected rows, and how to see the rest and to fix them. A plan leaves nothing behind that could be listed. */
export function describeRejectedRows(summary: FilesSummary): readonly Section[] {
  const { report, finished, configOption = '', isPlan = false } = summary;
  const { rejectedRows } = report.details;
  if (rejectedRows.length === 0) return [];
  const command = `npx influencer-sync rejected --run ${finished.run_id}`;
  const commands = {
    about: 'all rejected rows, and how to export them so that you can correct them',
    lines: [`${command}${configOption}`, `${command} --export fix.csv${configOption}`],
  };
  const section = {
    kind: 'section',
    title: 'Rejected rows',
    count: Math.max(report.counts.rejected_rows, rejectedRows.length),
    parts: rejectedRows.map(describeRejectedRow),
  } as const;
  return [isPlan ? section : { ...section, commands }];
}

export type RejectedInput = {
  readonly rows: readonly RejectedRowPlace[];
  /** Rows that the filter finds in all. */
  readonly total: number;
  /** Only some were asked for. */
  readonly isFiltered?: boolean;
  readonly configOption?: string;
};

/** Rejected rows with their place, value, reason and help, and how to get at them. */
export function renderRejected(
  { rows, total, isFiltered = false, configOption = '' }: RejectedInput,
  terminal: Terminal,
): string {
  if (rows.length === 0) return isFiltered ? 'No rejected row matches.\n' : 'No row was rejected.\n';
  const shown = rows.reduce((sum, row) => sum + row.rowCount, 0);
  const more = total - shown;
  return `${[
    terminal.style('bold', plural(total, 'rejected row')),
    ...rows.flatMap((row) => renderPart(describeRejectedRow(row), terminal)),
    ...(more > 0 ? [`  and ${formatCount(more)} more: add --limit ${total}`] : []),
    terminal.style('dim', '# export the rows, to correct and put back'),
    `npx influencer-sync rejected --export fix.csv${configOption}`,
  ].join('\n')}\n`;
}

function describeRejectedRow({ uri, line, column, value, source, reason, help }: RejectedRowPlace): Fault {
  const place = `${fileName(uri)} line ${formatCount(line)}${column === null ? '' : `, column ${column}`}`;
  return { kind: 'fault', place, value, source, reason, help };
}
