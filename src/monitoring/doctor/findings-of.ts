import type { Finding } from '../../core/finding.ts';
import type { KnownErrorDetails } from '../../core/known-error.ts';

/** Converts a known error to findings: one for each of its problems, or one for the error itself. */
export function findingsOf(about: string, details: KnownErrorDetails): readonly Finding[] {
  const at = (where: string | undefined): string => (where === undefined ? '' : ` (${where})`);
  const { problems = [], message, where, help } = details;
  if (problems.length === 0) return [{ status: 'problem', about, what: message + at(where), fix: help }];
  return problems.map((problem) => ({
    status: 'problem',
    about,
    // The first line describes the problem. A line of the file may follow.
    what: problem.message.replace(/$|\n/, (end) => at(problem.where) + end),
    fix: problem.help,
  }));
}
