import type { HeldFile, RejectedRowPlace } from '../model/report.ts';
import { fileName } from '../model/text/file-name.ts';
import { wrap } from '../model/text/wrap.ts';
import type { Screen } from './screen.ts';
import { heading } from './sections.ts';
import { cut, formatCount, plural } from './text.ts';

const COMMAND = 'npx influencer-sync';

/** How much a run has read. */
export function renderRead(read: {
  readonly files: number;
  readonly rows: number;
  readonly duplicateFiles: number;
}): string {
  const { files, rows, duplicateFiles } = read;
  const again =
    duplicateFiles > 0 ? `, ${plural(duplicateFiles, 'file')} with content that was read before` : '';
  return `Read ${plural(files, 'file')}, ${plural(rows, 'row')}${again}.`;
}

/** File, source and why. A message may begin with the address of its file, whose name says enough. */
export function describeHeldFile({ source, uri, message }: HeldFile): string {
  const name = `${fileName(uri)} (source ${source})`;
  return message.startsWith(`${uri} `) ? `${name}${message.slice(uri.length)}` : `${name}: ${message}`;
}

/** @param consequence what that means, for the heading: `nothing of them was posted`. */
export function renderHeldFiles(files: readonly HeldFile[], consequence: string, screen: Screen): string {
  if (files.length === 0) return '';
  const lines = files.flatMap((file) => [
    wrap(describeHeldFile(file), {
      width: screen.columns,
      indent: '    ',
      firstIndent: '  ',
    }),
    screen.style('cyan', wrap(file.help, { width: screen.columns, indent: '    ' })),
  ]);
  return [heading('Held files', files.length, consequence, screen), ...lines].join('\n');
}

export type RejectedSection = {
  /** The first few. */
  readonly rows: readonly RejectedRowPlace[];
  readonly total: number;
  readonly runId: string;
  readonly configOption?: string | undefined;
  /** A plan leaves nothing behind that could be listed. */
  readonly isPlan?: boolean | undefined;
};

/** Rejected rows, and how to see the rest and to fix them. */
export function renderRejectedRows(section: RejectedSection, screen: Screen): string {
  const { rows, total, runId, configOption = '', isPlan = false } = section;
  if (rows.length === 0) return '';
  const command = `${COMMAND} rejected --run ${runId}`;
  const commands = [
    screen.style('dim', '  # all of them; and the rows themselves, to correct and put back'),
    `  ${command}${configOption}`,
    `  ${command} --export fix.csv${configOption}`,
  ];
  return [
    heading('Rejected rows', Math.max(total, rows.length), '', screen),
    ...rows.flatMap((row) => renderRejectedRow(row, screen)),
    ...(isPlan ? [] : commands),
  ].join('\n');
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
  screen: Screen,
): string {
  if (rows.length === 0) return isFiltered ? 'No rejected row matches.\n' : 'No row was rejected.\n';
  const shown = rows.reduce((sum, row) => sum + row.rowCount, 0);
  const more = total - shown;
  return `${[
    screen.style('bold', plural(total, 'rejected row')),
    ...rows.flatMap((row) => renderRejectedRow(row, screen)),
    ...(more > 0 ? [`  and ${formatCount(more)} more: add --limit ${total}`] : []),
    screen.style('dim', '# the rows themselves, to correct and put back'),
    `npx influencer-sync rejected --export fix.csv${configOption}`,
  ].join('\n')}\n`;
}

/** File, line, column, value, source, what is wrong, how to fix it. */
function renderRejectedRow(row: RejectedRowPlace, screen: Screen): readonly string[] {
  const column = row.column === null ? '' : `, column ${row.column}`;
  const value = row.value === null ? '' : ` ${JSON.stringify(cut(row.value, 40))}`;
  const place = `${fileName(row.uri)} line ${formatCount(row.line)}${column}`;
  const source = `(source ${row.source})`;
  // The place and the value stay on one line, which can be searched for.
  const fits = `  ${place}${value} ${source}`.length <= screen.columns;
  return [
    `  ${screen.style('bold', place)}${value}${fits ? ` ${source}` : ''}`,
    wrap(fits ? row.reason : `${source} ${row.reason}`, { width: screen.columns, indent: '    ' }),
    screen.style('cyan', wrap(row.help, { width: screen.columns, indent: '    ' })),
  ];
}
