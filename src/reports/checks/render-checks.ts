import type { CheckFinding } from '../../core/checks/check-result.ts';
import type { ExpectedDate } from '../../core/checks/expectations.ts';
import { fileName } from '../../core/text/file-name.ts';
import { formatMinute } from '../../core/text/format-instant.ts';
import {
  type Block,
  column,
  item,
  type Part,
  type Section,
  say,
  section,
  table,
  whole,
} from '../../render/block.ts';
import { plural } from '../../render/text.ts';
import type { Arrival, CheckedFile } from './read-checks.ts';

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
      : `after ${formatMinute(judged.since)}, by ${formatMinute(judged.deadline)}`;
  return { source, verdict: judged.verdict, seen: arrivedAt, expected };
}

export type ChecksInput = {
  readonly files: readonly CheckedFile[];
  readonly freshness: readonly FreshnessLine[];
  readonly findings: readonly CheckFinding[];
  readonly expectedDates: readonly ExpectedDate[];
};

/** Describes the checks of each source. Findings come last, next to the prompt. */
export function describeChecks({ files, freshness, findings, expectedDates }: ChecksInput): readonly Block[] {
  if (files.length + freshness.length === 0) return [say('No file was checked yet. Run a job first.')];
  return [
    ...files.flatMap(({ source, readFor, uri, arrivedAt, learntFrom, results }) =>
      section(`${source}, read for ${readFor}`, {
        why: `${fileName(uri)}, arrived ${formatMinute(arrivedAt)} UTC; ${plural(learntFrom, 'file')} to learn from`,
        parts: [
          ...(results.length === 0 ? [item('No check applies to this file.')] : []),
          table(results, [
            whole('check', ({ check, subject }) => (subject === null ? check : `${check} ${subject}`)),
            whole('verdict', ({ verdict }) => verdict.replaceAll('_', ' ')),
            column('seen', ({ seen }) => seen),
            column('expected', ({ expected }) => expected),
          ]),
        ],
      }),
    ),
    ...section('Freshness', {
      parts: table(freshness, [
        column('source', ({ source }) => source),
        column('verdict', ({ verdict }) => verdict.replaceAll('_', ' ')),
        column('latest file (UTC)', ({ seen }) => formatMinute(seen) || 'none'),
        column('expected', ({ expected }) => expected),
      ]),
    }),
    ...section('Expected dates', {
      parts: expectedDates.map(({ day, name, source }) =>
        item(`${day}  ${name}${source === null ? '' : ` (source ${source})`}`),
      ),
    }),
    ...(findings.length === 0 ? [say('Nothing is unusual.', { tone: 'dim' })] : describeFindings(findings)),
  ];
}

/** Describes findings of checks and, unless nothing of them is stored, how to acknowledge them. */
export function describeFindings(
  findings: readonly CheckFinding[],
  { isStored = true }: { isStored?: boolean } = {},
): readonly Section[] {
  const alike = (title: string, note: string, some: readonly CheckFinding[]): readonly Section[] => {
    const command = `npx influencer-sync checks acknowledge ${some[0]?.findingId} --reason '…'`;
    return section(title, {
      count: some.length,
      note,
      parts: some.map(describeFinding),
      commands: isStored ? { about: 'if a file is correct', lines: [command] } : null,
    });
  };
  const isHeld = ({ verdict }: CheckFinding) => verdict === 'held';
  return [
    ...alike('Held by checks', 'nothing in these files counts', findings.filter(isHeld)),
    ...alike(
      'Unusual files',
      'these files count; check that they are right',
      findings.filter((finding) => !isHeld(finding)),
    ),
  ];
}

/**
 * Describes a finding and the lines that show it: `#12 orders-2026-04-10.csv (source shop): The file has 12 rows; …`.
 */
function describeFinding({ findingId, uri, source, message, lines }: CheckFinding): Part {
  const where =
    lines.length === 0 ? '' : ` See ${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}.`;
  return item(`#${findingId} ${fileName(uri)} (source ${source}): ${message}${where}`);
}
