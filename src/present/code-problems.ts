import type { CodeProblem } from '../model/report.ts';
import { wrap } from '../model/text/wrap.ts';
import { renderSection } from './sections.ts';
import type { Terminal } from './terminal.ts';
import { clause, cut, formatCount } from './text.ts';

/** A summary shows so many and counts the rest. */
const SHOWN = 10;

/** Rows of codes.csv that could not be used: line, column, value, what is wrong, how to fix it. Empty when there are none. */
export function renderCodeProblems(problems: readonly CodeProblem[], terminal: Terminal): string {
  if (problems.length === 0) return '';
  const lines = problems.slice(0, SHOWN).flatMap(({ line, column, value, reason, help }) => {
    // What an event of the service told of stands in no line.
    const source = line > 0 ? `codes.csv line ${formatCount(line)}` : 'told by an event';
    const place = `${source}${column === null ? '' : `, column ${column}`}`;
    return [
      `  ${terminal.style('bold', place)}${value === null ? '' : ` ${JSON.stringify(cut(value, 40))}`}`,
      wrap(reason, { width: terminal.columns, indent: '    ' }),
      terminal.style('cyan', wrap(help, { width: terminal.columns, indent: '    ' })),
    ];
  });
  return renderSection(
    {
      title: 'Rows of codes.csv to fix',
      count: problems.length,
      lines,
      shown: Math.min(problems.length, SHOWN),
    },
    terminal,
  );
}

/** `2 rows of codes.csv need correction`. */
export function attentionToCodes(problems: readonly CodeProblem[]): readonly string[] {
  return clause(problems.length, 'row of codes.csv needs correction', 'rows of codes.csv need correction');
}

/** What a program is told of them. */
export function codeProblemEvents(problems: readonly CodeProblem[]) {
  return problems.map((problem) => ({ event: 'code_problem', ...problem }));
}
