import { type ProgressState, renderDone } from './progress-line.ts';
import { formatCount } from './text.ts';

/** So many short steps of one kind in a row are told one by one; the others are summed up. */
const TOLD_ONE_BY_ONE = 10;
const SHORT_MS = 1_000;
/** A sum is told after so long, so that a log shows that something moves. */
const SUM_EVERY_MS = 30_000;

/** Tells of steps that have ended. */
export type StepTeller = {
  ended(state: ProgressState): void;
  /** Tells what is summed up so far: before anything of another kind, and at the end. */
  flush(): void;
};

/** Ten thousand small files are not ten thousand lines: `and 9,990 more: 1.0 MB, 9,990 rows in 2 min`. */
export function createStepTeller(write: (line: string) => void): StepTeller {
  let name: string | null = null;
  let inARow = 0;
  let steps = 0;
  let sum: ProgressState | null = null;

  function flush(): void {
    if (sum !== null) write(renderDone(sum));
    sum = null;
    steps = 0;
  }

  return {
    flush,
    ended(state) {
      const isShort = state.elapsedMs < SHORT_MS;
      if (state.step.name !== name || !isShort) {
        flush();
        inARow = 0;
      }
      name = state.step.name;
      inARow += 1;
      if (!isShort || inARow <= TOLD_ONE_BY_ONE) {
        write(renderDone(state));
        return;
      }
      steps += 1;
      sum = {
        step: { ...state.step, label: `and ${formatCount(steps)} more` },
        done: state.done + (sum?.done ?? 0),
        rows: state.rows + (sum?.rows ?? 0),
        elapsedMs: state.elapsedMs + (sum?.elapsedMs ?? 0),
      };
      if (sum.elapsedMs >= SUM_EVERY_MS) flush();
    },
  };
}
