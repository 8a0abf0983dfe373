import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import type { Finding } from '../../core/finding.ts';
import { wrap } from '../../core/text/wrap.ts';
import type { Terminal } from '../../render/terminal.ts';
import { plural } from '../../render/text.ts';
import type { Output } from './output.ts';

/** Shows findings as they come, and counts them. */
export function openFindings(output: Output) {
  const counts: Record<Finding['status'], number> = { ok: 0, warning: 0, problem: 0 };
  let isBusy = false;
  return {
    show(found: Finding): void {
      const { fix } = found;
      const finding = fix === undefined ? found : { ...found, fix: output.complete(fix) };
      counts[finding.status] += 1;
      isBusy ||= finding.isBusy === true;
      output.emit({ event: 'finding', ...finding });
      output.print(renderFinding(finding, output.terminal));
    },
    /**
     * Shows the counts at the end.
     *
     * @param options.sayRun whether everything that a run depends on was looked at, so that the last line says whether one
     *   can start.
     * @returns 2 if there is a problem.
     */
    end(event: string, { sayRun = false }: { sayRun?: boolean } = {}): ExitCode {
      output.emit({ event, ...counts });
      output.print(renderVerdict({ ...counts, isBusy, sayRun }, output.terminal));
      return counts.problem > 0 ? EXIT.configuration : EXIT.ok;
    },
  };
}

const MARKS = { ok: ['✓', 'green'], warning: ['!', 'yellow'], problem: ['✗', 'red'] } as const;

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
function renderVerdict(
  {
    warning,
    problem,
    isBusy,
    sayRun,
  }: Readonly<Record<Finding['status'], number>> & { readonly isBusy: boolean; readonly sayRun: boolean },
  terminal: Terminal,
): string {
  if (problem === 0 && warning === 0) return terminal.style(['green', 'bold'], '\nNo problems found.');
  const parts = [
    problem === 0 ? '' : plural(problem, 'problem'),
    warning === 0 ? '' : plural(warning, 'warning'),
  ].filter((part) => part !== '');
  const next =
    problem > 0
      ? ' Fix the problems and run the command again.'
      : !sayRun
        ? ''
        : isBusy
          ? ' Another run can start when the one at work has ended.'
          : ' A run can start.';
  return `\n${terminal.style([problem > 0 ? 'red' : 'yellow', 'bold'], parts.join(', '))}.${next}`;
}
