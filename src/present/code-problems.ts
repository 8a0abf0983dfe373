import type { CodeProblem } from '../model/report.ts';
import { wrap } from '../model/text/wrap.ts';
import type { Screen } from './screen.ts';
import { heading } from './sections.ts';
import { cut, formatCount } from './text.ts';

/** A summary shows so many and counts the rest. */
const SHOWN = 10;

/** Rows of codes.csv that could not be used: line, column, value, what is wrong, how to fix it. Empty when there are none. */
export function renderCodeProblems(problems: readonly CodeProblem[], screen: Screen): string {
  if (problems.length === 0) return '';
  const lines = problems.slice(0, SHOWN).flatMap(({ line, column, value, reason, help }) => {
    // What an event of the service told of stands in no line.
    const source = line > 0 ? `codes.csv line ${formatCount(line)}` : 'told by an event';
    const place = `${source}${column === null ? '' : `, column ${column}`}`;
    return [
      `  ${screen.style('bold', place)}${value === null ? '' : ` ${JSON.stringify(cut(value, 40))}`}`,
      wrap(reason, { width: screen.columns, indent: '    ' }),
      screen.style('cyan', wrap(help, { width: screen.columns, indent: '    ' })),
    ];
  });
  const more = problems.length - SHOWN;
  return [
    heading('Rows of codes.csv to fix', problems.length, '', screen),
    ...lines,
    ...(more > 0 ? [`  and ${formatCount(more)} more`] : []),
  ].join('\n');
}
