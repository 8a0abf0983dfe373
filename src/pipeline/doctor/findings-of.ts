import type { Finding } from '../../model/finding.ts';
import type { KnownErrorDetails } from '../../model/known-error.ts';

/** A known error as findings: each of its problems, else the error itself. */
export function findingsOf(about: string, details: KnownErrorDetails): readonly Finding[] {
  const at = (where: string | undefined): string => (where === undefined ? '' : ` (${where})`);
  const { problems = [], message, where, help } = details;
  if (problems.length === 0) return [{ status: 'problem', about, what: message + at(where), fix: help }];
  return problems.map((problem) => ({
    status: 'problem',
    about,
    // The first line says what is wrong; a line of the file may follow.
    what: problem.message.replace(/$|\n/, (end) => at(problem.where) + end),
    fix: problem.help,
  }));
}
