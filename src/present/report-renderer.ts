import type { RunReport } from '../model/report.ts';
import type { RunFinished } from '../model/run.ts';
import { wrap } from '../model/text/wrap.ts';
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

/** How the report of one kind of job is shown. */
export type ReportRenderer<Report extends RunReport = RunReport> = {
  /** What a run did, in a few words, for lists of runs: `32 posted`. */
  did(counts: Report['counts']): string;
  /** What needs a person, each as a clause with its count: `4 rows were rejected`. Empty when nothing does. */
  attention(report: Report): readonly string[];
  /** What a program is told before `run_finished`. */
  events(report: Report): readonly Readonly<Record<string, unknown>>[];
  /** The summary below its title; empty ones are left out. The first begins right under the title. */
  sections(summary: RunSummary<Report>, terminal: Terminal): readonly string[];
};

/** What a run came to: its title, why it stopped if it did, and what its kind of job tells. */
export function renderRunSummary(
  summary: RunSummary,
  { renderer, terminal }: { readonly renderer: ReportRenderer; readonly terminal: Terminal },
): string {
  const sections = renderer.sections(summary, terminal);
  const shown = sections.filter((section) => section !== '').join('\n\n');
  return `${renderTitle(summary, { renderer, terminal })}\n${shown}\n`;
}

const STATUS_WORDS = {
  ok: ['green', 'ok'],
  issues: ['yellow', 'finished with warnings'],
  failed: ['red', 'failed'],
  interrupted: ['yellow', 'interrupted; the next run continues from here'],
} as const;

function renderTitle(
  { finished, report, isPlan = false, problem = null }: RunSummary,
  { renderer, terminal }: { readonly renderer: ReportRenderer; readonly terminal: Terminal },
): string {
  const [color, words] = STATUS_WORDS[finished.status];
  const clauses = finished.status === 'issues' ? renderer.attention(report) : [];
  const outcome = clauses.length === 0 ? words : `finished; ${inOneSentence(clauses)}`;
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
