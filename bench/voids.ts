/**
 * What a void of a leaked code hits, in simulated years (`live-code.ts`): how often the range of days contains the true
 * one, and how many orders of the creator's own followers a void from the last day of the range takes.
 *
 *     node bench/voids.ts [--codes 3000] [--seed 1]
 *
 * Prints the table of docs/money.md.
 */
import { parseArgs } from 'node:util';
import { dateLeak } from '../src/money/leaks/date-leak.ts';
import { judgeCode } from '../src/money/leaks/find-leaks.ts';
import { knownOn, type Lived, type LivedDay, liveCode, randomOf, YEAR_DAYS } from './live-code.ts';

/** Days after the first flag on which a person decides. */
const DELAYS = [0, 3, 7] as const;
const BANDS = [
  [0.05, 0.3],
  [0.3, 1],
  [1, 3],
  [0.05, 3],
] as const;

type Void = {
  /** Whether the range contains the day on which the leak began, and how many days it has. */
  readonly isRight: boolean;
  readonly width: number;
  /** Orders from the day of the void to that of the decision, and those of the creator's own followers. */
  readonly hit: number;
  readonly own: number;
  /** Orders of the leak before the void. */
  readonly missed: number;
  /** Orders of own followers in the 30 days after the decision. */
  readonly next: number;
};

/** What a void takes that is decided `delay` days after the first flag. Null: not flagged. */
function voidOf({ days, leakBegins }: Lived, delay: number): Void | 'unknown' | null {
  const flagOn = (day: number) => judgeCode(knownOn(days, day), { day, firstDay: 0 });
  let found = leakBegins;
  while (found < leakBegins + 14 && flagOn(found) === null) found += 1;
  const today = found + delay;
  const flag = flagOn(found);
  if (flag === null || today + 30 > YEAR_DAYS) return null;
  let last = today;
  while (flagOn(last) === null) last -= 1;
  const known = knownOn(days, today);
  const dated = dateLeak(known, {
    flagged: flag.day - flag.days + 1,
    last,
    firstDay: known[0]?.day ?? today,
  });
  if (dated === null) return 'unknown';
  const { from, to } = dated;
  const sum = (first: number, until: number, of: (day: LivedDay) => number): number =>
    days.filter(({ day }) => day >= first && day <= until).reduce((all, day) => all + of(day), 0);
  return {
    isRight: from <= leakBegins && leakBegins <= to,
    width: to - from + 1,
    hit: sum(to, today, ({ orders }) => orders),
    own: sum(to, today, ({ own }) => own),
    missed: sum(leakBegins, to - 1, ({ orders, own }) => orders - own),
    next: sum(today + 1, today + 30, ({ own }) => own),
  };
}

const { values } = parseArgs({
  options: { codes: { type: 'string', default: '3000' }, seed: { type: 'string', default: '1' } },
});
const codes = Array.from({ length: Number(values.codes) }, (_, code) =>
  liveCode(randomOf(Number(values.seed) * 1_000_003 + code), true),
);
const rows = BANDS.flatMap(([least, most]) =>
  DELAYS.map((delay) => {
    const flagged = codes
      .filter(({ usual }) => usual >= least && usual < most)
      .flatMap((code) => voidOf(code, delay) ?? []);
    const voids = flagged.filter((one) => one !== 'unknown');
    const mean = (of: (one: Void) => number): string =>
      (voids.reduce((all, one) => all + of(one), 0) / voids.length).toFixed(1);
    const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
    return [
      ...[`${least} to ${most}`, String(delay), String(flagged.length)],
      percent(flagged.length - voids.length, flagged.length),
      percent(voids.filter(({ isRight }) => isRight).length, voids.length),
      ...[mean(({ width }) => width), mean(({ hit }) => hit), mean(({ own }) => own)],
      ...[mean(({ missed }) => missed), mean(({ next }) => next)],
    ];
  }),
);
const HEADER = [
  ...['Orders a day', 'Decided days after the flag', 'Leaks', 'Day unknown', 'Range is right', 'Its days'],
  ...['Orders voided', 'of own followers', 'Leaked orders still paid', 'Own orders in the next 30 days'],
];
for (const row of [HEADER, HEADER.map(() => '---'), ...rows])
  process.stdout.write(`| ${row.join(' | ')} |\n`);
