import { createRequire } from 'node:module';
import type { Options, SingleBar } from 'cli-progress';
import type { Progress, ProgressStep } from '../../core/progress.ts';
import { toPrintable, toPrintableLine } from '../../core/text/printable.ts';
import {
  createStepTeller,
  type ProgressState,
  percentOf,
  perSecond,
  renderBar,
  renderLine,
  secondsLeft,
} from '../../render/progress.ts';
import type { Terminal } from '../../render/terminal.ts';

type Clock = () => number;

/** Draws one step. `done` is called at its end. */
type Drawing = {
  begin(state: ProgressState): void;
  update(state: ProgressState): void;
  done(state: ProgressState): void;
  note(message: string): void;
  end?(): void;
};

/** Creates a progress bar that is redrawn in place, for a terminal. */
export function createBarProgress(
  stream: NodeJS.WritableStream,
  terminal: Terminal,
  now: Clock = monotonic,
): Progress {
  let current: ProgressState | null = null;
  let bar: SingleBar | null = null;
  const finish = (): void => {
    bar?.stop();
    bar = null;
  };
  const tell = createStepTeller((line) =>
    stream.write(`${terminal.style('green', '✓')} ${toPrintable(line)}\n`),
  );
  return track(now, {
    begin(state) {
      if (state.step.name !== current?.step.name) tell.flush();
      current = state;
      bar = createBar({
        stream,
        // Also redrawn between updates, so that a waiting run is seen to wait.
        format: () => toPrintableLine(renderBar(current ?? state, terminal.columns - 1)),
        fps: 8,
        hideCursor: true,
        clearOnComplete: true,
        emptyOnZero: true,
        gracefulExit: false,
      });
      bar.start(state.step.total ?? 0, 0);
    },
    update(state) {
      current = state;
      bar?.update(state.done);
    },
    done(state) {
      finish();
      tell.ended(state);
    },
    end: tell.flush,
    note(message) {
      const { step } = current ?? {};
      const wasDrawn = bar !== null;
      finish();
      stream.write(`${terminal.style('yellow', '!')} ${toPrintable(message)}\n`);
      if (wasDrawn && step !== undefined && current !== null) this.begin(current);
    },
  });
}

/** Loads the library with the first bar: most commands draw none. */
function createBar(options: Options): SingleBar {
  const { SingleBar } = createRequire(import.meta.url)('cli-progress') as typeof import('cli-progress');
  return new SingleBar(options);
}

/** A pipe or log gets a line after each 10 % or 30 s, whichever comes first, but at most one per second. */
const LINE_EVERY_MS = 30_000;
const LINE_AT_LEAST_MS = 1_000;
const LINE_EVERY_PERCENT = 10;

/** Creates a progress display that writes lines, for a log. */
export function createLineProgress(stream: NodeJS.WritableStream, now: Clock = monotonic): Progress {
  let lastMs = 0;
  let lastPercent = 0;
  let lastName = '';
  const tell = createStepTeller((line) => stream.write(`${toPrintable(line)}\n`));
  return track(now, {
    begin({ step }) {
      if (step.name !== lastName) tell.flush();
      lastName = step.name;
      lastMs = 0;
      lastPercent = 0;
    },
    update(state) {
      const percent = percentOf(state) ?? 0;
      const sinceMs = state.elapsedMs - lastMs;
      if (
        sinceMs < LINE_AT_LEAST_MS ||
        (sinceMs < LINE_EVERY_MS && percent < lastPercent + LINE_EVERY_PERCENT)
      )
        return;
      lastMs = state.elapsedMs;
      lastPercent = percent - (percent % LINE_EVERY_PERCENT);
      stream.write(`${toPrintable(renderLine(state))}\n`);
    },
    done: tell.ended,
    note: (message) => stream.write(`${toPrintable(message)}\n`),
    end: tell.flush,
  });
}

/** At most one event per second, because a program reads them. */
const EVENT_EVERY_MS = 1_000;

/** Creates a progress display for `--json`, with the events `step_began`, `progress`, `step_ended` and `note`. */
export function createEventProgress(
  emit: (event: Readonly<Record<string, unknown>>) => void,
  now: Clock = monotonic,
): Progress {
  let lastMs = 0;
  return track(now, {
    begin({ step }) {
      lastMs = 0;
      emit({ event: 'step_began', step: step.name, label: step.label, unit: step.unit, total: step.total });
    },
    update(state) {
      if (state.elapsedMs - lastMs < EVENT_EVERY_MS) return;
      lastMs = state.elapsedMs;
      emit({ event: 'progress', ...numbersOf(state), seconds_left: rounded(secondsLeft(state)) });
    },
    done: (state) =>
      emit({ event: 'step_ended', ...numbersOf(state), seconds: rounded(state.elapsedMs / 1_000) }),
    note: (message) => emit({ event: 'note', message }),
  });
}

function numbersOf(state: ProgressState): Record<string, unknown> {
  const { step, done, rows } = state;
  const counted = step.unit === 'bytes' ? { done, rows } : { done };
  return {
    step: step.name,
    unit: step.unit,
    total: step.total,
    ...counted,
    per_second: rounded(perSecond(state)),
  };
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 10) / 10;
}

function monotonic(): number {
  return performance.now();
}

/** Counts progress and passes it to the drawing. */
function track(now: Clock, drawing: Drawing): Progress {
  let step: ProgressStep | null = null;
  let done = 0;
  let rows = 0;
  let beganMs = 0;
  const state = (of: ProgressStep): ProgressState => ({ step: of, done, rows, elapsedMs: now() - beganMs });
  const finish = (): void => {
    if (step !== null) drawing.done(state(step));
    step = null;
  };
  return {
    begin(next) {
      finish();
      step = next;
      done = 0;
      rows = 0;
      beganMs = now();
      drawing.begin(state(next));
    },
    advance(count, moreRows = 0) {
      done += count;
      rows += moreRows;
      if (step !== null) drawing.update(state(step));
    },
    note: (message) => drawing.note(message),
    end() {
      finish();
      drawing.end?.();
    },
  };
}
