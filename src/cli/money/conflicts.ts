import { ATTRIBUTIONS } from '../../core/money/conflicts.ts';
import { defineCommand, MONTH_OPTIONS, parseCount } from '../command.ts';
import { usageError } from '../usage-error.ts';

const previewCommand = defineCommand({
  name: 'preview',
  description: 'decide all orders of a job by another rule, show what would change, and change nothing',
  takes: [
    ['<rule>', 'as in `attribution` of the job', ATTRIBUTIONS],
    ['--job <name>', 'job that credits orders; needed if there are several'],
  ],
  examples: [['conflicts preview last', 'what crediting the last link or code would change']],
  /** Shows what a rule would decide otherwise. The decisions are made in a transaction that is rolled back. */
  async action({ output, open }, { rule, job: wanted }) {
    const { attributionRules } = await import('../../../jobs/attribute-orders/attribution-rules.ts');
    const { decideByRule } = await import('../../../jobs/attribute-orders/decide/decide-by-rule.ts');
    const { attributionJobs } = await import('../../../jobs/attribute-orders/settings.ts');
    const { unlessDryRun } = await import('../../db/in-transaction.ts');
    const { describeRuleChanges } = await import('../../reports/money/conflicts.ts');
    const { config, change } = await open();
    const jobs = attributionJobs(config);
    const [job, ...others] = jobs.filter(({ name }) => name === (wanted ?? name));
    if (job === undefined || others.length > 0)
      throw usageError(
        job === undefined ? 'No such job credits orders.' : 'Several jobs credit orders.',
        `Add --job with one of: ${jobs.map(({ name }) => name).join(', ')}.`,
      );
    const rules = { ...attributionRules({ job, config }), attribution: rule };
    const changes = await change((db) => unlessDryRun(db, true, (trx) => decideByRule(trx, rules)));
    for (const one of changes) output.emit({ event: 'rule_change', job: job.name, rule, ...one });
    output.show(describeRuleChanges(changes, { job: job.name, rule, now: job.attribution }));
  },
});

export const conflictsCommand = defineCommand({
  name: 'conflicts',
  summary: 'list orders with evidence for several creators',
  description: 'list orders with evidence for several creators, and what each rule would credit',
  takes: [
    ...MONTH_OPTIONS,
    ['--deal <id>', 'only orders that some rule credits to this deal'],
    ['--limit <count>', 'maximum orders to list', parseCount, 20],
  ],
  examples: [
    ['conflicts --from 2026-08', 'orders since August, and the revenue that other rules would move'],
    ['conflicts --deal D1 --json', 'orders of one deal, for a program'],
  ],
  notes: 'Reads only the database, as of the last run. It changes no decision.',
  async action({ output, open }, { from = null, to = null, deal: dealId = null, limit }) {
    const { read } = await open();
    const { describeConflicts } = await import('../../reports/money/conflicts.ts');
    const { compareRules, listConflicts } = await import('../../reports/money/list-conflicts.ts');
    const filter = { from, to, dealId };
    const { orders, sums } = await read(async (db) => ({
      orders: await listConflicts(db, { ...filter, limit: limit + 1 }),
      sums: await compareRules(db, { ...filter, limit: OWNERS }),
    }));
    const shown = orders.slice(0, limit);
    for (const order of shown) output.emit({ event: 'conflicting_order', ...order });
    for (const sum of sums) output.emit({ event: 'rule_sum', ...sum });
    output.show(describeConflicts({ orders: shown, sums }, { hasMore: orders.length > limit }));
  },
  commands: [previewCommand],
});

const OWNERS = 200;
