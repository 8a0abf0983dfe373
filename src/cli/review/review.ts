import { EXIT } from '../../core/exit-code.ts';
import { defineCommand } from '../command.ts';
import { DECISIONS, TAKES } from './review-options.ts';

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
