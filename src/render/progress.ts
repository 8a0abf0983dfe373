import type { ProgressStep } from '../core/progress.ts';
import { cut, formatBytes, formatCount, formatDuration, plural } from './text.ts';

export type ProgressState = {
  readonly step: ProgressStep;
  /** Amount done, in the step's unit. */
  readonly done: number;
  /** If the unit is `bytes`, the number of rows in them. */
  readonly rows: number;
  readonly elapsedMs: number;
};

/** Before this time, rates and forecasts are only noise. */
const MIN_ELAPSED_MS = 3_000;
const LABEL_WIDTH = 22;
const MAX_BAR_WIDTH = 24;
const MIN_BAR_WIDTH = 6;

/** The progress in whole percent; null if the total is unknown. */
export function percentOf({ step, done }: ProgressState): number | null {
  if (step.total === null) return null;
  return step.total === 0 ? 100 : Math.min(100, Math.floor((done / step.total) * 100));
}

/**
 * Renders a progress bar in one line of at most `columns` cells: `Posting orders  [████░░░░]  42%
 * 4,200/10,000 orders  4/s  ETA 24 min`.
 */
export function renderBar(state: ProgressState, columns: number): string {
  const percent = percentOf(state);
  const label = cut(state.step.label, LABEL_WIDTH);
  const facts = [progressOf(state), rateOf(state), etaOf(state, 'ETA ')].filter((fact) => fact !== '');
  if (percent === null) return cut([label, ...facts].join('  '), columns);

  const tail = [`${String(percent).padStart(3)}%`, ...facts];
  // Facts that do not fit are dropped from the right; the ETA is kept longest.
  const eta = facts.at(-1)?.startsWith('ETA') ? tail.pop() : undefined;
  const width = (): number => columns - label.length - [...tail, eta ?? ''].join('  ').length - 6;
  while (width() < MIN_BAR_WIDTH && tail.length > 1) tail.pop();
  const bar = Math.max(MIN_BAR_WIDTH, Math.min(MAX_BAR_WIDTH, width()));
  const full = Math.round((percent / 100) * bar);
  const drawn = `[${'█'.repeat(full)}${'░'.repeat(bar - full)}]`;
  return cut([label, drawn, ...tail, ...(eta === undefined ? [] : [eta])].join('  '), columns);
}

/** Renders the progress as a line of a log: `Posting orders: 42 % (4,200/10,000 orders, 4/s, 24 min left)`. */
export function renderLine(state: ProgressState): string {
  const percent = percentOf(state);
  const eta = etaOf(state, '');
  const facts = [progressOf(state), rateOf(state), eta === '' ? '' : `${eta} left`]
    .filter((fact) => fact !== '')
    .join(', ');
  return percent === null ? `${state.step.label}: ${facts}` : `${state.step.label}: ${percent} % (${facts})`;
}

/** Renders a finished step: `Posting orders: 10,000 orders in 41 min (4/s)`. */
export function renderDone({ step, done, rows, elapsedMs }: ProgressState): string {
  if (step.unit === 'seconds') return `${step.label}: ${formatDuration(elapsedMs / 1_000)}`;
  const amount =
    step.unit === 'bytes'
      ? `${formatBytes(done)}${rows > 0 ? `, ${plural(rows, 'row')}` : ''}`
      : counted(done, step.unit);
  const rate = rateOf({ step, done, rows, elapsedMs });
  return `${step.label}: ${amount} in ${formatDuration(elapsedMs / 1_000)}${rate === '' ? '' : ` (${rate})`}`;
}

/** The rate per second, in rows if known; null while it is too early to tell. */
export function perSecond({ done, rows, elapsedMs }: ProgressState): number | null {
  return elapsedMs < MIN_ELAPSED_MS ? null : (rows > 0 ? rows : done) / (elapsedMs / 1_000);
}

/** Estimated seconds until the total is reached at the rate so far; null if unknown. */
export function secondsLeft({ step, done, elapsedMs }: ProgressState): number | null {
  if (step.total === null || done === 0 || done >= step.total || elapsedMs < MIN_ELAPSED_MS) return null;
  return ((step.total - done) / done) * (elapsedMs / 1_000);
}

function progressOf({ step, done, rows }: ProgressState): string {
  if (step.unit === 'bytes') return rows > 0 ? plural(rows, 'row') : formatBytes(done);
  return step.total === null
    ? counted(done, step.unit)
    : `${formatCount(done)}/${counted(step.total, step.unit)}`;
}

/** A count with its unit. Units are given as plurals: `1 order`. */
function counted(count: number, unit: string): string {
  return plural(count, unit.replace(/s$/, ''), unit);
}

function rateOf(state: ProgressState): string {
  const rate = perSecond(state);
  // A wait counts seconds.
  if (rate === null || rate === 0 || state.step.unit === 'seconds') return '';
  if (state.step.unit === 'bytes' && state.rows === 0) return `${formatBytes(rate)}/s`;
  return `${rate < 10 ? rate.toFixed(1) : formatCount(Math.round(rate))}/s`;
}

function etaOf(state: ProgressState, prefix: string): string {
  const seconds = secondsLeft(state);
  return seconds === null ? '' : `${prefix}${formatDuration(seconds)}`;
}

/** Number of consecutive short steps of one kind that are listed individually; further ones are summed up. */
const TOLD_ONE_BY_ONE = 10;
const SHORT_MS = 1_000;
/** A sum is written after this time, so that a log shows progress. */
const SUM_EVERY_MS = 30_000;

export type StepTeller = {
  ended(state: ProgressState): void;
  /** Writes the current sum. Call it before a step of another kind, and at the end. */
  flush(): void;
};

/**
 * Creates a writer that sums up many short steps, so that ten thousand small files are not ten thousand
 * lines: `and 9,990 more: 1.0 MB, 9,990 rows in 2 min`.
 */
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
