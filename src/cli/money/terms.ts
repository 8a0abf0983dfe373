import { InvalidArgumentError } from 'commander';
import { monthBefore, monthsUntil } from '../../core/time/month.ts';
import { defineCommand, parseCount } from '../command.ts';

/** As many months as no shop has. */
const MOST_MONTHS = 240;

function parseMonths(text: string): number {
  const months = parseCount(text);
  if (months > MOST_MONTHS) throw new InvalidArgumentError(`It should be at most ${MOST_MONTHS}.`);
  return months;
}

const replayCommand = defineCommand({
  name: 'replay',
  description: 'show what each deal would have earned under a draft of terms.csv, beside today’s terms',
  requires: [['--from <file>', 'the draft, with the columns of terms.csv']],
  takes: [['--months <count>', 'the last months that are over', parseMonths, 12]],
  examples: [
    ['terms replay --from draft.csv', 'the last twelve months'],
    ['terms replay --from draft.csv --months 3 --json', 'each month of a quarter, for a program'],
  ],
  /** Shows what each deal would have earned under a draft, beside what it earned. Nothing is changed. */
  async action({ output, open }, options) {
    const { loadStatementRules } = await import('../../money/load-rules.ts');
    const { replayTerms, sumReplay } = await import('../../money/replay-terms.ts');
    const { describeReplay } = await import('../../reports/money/replay.ts');
    const { config, read } = await open({ warnsOfTerms: false });
    const today = loadStatementRules(config.statements);
    const draft = loadStatementRules({ ...config.statements, terms: options.from });
    const to = monthBefore(new Date(), config.statements.timeZone);
    const [from = to] = monthsUntil(to, options.months);
    const months = await read((db) => replayTerms(db, { today, draft, from, to }));
    for (const month of months) output.emit({ event: 'replayed_month', ...month });
    const deals = sumReplay(months);
    for (const deal of deals) output.emit({ event: 'replayed_deal', ...deal });
    output.show(describeReplay(deals, { from, to }));
  },
});

export const termsCommand = defineCommand({
  name: 'terms',
  summary: 'show what creators would have earned under other terms',
  description: 'try other terms before you agree on them',
  commands: [replayCommand],
});
