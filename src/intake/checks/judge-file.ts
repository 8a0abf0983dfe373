import type { Expectations } from '../../config/source-fields.ts';
import type { CheckResult } from '../../core/checks/check-result.ts';
import type { CheckAction, ExpectedDate } from '../../core/checks/expectations.ts';
import type { FileStatistics } from '../../core/checks/file-statistics.ts';
import { DAY_MS } from '../../core/time/day.ts';
import { zoneClock } from '../../core/time/zone-clock.ts';
import { applies, type Check, type DatedFile, type Judgement, notJudged } from './check.ts';
import { strictestHeaderAction } from './kinds/header.ts';
import { checks } from './kinds/index.ts';
import { HISTORY_DAYS, thin } from './past-files.ts';

const HOUR_MS = 3_600_000;
/** 1970-01-01 was a Thursday. */
const FIRST_WEEKDAY = 4;

/** Creates a function that determines the time of a file in its source's calendar. */
export function createDater(timeZone: string): (file: FileStatistics) => DatedFile {
  const clock = zoneClock(timeZone);
  return (file) => {
    const wallMs = clock.toWallMs(file.arrivedAt.getTime());
    const day = Math.floor(wallMs / DAY_MS);
    return {
      ...file,
      day,
      weekday: (day + FIRST_WEEKDAY) % 7,
      hour: Math.floor((wallMs - day * DAY_MS) / HOUR_MS),
    };
  };
}

export type JudgeOptions = {
  readonly seen: DatedFile;
  /** Earlier accepted files of the source, oldest first. */
  readonly earlier: readonly DatedFile[];
  readonly expectations: Expectations;
  readonly expectedDates: readonly ExpectedDate[];
  /** True if an earlier reading of the same file was accepted. */
  readonly isReread?: boolean;
  /** Replaces the registry of checks, to test a check that fails. */
  readonly registry?: readonly Check[];
};

/**
 * Runs every check on a file. A check that throws is reported with the same severity as a finding, and never
 * passes silently.
 */
export function judgeFile(options: JudgeOptions): readonly CheckResult[] {
  const { seen, expectations, isReread = false, registry = checks } = options;
  const history = withinDays(options.earlier, seen.day - HISTORY_DAYS, seen.day);
  const expected = expectedDays(options);
  const ordinary = expected.size === 0 ? history : history.filter(({ day }) => !expected.has(day));
  const whole = { seen, history, thinned: thin(history), expectations };
  const usual = ordinary === history ? whole : { ...whole, history: ordinary, thinned: thin(ordinary) };
  return registry.flatMap((check) => {
    const action = actionOf(check, expectations);
    if (action === 'off' || !applies(check, seen)) return [];
    if (isReread && check.isOfNewFiles)
      return [toResult(check, action, notJudged('', 'the file is read again'))];
    const name = check.isOfCalendar ? expected.get(seen.day) : undefined;
    if (name !== undefined) return [toResult(check, action, notJudged('', `expected date: ${name}`))];
    try {
      return check
        .judge(check.isOfCalendar ? usual : whole)
        .map((judgement) => toResult(check, judgement.action ?? action, judgement));
    } catch (error) {
      return [toResult(check, action, failed(error))];
    }
  });
}

/** Returns the files of some days. They are sorted by time, and usually all of them are of these days. */
function withinDays(files: readonly DatedFile[], first: number, last: number): readonly DatedFile[] {
  const [oldest, newest] = [files[0], files.at(-1)];
  if (oldest === undefined || newest === undefined) return files;
  if (oldest.day >= first && newest.day <= last) return files;
  return files.filter(({ day }) => day >= first && day <= last);
}

function actionOf(check: Check, expectations: Expectations): CheckAction {
  if (check.name !== 'header') return expectations.actions[check.name];
  const strictest = strictestHeaderAction(expectations);
  return strictest === 'accept' ? 'off' : strictest;
}

/** Returns the expected days. An export of a day often arrives on the next day, so both are included. */
function expectedDays({ expectedDates, seen }: JudgeOptions): ReadonlyMap<number, string> {
  const days = new Map<number, string>();
  for (const { day, name } of expectedDates) {
    const first = Math.floor(Date.parse(`${day}T00:00:00Z`) / DAY_MS);
    if (first > seen.day) continue;
    days.set(first, name);
    days.set(first + 1, name);
  }
  return days;
}

function toResult(check: Check, action: CheckAction, judgement: Judgement): CheckResult {
  const { subject = null, seen, expected, message = null, sample = null } = judgement;
  const verdict = judgement.verdict !== 'unusual' ? judgement.verdict : action === 'hold' ? 'held' : 'warn';
  return { check: check.name, subject, verdict, seen, expected, message, sample };
}

/** Reports only the kind of the error, because its message may contain a value. */
function failed(error: unknown): Judgement {
  const kind = error instanceof Error ? error.name : 'an error';
  const message = `The check failed (${kind}). This is a bug: please report it.`;
  return { verdict: 'unusual', seen: 'unknown', expected: 'a result', message };
}
