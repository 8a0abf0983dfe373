import {
  createTask,
  type ParsedFields,
  parse,
  type ScheduledTask,
  validate,
  validateDetailed,
} from 'node-cron';
import { plural } from '../text/plural.ts';
import { DAY_MS } from './day.ts';

/** The local times that a cron expression names. */
export type CronPattern = {
  /** True if it names every hour of the day, however it is written (`*`, `0-23`). */
  readonly isEveryHour: boolean;
  /**
   * Returns the local times after another one, in order. Ends if there is none for many years.
   *
   * @param wallMs a local time, in milliseconds as if it were UTC, as are the results.
   */
  after(wallMs: number): Generator<number>;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** The rarest day is the fifth of a weekday in February: there may be none for forty years. */
const RAREST_DAY_MS = 41 * 366 * DAY_MS;

/** The number of values of each field: minute, hour, day of the month, month, weekday. */
const SIZES = [60, 24, 31, 12, 7];

/** Maximum number of patterns that are kept. A configuration has a handful. */
const MAX_PATTERNS = 64;

const patterns = new Map<string, Opened>();

type Opened = { readonly pattern: CronPattern; readonly tasks: readonly ScheduledTask[] };

/**
 * Opens a cron expression of five fields. node-cron reads it, and says which days it names. It has no way to
 * list past times, nor those after an instant, so this lists the hours and minutes of those days. An
 * expression that is not valid (`problemOfCron`) names no time.
 */
export function openCronPattern(expression: string): CronPattern {
  const known = patterns.get(expression);
  if (known !== undefined) return known.pattern;
  const opened = open(expression);
  if (patterns.size >= MAX_PATTERNS) {
    for (const { tasks } of patterns.values()) for (const task of tasks) void task.destroy();
    patterns.clear();
  }
  patterns.set(expression, opened);
  return opened.pattern;
}

const NO_TIME: Pick<ParsedFields, 'minute' | 'hour' | 'month'> = { minute: [], hour: [], month: [] };

function open(expression: string): Opened {
  const alternatives = toNodeCron(expression);
  const [one] = alternatives;
  const { minute, hour, month } = one === undefined ? NO_TIME : parse(one);
  const times = [...new Set(hour.flatMap((h) => minute.map((m) => h * HOUR_MS + m * MINUTE_MS)))];
  times.sort((one, other) => one - other);
  const [first = 0] = times;
  // These tasks are never started: they only match days.
  const tasks = alternatives.map((alternative) => createTask(alternative, () => {}, { timezone: 'UTC' }));

  function isDay(dayMs: number): boolean {
    if (!month.includes(new Date(dayMs).getUTCMonth() + 1)) return false;
    return tasks.some((task) => task.match(new Date(dayMs + first)));
  }

  function* after(wallMs: number): Generator<number> {
    let dayMs = Math.floor(wallMs / DAY_MS) * DAY_MS;
    let lastMs = dayMs + RAREST_DAY_MS;
    for (; dayMs < lastMs; dayMs += DAY_MS) {
      if (!isDay(dayMs)) continue;
      lastMs = dayMs + RAREST_DAY_MS;
      for (const time of times) if (dayMs + time > wallMs) yield dayMs + time;
    }
  }

  return { pattern: { isEveryHour: new Set(hour).size === 24, after }, tasks };
}

/**
 * Returns the expressions for node-cron that together name the times of an expression. If it names days of the
 * month and weekdays, either matches, as in any cron; node-cron wants both, so these are two. One that names a
 * day that its months do not have, such as `30 2`, is left out, because node-cron takes it for an error.
 */
export function toNodeCron(expression: string): readonly string[] {
  const [minute, hour, day = '*', month, weekday = '*'] = expression.split(/\s+/);
  if (isAny(day) || isAny(weekday)) return [expression].filter(validate);
  const byDay = `${minute} ${hour} ${day} ${month} *`;
  const byWeekday = `${minute} ${hour} * ${month} ${weekday}`;
  return [byDay, byWeekday].filter(validate);
}

function isAny(field: string): boolean {
  return field === '*' || field === '?';
}

const NEVER_FIRES = 'never fires: there is no such day';

/** @returns what is wrong with a cron expression, as the end of a sentence; null if it is valid. */
export function problemOfCron(expression: string): string | null {
  const fields = expression.split(/\s+/);
  if (fields.length !== 5) {
    const count = plural(fields.length, 'field');
    return `is not a cron expression (it has ${count})`;
  }
  const large = fields.find((field, index) => stepsOf(field).some((step) => step > (SIZES[index] ?? 0)));
  if (large !== undefined) return `is not a cron expression (the step of ${large} is too large)`;
  const [minute, hour, day, , weekday = '*'] = fields;
  const { errors, fields: parsed } = validateDetailed(expression);
  const [error] = errors;
  if (error !== undefined) {
    const isOfMonth = error.field === 'dayOfMonth' && validate(`${minute} ${hour} ${day} * ${weekday}`);
    if (isOfMonth) return isAny(weekday) ? NEVER_FIRES : null;
    return `is not a cron expression (its ${error.field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)} ${error.value ?? ''} is not valid)`;
  }
  // node-cron has checked days that are numbers. To look for others takes 12 ms, for it loads Intl.
  const days = [...(parsed?.dayOfMonth ?? []), ...(parsed?.dayOfWeek ?? [])];
  if (days.every((one) => typeof one === 'number')) return null;
  return openCronPattern(expression).after(0).next().done === true ? NEVER_FIRES : null;
}

function stepsOf(field: string): readonly number[] {
  return [...field.matchAll(/\/(\d+)/g)].map(([, step]) => Number(step));
}
