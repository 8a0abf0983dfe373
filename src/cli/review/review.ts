import { InvalidArgumentError } from 'commander';
import { EXIT } from '../../core/exit-code.ts';
import { defineCommand, type GivenBy, type Parameters, parseId } from '../command.ts';

/** The decisions about a doubt, of which only one can be made. */
const DECISIONS = [
  ['--accepted', 'the service shows the order: it was credited'],
  ['--write-off', 'give it up: it is never sent again'],
  ['--resend', 'the service does not show the order: send it again'],
  ['--acknowledge', 'for a double credit: you corrected it in the service'],
] as const satisfies Parameters;

const TAKES = [
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

export const reviewCommand = defineCommand({
  name: 'review',
  changes: true,
  summary: 'list doubts and held orders; decide about one or many',
  description:
    'list orders in doubt and held orders, with what is known about each; or decide about one or many',
  takes: TAKES,
  adjust({ options }) {
    options.find((option) => option.name() === 'exclude')?.conflicts('credit');
    const decisions = options.filter(({ long }) => DECISIONS.some(([written]) => written === long));
    for (const one of decisions) {
      const others = decisions.filter((other) => other !== one && other.name() !== 'acknowledge');
      one.conflicts(others.map((other) => other.attributeName()));
    }
  },
  examples: [
    ['review', 'orders in doubt, and held orders'],
    ["review 17 --accepted --reason 'listed under its sales'", 'the service shows the order'],
    ["review 17 --resend --reason 'not listed after two days'", 'the service does not show it'],
    [
      "review --all --older-than 30d --write-off --reason 'lost'",
      'many at once: shows the orders and their amount, and asks',
    ],
    ['review --held', 'each held order, why it is held, and what you can decide'],
    ["review --held --status shipped --credit --reason 'paid'", 'orders with this status count'],
  ],
  async action({ output, open }, options) {
    const { entry: entryId } = options;
    const { reviewDoubt, reviewMany } = await import('./review-doubt.ts');
    const { reviewHeld } = await import('./review-held.ts');
    const { listHeldGroups } = await import('../../reports/held/held-orders.ts');
    const { describeHeldOrders } = await import('../../reports/held/describe-held-orders.ts');
    const { listDoubleCredits, listDoubts } = await import('../../reports/doubts/list-doubts.ts');
    const { readDoubtHints } = await import('../../reports/money/reconcile-deals.ts');
    const { describeAllDoubts } = await import('../../reports/doubts/doubts.ts');
    const { accepted, writeOff, resend, acknowledge, credit, exclude, all } = options;
    const { config, read, change } = await open();
    const isDecision = accepted ?? writeOff ?? resend ?? acknowledge ?? credit ?? exclude ?? all ?? false;
    return (isDecision || entryId !== undefined ? change : read)(async (db) => {
      if (options.held) return reviewHeld(db, { output, options });
      if (options.all) return reviewMany({ db, config, output, options, entryId });
      if (entryId !== undefined) return reviewDoubt({ db, output, entryId, options });
      const doubts = await listDoubts(db, options.job === undefined ? {} : { job: options.job });
      const hints = await readDoubtHints(db, doubts);
      for (const doubt of doubts)
        output.emit({ event: 'doubt', ...doubt, totals: hints.get(doubt.entryId)?.counted ?? null });
      const doubleCredits = await listDoubleCredits(db, { job: options.job ?? null });
      for (const credit of doubleCredits) output.emit({ event: 'double_credit', ...credit });
      const groups = await listHeldGroups(db, { job: options.job ?? null });
      for (const group of groups) output.emit({ event: 'held_orders', ...group });
      output.show([
        ...describeAllDoubts({ doubts, hints, doubleCredits }),
        ...describeHeldOrders({ groups }),
      ]);
      if (doubts.length + doubleCredits.length > 0) return EXIT.doubts;
      return groups.length === 0 ? EXIT.ok : EXIT.rowsRejected;
    });
  },
});

/**
 * Parses `--older-than`.
 * @returns milliseconds.
 */
function parseAge(text: string): number {
  const [, count, unit] = /^(\d{1,5})(h|d)$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('Write it like 12h or 7d.');
  return Number(count) * (unit === 'd' ? 86_400_000 : 3_600_000);
}
