import type { Finding } from '../core/finding.ts';
import { wrap } from '../core/text/wrap.ts';
import type { Terminal } from '../render/terminal.ts';
import { plural } from '../render/text.ts';

const MARKS = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  problem: ['✗', 'red'],
} as const;

/** Renders a finding. For a problem or warning, adds why it matters and how to fix it. */
export function renderFinding({ status, about, what, why, fix }: Finding, terminal: Terminal): string {
  const [mark, color] = MARKS[status];
  const width = terminal.columns;
  const text = wrap(`${about === undefined ? '' : `${about}: `}${what}`, {
    width: width - 2,
    indent: '    ',
    firstIndent: '',
  });
  const more = [why, fix].map((part) =>
    part === undefined ? '' : `\n${wrap(part, { width, indent: '    ' })}`,
  );
  return `${terminal.style([color, 'bold'], mark)} ${text}${terminal.style('dim', more[0] ?? '')}${terminal.style('cyan', more[1] ?? '')}`;
}

/** The last line: the number of problems and warnings, and whether a run can start. */
export function renderVerdict(
  { warning, problem, isBusy }: Readonly<Record<Finding['status'], number>> & { readonly isBusy: boolean },
  terminal: Terminal,
): string {
  if (problem === 0 && warning === 0) return terminal.style(['green', 'bold'], '\nNo problems found.');
  const parts = [
    problem === 0 ? '' : plural(problem, 'problem'),
    warning === 0 ? '' : plural(warning, 'warning'),
  ].filter((part) => part !== '');
  const next =
    problem > 0
      ? 'Fix the problems and run the command again.'
      : isBusy
        ? 'Another run can start when the one at work has ended.'
        : 'A run can start.';
  return `\n${terminal.style([problem > 0 ? 'red' : 'yellow', 'bold'], parts.join(', '))}. ${next}`;
}
