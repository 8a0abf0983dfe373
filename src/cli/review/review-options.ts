import { InvalidArgumentError } from 'commander';
import { type GivenBy, type Parameters, parseId } from '../command.ts';

/** The decisions about a doubt, of which only one can be made. */
export const DECISIONS = [
  ['--accepted', 'the service shows the order: it was credited'],
  ['--write-off', 'give it up: it is never sent again'],
  ['--resend', 'the service does not show the order: send it again'],
  ['--acknowledge', 'for a double credit: you corrected it in the service'],
] as const satisfies Parameters;

export const TAKES = [
  ['[entry]', 'number of the entry to settle', parseId],
  ['--job <name>', 'orders of one job only'],
  ['--all', 'settle all matching doubts, after a preview; --why, --for-deal and --older-than select them'],
  ['--held', 'list held orders, or decide about all that match, after a preview'],
  ['--source <name>', 'with --held: only orders of this source'],
  [
    '--status <word>',
    "with --held: only orders with this unknown status ('' for none), or COLUMN=WORD of another column",
  ],
  ['--order <ids...>', 'with --held: only these orders'],
  ['--credit', 'with --held: you confirm what is not known; the next run may credit them'],
  ['--exclude', 'with --held: they are never credited'],
  ['--why <text>', 'with --all or --held: only orders with exactly this reason'],
  ['--for-deal <id>', 'with --all: only orders of this deal'],
  [
    '--older-than <time>',
    'with --all: only orders that have been in doubt at least this long, such as 12h or 7d',
    parseAge,
  ],
  ...DECISIONS,
  ['--reason <text>', 'why; kept with the decision'],
  ['--deal <id>', 'with --accepted: the deal that was credited'],
  ['--collab <id>', 'with --accepted: the collaboration that was credited'],
  ['--yes', 'with --resend, --all or --held: do not ask'],
] as const satisfies Parameters;

/** What a person decides about, and how. */
export type ReviewOptions = GivenBy<typeof TAKES>;

/**
 * Parses `--older-than`.
 * @returns milliseconds.
 */
function parseAge(text: string): number {
  const [, count, unit] = /^(\d{1,5})(h|d)$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('Write it like 12h or 7d.');
  return Number(count) * (unit === 'd' ? 86_400_000 : 3_600_000);
}
