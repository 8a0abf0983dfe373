import type { CodeProblem } from '../../core/report.ts';
import type { Section } from '../../render/block.ts';
import { clause, formatCount } from '../../render/text.ts';

/** Number of problems that a summary lists; the rest are counted. */
const SHOWN = 10;

/** Describes rows of codes.csv that could not be used: line, column, value, reason and fix. */
export function describeCodeProblems(problems: readonly CodeProblem[]): readonly Section[] {
  if (problems.length === 0) return [];
  const parts = problems.slice(0, SHOWN).map(({ line, column, value, reason, help }) => {
    // Codes from an event of the service have no line.
    const file = line > 0 ? `codes.csv line ${formatCount(line)}` : 'from an event';
    const place = `${file}${column === null ? '' : `, column ${column}`}`;
    return { kind: 'fault', place, value, source: null, reason, help } as const;
  });
  const count = problems.length;
  return [{ kind: 'section', title: 'Rows of codes.csv to fix', count, parts, shown: parts.length }];
}

/** The clause for a summary: `2 rows of codes.csv need correction`. */
export function attentionToCodes(problems: readonly CodeProblem[]): readonly string[] {
  return clause(problems.length, 'row of codes.csv needs correction', 'rows of codes.csv need correction');
}

/** The events for programs. */
export function codeProblemEvents(problems: readonly CodeProblem[]) {
  return problems.map((problem) => ({ event: 'code_problem', ...problem }));
}
