import type { ReportRenderer, RunSummary } from './report-renderer.ts';
import type { Screen } from './screen.ts';
import { wrap } from './text.ts';

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
