import type { RunReport } from '../core/report.ts';
import type { RunFinished } from '../core/run.ts';
import { wrap } from '../core/text/wrap.ts';
import type { Block, Sum } from './block.ts';
import { renderBlocks } from './render-blocks.ts';
import type { Terminal } from './terminal.ts';

export type RunSummary<Report extends RunReport = RunReport> = {
  readonly finished: RunFinished;
  readonly report: Report;
  /** Whether it was a plan: nothing was sent, so the text says what would be sent. */
  readonly isPlan?: boolean;
  /** Why the run stopped early, in one sentence. */
  readonly problem?: string | null;
};

/** Renders the reports of one kind of job. */
export type ReportRenderer<Report extends RunReport = RunReport> = {
  /** What a run did, in a few words for lists of runs: `32 posted`. */
  did(counts: Report['counts']): string;
  /** The accounting of the run; null if it has nothing that adds up. */
  sum(counts: Report['counts'], isPlan?: boolean): Sum | null;
  /** What needs a person, as clauses with counts: `4 rows were rejected`. Empty if nothing does. */
  attention(report: Report): readonly string[];
  /** The events for programs, before `run_finished`. */
  events(report: Report): readonly Readonly<Record<string, unknown>>[];
  /** The results of the run, shown below the title on a terminal, and on a page. */
  blocks(summary: RunSummary<Report>): readonly Block[];
};

/** Renders the summary of a run: its title, why it stopped if it did, and the results of its kind of job. */
export function renderRunSummary(
  summary: RunSummary,
  { renderer, terminal }: { readonly renderer: ReportRenderer; readonly terminal: Terminal },
): string {
  return `${renderTitle(summary, { renderer, terminal })}\n${renderBlocks(renderer.blocks(summary), terminal)}\n`;
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
  const clauses = finished.status === 'issues' ? renderer.attention(report) : [];
  return clauses.length === 0 ? words : `finished; ${inOneSentence(clauses)}`;
}

function renderTitle(
  { finished, report, isPlan = false, problem = null }: RunSummary,
  { renderer, terminal }: { readonly renderer: ReportRenderer; readonly terminal: Terminal },
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

/** Joins clauses: `a`, `a and b`, `a, b and c`. */
function inOneSentence(clauses: readonly string[]): string {
  return clauses.join(', ').replace(/, (?=[^,]*$)/, ' and ');
}
