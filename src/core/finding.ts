import type { KnownErrorDetails } from './known-error.ts';

/** The result of one check of a deployment. Contains no secret, no row value and no address. */
export type Finding = {
  /**
   * `warning`: it works, but may stop working or hides a risk. `problem`: a job would fail, or money is at
   * risk.
   */
  readonly status: 'ok' | 'warning' | 'problem';
  /** What was checked, for example `source shop-orders`. By default, the name of the check. */
  readonly about?: string;
  /** What was found, in one sentence. */
  readonly what: string;
  /** Why it matters. Omitted for `ok`. */
  readonly why?: string;
  /** Set if a run cannot start before the one at work has ended. */
  readonly isBusy?: true;
  /** How to fix it. Omitted for `ok`. */
  readonly fix?: string;
};

export function ok(what: string): Finding {
  return { status: 'ok', what };
}

export function warning(what: string, why: string, fix: string): Finding {
  return { status: 'warning', what, why, fix };
}

export function problem(what: string, why: string, fix: string): Finding {
  return { status: 'problem', what, why, fix };
}

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
