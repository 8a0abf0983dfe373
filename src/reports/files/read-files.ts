import type { PassedOverCounts } from '../../core/customer.ts';
import type { FooterRow } from '../../core/record.ts';
import type { CodeProblem, FilesReport, HeldFile, RejectedRowInFile } from '../../core/report.ts';
import { fileName } from '../../core/text/file-name.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import {
  type Block,
  type Commands,
  type Fault,
  item,
  type Section,
  say,
  section,
} from '../../render/block.ts';
import type { RunSummary } from '../../render/report-renderer.ts';
import { formatCount, plural } from '../../render/text.ts';
import { describeFindings } from '../checks/render-checks.ts';
import type { RejectedCause } from './list-rejected.ts';

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

/**
 * Describes what needs a person in the files of a run, and in its codes.csv: held files, warnings, rejected rows. A
 * plan stores nothing, so after it there is nothing to list or to acknowledge.
 */
export function describeFiles(
  summary: RunSummary<FilesReport & { readonly details: { readonly codeProblems?: readonly CodeProblem[] } }>,
): readonly Section[] {
  const { report, finished, isPlan = false } = summary;
  const { heldFiles, warnings, rejectedRows, footerRows = [], codeProblems = [] } = report.details;
  const areOfRun = rejectedRows.every(({ runId }) => runId === finished.run_id);
  const command = `npx influencer-sync rejected${areOfRun ? ` --run ${finished.run_id}` : ''}`;
  const commands = {
    about: 'all rejected rows, and how to export them so that you can correct them',
    lines: [command, `${command} --export fix.csv`],
  };
  return [
    ...describeHeldFiles(heldFiles, { isStored: !isPlan }),
    ...describeFindings(warnings, { isStored: !isPlan }),
    ...section('Rejected rows', {
      count: Math.max(report.counts.rejected_rows, rejectedRows.length),
      parts: rejectedRows.map((row) => describeRejectedRow(row, row.source)),
      commands: isPlan ? null : commands,
    }),
    ...section('Rows that are no records', {
      of: footerRows.length,
      note: 'totals and notes',
      parts: footerRows
        .slice(0, SHOWN_PROBLEMS)
        .map((row) => item(`${fileName(row.uri)} (source ${row.source}) ${sayFooterRow(row)}`)),
    }),
    ...describeCodeProblems(codeProblems),
  ];
}

const FOOTER_BY: Readonly<Record<FooterRow['by'], string>> = {
  label: 'as the layout names it',
  sum: 'the sum of the orders above',
  count: 'the number of orders above',
};

/** Says which row of a file is no record of it, and what shows it: `line 12: "Total", the sum of …`. */
export function sayFooterRow({ line, text, by }: FooterRow): string {
  return `line ${formatCount(line)}: ${JSON.stringify(toPrintableLine(text))}, ${FOOTER_BY[by]}`;
}

/** How to end the hold of a file. */
export const RELEASE: Commands = {
  about: 'end the hold of a file that you do not need; deleting the file does not',
  lines: ["npx influencer-sync files release NAME --reason '…'"],
};

/** Describes held files: each reason and fix once, with the names of its files and their source. */
export function describeHeldFiles(
  files: readonly HeldFile[],
  { isStored = true }: { readonly isStored?: boolean } = {},
): readonly Section[] {
  const alike = Map.groupBy(files, ({ source, message, help }) => JSON.stringify([source, message, help]));
  const parts = [...alike.values()].flatMap((of) =>
    of.slice(0, 1).map(({ source, uri, message, help }) => {
      const name = `${of.map((file) => fileName(file.uri)).join(', ')} (source ${source})`;
      // A message may begin with the address of its file, which the name replaces.
      return item(
        message.startsWith(`${uri} `) ? `${name}${message.slice(uri.length)}` : `${name}: ${message}`,
        help,
      );
    }),
  );
  const note = 'nothing in them counts';
  const commands = isStored ? RELEASE : null;
  return section('Held files', { count: files.length, tone: 'yellow', note, parts, commands });
}

/** Number of problems that a summary lists; the rest are counted. */
const SHOWN_PROBLEMS = 10;

/** Describes rows of codes.csv that could not be used: line, column, value, reason and fix. */
export function describeCodeProblems(problems: readonly CodeProblem[]): readonly Section[] {
  return section('Rows of codes.csv to fix', {
    of: problems.length,
    parts: problems.slice(0, SHOWN_PROBLEMS).map(({ line, column, value, reason, help }) => {
      // Codes from an event of the service have no line.
      const file = line > 0 ? `codes.csv line ${formatCount(line)}` : 'from an event';
      const place = `${file}${column === null ? '' : `, column ${column}`}`;
      return { kind: 'fault', place, value, source: null, reason, help };
    }),
  });
}

/**
 * Describes rejected rows with place, value, reason and fix, and the command to export them.
 * @param input.total number of matching rows, listed or not.
 */
export function describeRejected({
  rows,
  total,
  settled,
  isFiltered,
}: {
  rows: readonly RejectedRowInFile[];
  total: number;
  settled: number;
  isFiltered: boolean;
}): readonly Block[] {
  const also =
    settled === 0
      ? ''
      : ` ${plural(settled, 'rejected row')} ${settled === 1 ? 'is' : 'are'} not listed: files that were read later state ${settled === 1 ? 'its order' : 'their orders'} (--all lists ${settled === 1 ? 'it' : 'them'}).`;
  if (rows.length === 0) {
    const none = isFiltered ? 'No rejected row matches.' : 'No row was rejected.';
    return [say(also === '' ? none : `No rejected row waits for a correction.${also}`)];
  }
  const more = total - rows.reduce((sum, row) => sum + row.rowCount, 0);
  return section(plural(total, 'rejected row'), {
    parts: rows.map((row) => describeRejectedRow(row, `${row.source}, for ${row.readFor}`)),
    help: `${more > 0 ? `and ${formatCount(more)} more: add --limit ${total}.` : ''}${also}`.trim() || null,
    commands: {
      about: 'export the rows; each leaves this list once a file states it rightly',
      lines: ['npx influencer-sync rejected --export fix.csv'],
    },
  });
}

/** Describes the rejected rows that wait for a correction, by cause. */
export function describeRejectedCauses(causes: readonly RejectedCause[]): readonly Block[] {
  return section('Rejected rows', {
    count: causes.reduce((sum, { rows }) => sum + rows, 0),
    note: 'what they state is not known until you correct them',
    tone: 'yellow',
    parts: causes.map(({ rows, files, reason, help }) =>
      item(`${plural(rows, 'row')} in ${plural(files, 'file')}: ${reason}`, help),
    ),
    commands: { lines: ['npx influencer-sync rejected'] },
  });
}

function describeRejectedRow(row: RejectedRowInFile, source: string): Fault {
  const { uri, line, column, value, reason, help } = row;
  const place = `${fileName(uri)} line ${formatCount(line)}${column === null ? '' : `, column ${column}`}`;
  return { kind: 'fault', place, value, source, reason, help };
}
