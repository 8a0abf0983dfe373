import type { Progress } from '../core/progress.ts';
import { type EndedStatement, inPhase } from '../db/phase.ts';

export type RunPhaseOptions = {
  readonly progress: Progress;
  /** Aborts when the run has to end. Its statements then have a few seconds left. */
  readonly draining: AbortSignal;
  /** Aborts when the run is abandoned. Its statements are then cancelled. */
  readonly abandoned?: AbortSignal;
  /** Called with each statement of the work. */
  readonly onStatement?: (statement: EndedStatement) => void;
};

/**
 * Runs work whose statements end with the run and carry the name of the current step, so that messages about
 * slow statements and lock waits name the step.
 *
 * @param work receives the progress through which it must report its steps.
 */
export function inRunPhase<Result>(
  { progress, draining, abandoned, onStatement }: RunPhaseOptions,
  work: (progress: Progress) => Promise<Result>,
): Promise<Result> {
  let step = 'Starting the run';
  const phase = {
    name: () => step,
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
