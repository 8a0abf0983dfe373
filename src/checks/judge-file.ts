import type { CheckResult, Verdict } from '../model/checks/check-result.ts';
import type { CheckAction, Expectations, ExpectedDate } from '../model/checks/expectations.ts';
import type { FileStatistics } from '../model/checks/file-statistics.ts';
import { ZoneClock } from '../model/time/zone-clock.ts';
import { type Check, type Judgement, notJudged, type PlacedFile } from './check.ts';
import { strictestHeaderAction } from './kinds/header.ts';
import { checks } from './kinds/index.ts';
import { HISTORY_DAYS, thin } from './past-files.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** 1970-01-01 was a Thursday. */
const FIRST_WEEKDAY = 4;

/** Puts files into the calendar of their source. */
export function createPlacer(timeZone: string): (file: FileStatistics) => PlacedFile {
  const clock = new ZoneClock(timeZone);
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
  readonly seen: PlacedFile;
  /** Earlier files of the source that count, oldest first. */
  readonly earlier: readonly PlacedFile[];
  readonly expectations: Expectations;
  readonly expectedDates: readonly ExpectedDate[];
  /** An earlier reading of the same file counts. */
  readonly isReread?: boolean;
  /** Other than the registry: for a test of what becomes of a check that fails. */
  readonly registry?: readonly Check[];
};

/**
 * What every check says of a file. A check that fails says so, as severely as if it had found something: it never passes in silence.
 */
export function judgeFile(options: JudgeOptions): readonly CheckResult[] {
  const { seen, expectations, isReread = false, registry = checks } = options;
  const history = options.earlier.filter(({ day }) => day <= seen.day && day >= seen.day - HISTORY_DAYS);
  const expected = expectedDays(options);
  const ordinary = expected.size === 0 ? history : history.filter(({ day }) => !expected.has(day));
  return registry.flatMap((check) => {
    const action = actionOf(check, expectations);
    if (action === 'off' || !check.applies(seen)) return [];
    if (isReread && check.isOfNewFiles)
      return [toResult(check, action, notJudged('', 'the file is read again'))];
    const name = check.isOfCalendar ? expected.get(seen.day) : undefined;
    if (name !== undefined) return [toResult(check, action, notJudged('', `expected date: ${name}`))];
    const learnt = check.isOfCalendar ? ordinary : history;
    try {
      return check
        .judge({ seen, history: learnt, thinned: thin(learnt), expectations })
        .map((judgement) => toResult(check, judgement.action ?? action, judgement));
    } catch (error) {
      return [toResult(check, action, failed(error))];
    }
  });
}

function actionOf(check: Check, expectations: Expectations): CheckAction {
  if (check.name !== 'header') return expectations.actions[check.name];
  const strictest = strictestHeaderAction(expectations);
  return strictest === 'accept' ? 'off' : strictest;
}

/** An export of a day often arrives on the next one, so both are expected. */
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
  const { subject, seen, expected, message, sample } = judgement;
  return {
    check: check.name,
    subject,
    verdict: verdictOf(judgement, action),
    seen,
    expected,
    message,
    sample,
  };
}

function verdictOf({ verdict }: Judgement, action: CheckAction): Verdict {
  if (verdict !== 'unusual') return verdict;
  return action === 'hold' ? 'held' : 'warn';
}

/** Only the kind of the error: its message may name a value. */
function failed(error: unknown): Judgement {
  const kind = error instanceof Error ? error.name : 'an error';
  return {
    subject: null,
    verdict: 'unusual',
    seen: 'unknown',
    expected: 'a result',
    message: `The check failed (${kind}). This is a bug: please report it.`,
    sample: null,
  };
}
