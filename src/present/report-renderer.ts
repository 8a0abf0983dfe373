import type { RunReport } from '../model/report.ts';
import type { RunFinished } from '../model/run.ts';
import { wrap } from '../model/text/wrap.ts';
import type { Block, Sum } from './blocks/block.ts';
import { renderBlocks } from './blocks/render-blocks.ts';
import type { Terminal } from './terminal.ts';

export type RunSummary<Report extends RunReport = RunReport> = {
  readonly finished: RunFinished;
  readonly report: Report;
  /** What a person types after `npx influencer-sync …` to name the configuration, with a blank before it; empty for the default one. */
  readonly configOption?: string;
  /** `plan`: nothing was sent, so the words are about what would be. */
  readonly isPlan?: boolean;
  /** Why the run stopped before its end, in one sentence. */
  readonly problem?: string | null;
};

/** What the report of one kind of job says. */
export type ReportRenderer<Report extends RunReport = RunReport> = {
  /** What a run did, in a few words, for lists of runs: `32 posted`. */
  did(counts: Report['counts']): string;
  /** What the run accounts for; null where it came to nothing that adds up. */
  sum(counts: Report['counts'], isPlan?: boolean): Sum | null;
  /** What needs a person, each as a clause with its count: `4 rows were rejected`. Empty when nothing does. */
  attention(report: Report): readonly string[];
  /** What a program is told before `run_finished`. */
  events(report: Report): readonly Readonly<Record<string, unknown>>[];
  /** What the run came to, part by part: drawn on a terminal below the title, and on a page. */
  blocks(summary: RunSummary<Report>): readonly Block[];
};

/** What a run came to: its title, why it stopped if it did, and what its kind of job tells. */
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

/** `ok`; `finished; 4 rows were rejected and 2 orders need your attention`. */
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

/** `a`, `a and b`, `a, b and c`. */
function inOneSentence(clauses: readonly string[]): string {
  return clauses.join(', ').replace(/, (?=[^,]*$)/, ' and ');
}
