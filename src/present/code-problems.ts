import type { CodeProblem } from '../model/report.ts';
import type { Section } from './blocks/block.ts';
import { clause, formatCount } from './text.ts';

/** A summary shows so many and counts the rest. */
const SHOWN = 10;

/** Rows of codes.csv that could not be used: line, column, value, what is wrong, how to fix it. */
export function describeCodeProblems(problems: readonly CodeProblem[]): readonly Section[] {
  if (problems.length === 0) return [];
  const parts = problems.slice(0, SHOWN).map(({ line, column, value, reason, help }) => {
    // What an event of the service says stands in no line.
    const file = line > 0 ? `codes.csv line ${formatCount(line)}` : 'from an event';
    const place = `${file}${column === null ? '' : `, column ${column}`}`;
    return { kind: 'fault', place, value, source: null, reason, help } as const;
  });
  const count = problems.length;
  return [{ kind: 'section', title: 'Rows of codes.csv to fix', count, parts, shown: parts.length }];
}

/** `2 rows of codes.csv need correction`. */
export function attentionToCodes(problems: readonly CodeProblem[]): readonly string[] {
  return clause(problems.length, 'row of codes.csv needs correction', 'rows of codes.csv need correction');
}

/** What a program is told of them. */
export function codeProblemEvents(problems: readonly CodeProblem[]) {
  return problems.map((problem) => ({ event: 'code_problem', ...problem }));
}
