import { type EndedStatement, inPhase } from '../../db/phase.ts';
import type { Progress } from '../../model/progress.ts';

export type RunPhaseOptions = {
  readonly progress: Progress;
  /** Aborts when the run is to end: its statements then have some seconds left. */
  readonly draining: AbortSignal;
  /** Aborts when the run is given up: its statements are cancelled. */
  readonly abandoned?: AbortSignal;
  /** Told of each statement of the work. */
  readonly onStatement?: (statement: EndedStatement) => void;
};

/**
 * Runs work whose statements are named after the step it is in, so that one that is too slow, or waits for a lock, says in which step; and
 * that ends with the run.
 *
 * @param work gets the progress to tell its steps.
 */
export function inRunPhase<Result>(
  { progress, draining, abandoned, onStatement }: RunPhaseOptions,
  work: (progress: Progress) => Promise<Result>,
): Promise<Result> {
  let step = 'Starting the run';
  const phase = {
    get name() {
      return step;
    },
    draining,
    abandoned: abandoned ?? null,
    note: (message: string) => progress.note(message),
    onStatement: onStatement ?? null,
  };
  const named: Progress = {
    begin(begun) {
      step = begun.label;
      progress.begin(begun);
    },
    advance: (count, rows) => progress.advance(count, rows),
    note: (message) => progress.note(message),
    end: () => progress.end(),
  };
  return inPhase(phase, () => work(named));
}
