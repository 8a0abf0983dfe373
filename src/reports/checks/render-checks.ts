import type { CheckFinding } from '../../core/checks/check-result.ts';
import type { ExpectedDate } from '../../core/checks/expectations.ts';
import { fileName } from '../../core/text/file-name.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { renderBlocks } from '../../render/render-blocks.ts';
import { renderTable } from '../../render/table.ts';
import type { Terminal } from '../../render/terminal.ts';
import { plural } from '../../render/text.ts';
import { describeFindings } from './describe-findings.ts';
import type { Arrival } from './judge-arrivals.ts';
import type { CheckedFile } from './read-checks.ts';

/** Whether a new file of a source arrived by its deadline. */
export type FreshnessLine = {
  readonly source: string;
  readonly verdict: 'ok' | 'late' | 'not_judged';
  /** When the latest file arrived; null if there is none. */
  readonly seen: Date | null;
  /** The expected time, as text. */
  readonly expected: string;
};

export function toFreshnessLine({ source, arrivedAt, ...judged }: Arrival): FreshnessLine {
  const expected =
    judged.verdict === 'not_judged'
      ? 'no deadline has passed, or it is on an expected date'
      : `after ${formatInstant(judged.since).slice(0, 16)}, by ${formatInstant(judged.deadline).slice(0, 16)}`;
  return { source, verdict: judged.verdict, seen: arrivedAt, expected };
}

export type ChecksInput = {
  readonly files: readonly CheckedFile[];
  readonly freshness: readonly FreshnessLine[];
  readonly findings: readonly CheckFinding[];
  readonly expectedDates: readonly ExpectedDate[];
};

/** Display names of verdicts that differ from their identifier. */
export const VERDICT_WORDS: Readonly<Record<string, string>> = { not_judged: 'not judged' };

/** Renders the checks of each source. Findings come last, next to the prompt. */
export function renderChecks(input: ChecksInput, terminal: Terminal): string {
  const { files, freshness, findings, expectedDates } = input;
  if (files.length + freshness.length === 0) return 'No file was checked yet. Run a job first.\n';
  const dates = expectedDates.map(
    ({ day, name, source }) => `  ${day}  ${name}${source === null ? '' : ` (source ${source})`}`,
  );
  const sections = [
    ...files.map((file) => renderFile(file, terminal)),
    renderFreshness(freshness, terminal),
    dates.length === 0 ? '' : [terminal.style('bold', 'Expected dates'), ...dates].join('\n'),
    findings.length === 0
      ? terminal.style('dim', 'Nothing is unusual.')
      : renderBlocks(describeFindings(findings), terminal),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function renderFile(
  { source, readFor, uri, arrivedAt, learntFrom, results }: CheckedFile,
  terminal: Terminal,
) {
  const title = terminal.style('bold', `${source}, read for ${readFor}`);
  const about = `${fileName(uri)}, arrived ${formatInstant(arrivedAt).slice(0, 16)} UTC; ${plural(learntFrom, 'file')} to learn from`;
  const columns = [
    { title: 'check', cutAt: 'never' },
    { title: 'verdict', cutAt: 'never' },
    { title: 'seen' },
    { title: 'expected' },
  ] as const;
  const rows = results.map(({ check, subject, verdict, seen, expected }) => [
    subject === null ? check : `${check} ${subject}`,
    VERDICT_WORDS[verdict] ?? verdict,
    seen,
    expected,
  ]);
  return `${title}\n${about}\n${renderTable(columns, rows, { terminal })}`.trimEnd();
}

function renderFreshness(lines: readonly FreshnessLine[], terminal: Terminal): string {
  if (lines.length === 0) return '';
  const columns = [
    { title: 'source' },
    { title: 'verdict' },
    { title: 'latest file (UTC)' },
    { title: 'expected' },
  ] as const;
  const rows = lines.map(({ source, verdict, seen, expected }) => [
    source,
    VERDICT_WORDS[verdict] ?? verdict,
    seen === null ? 'none' : formatInstant(seen).slice(0, 16),
    expected,
  ]);
  return `${terminal.style('bold', 'Freshness')}\n${renderTable(columns, rows, { terminal })}`.trimEnd();
}
