import { defineCommand, parseCount } from '../command.ts';

export const runsCommand = defineCommand({
  name: 'runs',
  summary: 'list runs, newest first, and runs that did not happen',
  description: 'list runs, newest first, and runs that were due but did not happen',
  takes: [
    ['--job <name>', 'runs of one job only'],
    ['--limit <count>', 'maximum runs to list', parseCount, 20],
  ],
  adjust: (command) => command.showHelpAfterError('(one run, by its id: npx influencer-sync explain run ID)'),
  examples: [
    ['runs', 'the last 20 runs'],
    ['runs --job attribute-orders --limit 3', 'the last three of one job'],
  ],
  async action({ output, open }, { job, limit }) {
    const { didOf, findJob } = await import('../../../jobs/index.ts');
    const { listRuns } = await import('../../reports/runs/list-runs.ts');
    const { listSlotTroubles } = await import('../../reports/runs/list-slots.ts');
    const { section } = await import('../../render/block.ts');
    const { describeRuns, describeSlotTroubles } = await import('../../reports/runs/runs.ts');
    const which = job === undefined ? { limit } : { job, limit };
    const { config, read } = await open();
    const { runs, troubles } = await read(async (db) => ({
      runs: await listRuns(db, which),
      troubles: await listSlotTroubles(db, which),
    }));
    // A job with runs may be missing from the configuration, for example the job of a backfill. A job without runs
    // must be in it.
    if (job !== undefined && runs.length === 0) findJob(config, job);
    for (const run of runs) output.emit({ event: 'run', ...run });
    for (const slot of troubles) output.emit({ event: 'slot', ...slot });
    const title = runs.length === 0 ? 'Nothing has run yet' : 'Runs, newest first';
    output.show([
      ...section(title, runs.length === 0 ? {} : { parts: describeRuns(runs, didOf) }),
      ...describeSlotTroubles(troubles),
    ]);
  },
});
