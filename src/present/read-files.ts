import type { FilesReport, HeldFile, RejectedRowPlace } from '../model/report.ts';
import { fileName } from '../model/text/file-name.ts';
import { wrap } from '../model/text/wrap.ts';
import type { RunSummary } from './report-renderer.ts';
import { renderItem, renderSection } from './sections.ts';
import type { Terminal } from './terminal.ts';
import { clause, cut, formatCount, plural } from './text.ts';

type FilesSummary = RunSummary<FilesReport>;

/** What needs a person in files: `4 rows were rejected`, `1 file is held`. */
export function attentionToFiles({ counts, details }: FilesReport): readonly string[] {
  return [
    ...clause(counts.rejected_rows, 'row was rejected', 'rows were rejected'),
    ...clause(details.heldFiles.length, 'file is held', 'files are held'),
  ];
}

/** How much a run has read. */
export function renderRead({ report: { counts, details } }: FilesSummary): string {
  const { duplicateFiles } = details;
  const again =
    duplicateFiles > 0 ? `, ${plural(duplicateFiles, 'file')} with content that was read before` : '';
  return `Read ${plural(counts.files, 'file')}, ${plural(counts.rows, 'row')}${again}.`;
}

/** File, source and why, then how to fix it. */
export function renderHeldFile(file: HeldFile, terminal: Terminal): readonly string[] {
  const { source, uri, message, help } = file;
  const name = `${fileName(uri)} (source ${source})`;
  // A message may begin with the address of its file, whose name says enough.
  const text = message.startsWith(`${uri} `) ? `${name}${message.slice(uri.length)}` : `${name}: ${message}`;
  return [
    renderItem(text, terminal),
    terminal.style('cyan', wrap(help, { width: terminal.columns, indent: '    ' })),
  ];
}

/** @param consequence what that means, for the heading: `nothing of them was posted`. */
export function renderHeldFiles(
  { report }: FilesSummary,
  { consequence, terminal }: { readonly consequence: string; readonly terminal: Terminal },
): string {
  const { heldFiles } = report.details;
  if (heldFiles.length === 0) return '';
  const lines = heldFiles.flatMap((file) => renderHeldFile(file, terminal));
  return renderSection({ title: 'Held files', count: heldFiles.length, note: consequence, lines }, terminal);
}

/** Rejected rows, and how to see the rest and to fix them. A plan leaves nothing behind that could be listed. */
export function renderRejectedRows(summary: FilesSummary, terminal: Terminal): string {
  const { report, finished, configOption = '', isPlan = false } = summary;
  const { rejectedRows } = report.details;
  if (rejectedRows.length === 0) return '';
  const command = `npx influencer-sync rejected --run ${finished.run_id}`;
  const commands = [
    terminal.style('dim', '  # all of them; and the rows themselves, to correct and put back'),
    `  ${command}${configOption}`,
    `  ${command} --export fix.csv${configOption}`,
  ];
  const rows = rejectedRows.flatMap((row) => renderRejectedRow(row, terminal));
  const count = Math.max(report.counts.rejected_rows, rejectedRows.length);
  const lines = [...rows, ...(isPlan ? [] : commands)];
  return renderSection({ title: 'Rejected rows', count, lines }, terminal);
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
    ...rows.flatMap((row) => renderRejectedRow(row, terminal)),
    ...(more > 0 ? [`  and ${formatCount(more)} more: add --limit ${total}`] : []),
    terminal.style('dim', '# the rows themselves, to correct and put back'),
    `npx influencer-sync rejected --export fix.csv${configOption}`,
  ].join('\n')}\n`;
}

/** File, line, column, value, source, what is wrong, how to fix it. */
function renderRejectedRow(row: RejectedRowPlace, terminal: Terminal): readonly string[] {
  const column = row.column === null ? '' : `, column ${row.column}`;
  const value = row.value === null ? '' : ` ${JSON.stringify(cut(row.value, 40))}`;
  const place = `${fileName(row.uri)} line ${formatCount(row.line)}${column}`;
  const source = `(source ${row.source})`;
  // The place and the value stay on one line, which can be searched for.
  const fits = `  ${place}${value} ${source}`.length <= terminal.columns;
  return [
    `  ${terminal.style('bold', place)}${value}${fits ? ` ${source}` : ''}`,
    wrap(fits ? row.reason : `${source} ${row.reason}`, { width: terminal.columns, indent: '    ' }),
    terminal.style('cyan', wrap(row.help, { width: terminal.columns, indent: '    ' })),
  ];
}
