import type { Finding } from '../model/finding.ts';
import { wrap } from '../model/text/wrap.ts';
import type { Screen } from './screen.ts';
import { plural } from './text.ts';

const MARKS = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  problem: ['✗', 'red'],
} as const;

/** A finding: what, and where it is not well, why that matters and how to fix it. */
export function renderFinding({ status, about, what, why, fix }: Finding, screen: Screen): string {
  const [mark, color] = MARKS[status];
  const width = screen.columns;
  const text = wrap(`${about}: ${what}`, { width: width - 2, indent: '    ', firstIndent: '' });
  const more = [why, fix].map((part) =>
    part === undefined ? '' : `\n${wrap(part, { width, indent: '    ' })}`,
  );
  return `${screen.style([color, 'bold'], mark)} ${text}${screen.style('dim', more[0] ?? '')}${screen.style('cyan', more[1] ?? '')}`;
}

/** The last line: how many of each. */
export function renderVerdict(
  { warning, problem }: Readonly<Record<Finding['status'], number>>,
  screen: Screen,
): string {
  if (problem === 0 && warning === 0) return screen.style(['green', 'bold'], '\nNo problems found.');
  const parts = [
    problem === 0 ? '' : plural(problem, 'problem'),
    warning === 0 ? '' : plural(warning, 'warning'),
  ].filter((part) => part !== '');
  return `\n${screen.style([problem > 0 ? 'red' : 'yellow', 'bold'], parts.join(', '))}${problem > 0 ? '. Fix the problems and run doctor again.' : '. A run can start.'}`;
}
