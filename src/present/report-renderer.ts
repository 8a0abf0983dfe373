import type { RunReport } from '../model/report.ts';
import type { RunFinished } from '../model/run.ts';
import { wrap } from '../model/text/wrap.ts';
import type { Screen } from './screen.ts';

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
  /** What a program is told before `run_finished`. */
  events(report: Report): readonly Readonly<Record<string, unknown>>[];
  /** The summary below its title; empty ones are left out. The first begins right under the title. */
  sections(summary: RunSummary<Report>, screen: Screen): readonly string[];
};

/** What a run came to: its title, why it stopped if it did, and what its kind of job tells. */
export function renderRunSummary(
  summary: RunSummary,
  { renderer, screen }: { readonly renderer: ReportRenderer; readonly screen: Screen },
): string {
  const sections = renderer.sections(summary, screen);
  const shown = sections.filter((section) => section !== '').join('\n\n');
  return `${renderTitle(summary, screen)}\n${shown}\n`;
}

const STATUS_WORDS = {
  ok: ['green', 'ok'],
  issues: ['yellow', 'done, with something for you to look at'],
  failed: ['red', 'failed'],
  interrupted: ['yellow', 'interrupted: the next run goes on from here'],
} as const;

function renderTitle({ finished, isPlan = false, problem = null }: RunSummary, screen: Screen): string {
  const [color, words] = STATUS_WORDS[finished.status];
  const name = isPlan ? `Plan of ${finished.job}` : `Run ${finished.run_id} of ${finished.job}`;
  const title = `${screen.style('bold', name)}: ${screen.style([color, 'bold'], isPlan ? 'nothing was sent' : words)}`;
  if (problem === null) return title;
  return `${title}\n${screen.style('red', wrap(problem, { width: screen.columns, indent: '' }))}`;
}
