import {
  type CodeProblem,
  type FileCounts,
  type FileDetails,
  MOST_UNUSED_ROWS,
  type RunReport,
} from '../core/report.ts';
import type { RunFinished } from '../core/run.ts';
import { fileName } from '../core/text/file-name.ts';
import { maskAddresses } from '../core/text/mask-addresses.ts';
import { wrap } from '../core/text/wrap.ts';
import { type Block, type CountsBlock, say } from './block.ts';
import { formatSum, renderBlocks } from './render-blocks.ts';
import type { Terminal } from './terminal.ts';
import { clause, plural } from './text.ts';

export type RunSummary<Report extends RunReport = RunReport> = {
  readonly finished: RunFinished;
  readonly report: Report;
  /** Whether it was a plan: nothing was sent, so the text says what would be sent. */
  readonly isPlan?: boolean;
  /** Why the run stopped early, in one sentence. */
  readonly problem?: string | null;
};

/** Describes the reports of one kind of job. What it read, and whether its sums add up, is said for all of them. */
export type ReportRenderer<Report extends RunReport = RunReport> = {
  /** What a run did, in a few words for lists of runs: `32 posted`. */
  did(counts: Report['counts']): string;
  /**
   * The tally of the run: what became of each item of the job. Null if it has nothing that adds up.
   * @param more.details for the notes beside the counts; they are not stored with a run.
   */
  tally(
    counts: Report['counts'],
    more?: { readonly isPlan?: boolean; readonly details?: Report['details'] },
  ): CountsBlock | null;
  /** What needs a person besides files and codes, as clauses with counts: `2 orders need your attention`. */
  attention(report: Report): readonly string[];
  /** The events for programs, before `run_finished`, besides those about files and codes. */
  events?(report: Report): readonly Readonly<Record<string, unknown>>[];
  blocks(summary: RunSummary<Report>): readonly Block[];
};

type Described = { readonly renderer: ReportRenderer };

/** Renders the summary of a run: its title, why it stopped if it did, and its results. */
export function renderRunSummary(
  summary: RunSummary,
  { renderer, terminal }: Described & { readonly terminal: Terminal },
): string {
  return `${renderTitle(summary, { renderer, terminal })}\n${renderBlocks(describeRun(summary, renderer), terminal)}\n`;
}

/** Describes the results of a run: what it read, its tally, what its kind adds, and whether the sums add up. */
export function describeRun(summary: RunSummary, renderer: ReportRenderer): readonly Block[] {
  const { report, isPlan = false } = summary;
  const tally = renderer.tally(report.counts, { isPlan, details: report.details });
  return [
    ...describeRead(report),
    ...(tally === null || tally.lines.length === 0 ? [] : [tally]),
    ...renderer.blocks(summary),
    ...(tally === null ? [] : [describeSums(tally, report)]),
    ...describeUnusedRows(report),
  ];
}

/** What the reports of kinds that read files, or codes.csv, have in addition. */
type MaybeFiles = {
  readonly counts: Partial<FileCounts>;
  readonly details: Partial<FileDetails & { readonly codeProblems: readonly CodeProblem[] }>;
};

/** Describes how much a run has read. */
function describeRead({ counts, details }: MaybeFiles): readonly Block[] {
  const { files, rows = 0 } = counts;
  if (files === undefined) return [];
  const again = clause(details.duplicateFiles ?? 0, 'file', 'files').map(
    (duplicates) => `${duplicates} with content that was read before`,
  );
  return [say(`Read ${[plural(files, 'file'), plural(rows, 'row'), ...again].join(', ')}.`)];
}

const SHOWN_FILES = 3;

/** Says which rows that earlier runs rejected are still not used. They change neither the outcome nor the exit code. */
function describeUnusedRows({ details: { unusedRows = [] } }: MaybeFiles): readonly Block[] {
  const files = unusedRows.slice(0, SHOWN_FILES).map(({ uri }) => maskAddresses(fileName(uri)));
  const rest = unusedRows.length - files.length;
  const of = rest > 0 ? [...files, plural(rest, 'more file')] : files;
  const counted = unusedRows.reduce((sum, one) => sum + one.rows, 0);
  const least = counted < MOST_UNUSED_ROWS ? '' : 'at least ';
  return clause(counted, 'row', 'rows').map((count) =>
    say(`Rejected by earlier runs, and still not used: ${least}${count} of ${of.join(', ')}.`, {
      tone: 'dim',
      commands: { lines: ['npx influencer-sync rejected'] },
    }),
  );
}

/** States whether the numbers of a run add up. Every summary contains this, so that a reader need not check. */
function describeSums(tally: CountsBlock, { sumsAddUp }: RunReport): Block {
  const equation = formatSum(tally);
  if (sumsAddUp) return say(`The sums add up: ${equation}.`, { tone: 'dim' });
  const text = `THE SUMS DO NOT ADD UP: ${equation}, or other numbers of this run. Please report this. Nothing is sent twice because of it.`;
  return say(text, { tone: 'alarm' });
}

/** The events of a run for programs, before `run_finished`. */
export function eventsOf(report: RunReport, renderer: ReportRenderer): readonly object[] {
  const { codeProblems = [], warnings = [], unusedRows = [] }: MaybeFiles['details'] = report.details;
  return [
    ...(renderer.events?.(report) ?? []),
    ...codeProblems.map((problem) => ({ event: 'code_problem', ...problem })),
    ...warnings.map((finding) => ({ event: 'check_finding', ...finding })),
    ...unusedRows.map(({ source, uri, rows }) => ({
      event: 'rows_unused',
      source,
      file: maskAddresses(fileName(uri)),
      rows,
    })),
  ];
}

const STATUS_WORDS = {
  ok: ['green', 'ok'],
  issues: ['yellow', 'finished with warnings'],
  failed: ['red', 'failed'],
  interrupted: ['yellow', 'interrupted; the next run continues'],
} as const;

/** The outcome of a run: `ok`, or `finished; 4 rows were rejected and 2 orders need your attention`. */
export function describeOutcome(
  { finished, report }: Pick<RunSummary, 'finished' | 'report'>,
  renderer: ReportRenderer,
): string {
  const [, words] = STATUS_WORDS[finished.status];
  const clauses =
    finished.status === 'issues' ? [...attentionToFiles(report), ...renderer.attention(report)] : [];
  return clauses.length === 0 ? words : `finished; ${clauses.join(', ').replace(/, (?=[^,]*$)/, ' and ')}`;
}

function attentionToFiles({ counts, details }: MaybeFiles): readonly string[] {
  const { heldFiles = [], codeProblems = [] } = details;
  const unused = codeProblems.filter(({ line }) => line === 1);
  return [
    ...clause(counts.rejected_rows ?? 0, 'row was rejected', 'rows were rejected'),
    ...clause(heldFiles.length, 'file is held', 'files are held'),
    ...clause(unused.length, 'column of codes.csv is not used', 'columns of codes.csv are not used'),
    ...clause(
      codeProblems.length - unused.length,
      'row of codes.csv needs correction',
      'rows of codes.csv need correction',
    ),
  ];
}

function renderTitle(
  { finished, report, isPlan = false, problem = null }: RunSummary,
  { renderer, terminal }: Described & { readonly terminal: Terminal },
): string {
  const [color] = STATUS_WORDS[finished.status];
  const outcome = describeOutcome({ finished, report }, renderer);
  const name = isPlan ? `Plan of ${finished.job}` : `Run ${finished.run_id} of ${finished.job}`;
  const title = `${name}: ${isPlan ? 'nothing was sent' : outcome}`;
  const [first = '', ...more] = wrap(title, { width: terminal.columns, indent: '  ', firstIndent: '' }).split(
    '\n',
  );
  const styled = [
    `${terminal.style('bold', `${name}:`)}${terminal.style([color, 'bold'], first.slice(name.length + 1))}`,
    ...more.map((line) => terminal.style([color, 'bold'], line)),
  ].join('\n');
  if (problem === null) return styled;
  return `${styled}\n${terminal.style('red', wrap(problem, { width: terminal.columns, indent: '' }))}`;
}
