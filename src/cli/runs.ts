import { EXIT } from '../model/exit-code.ts';
import {
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parseCount,
} from './command.ts';

type Options = ConfigOptions & { readonly job?: string; readonly limit: number };

const DEFAULT_LIMIT = 20;

export const runsCommand: CommandDefinition = {
  name: 'runs',
  define(command, act) {
    addConfigOptions(command.description('what ran, newest first'))
      .option('--job <name>', 'runs of one job only')
      .option('--limit <count>', 'so many at most', parseCount, DEFAULT_LIMIT);
    addExamples(command, [
      ['runs', 'the last 20 runs'],
      ['runs --job attribute-orders --limit 3', 'the last three of one job'],
    ]);
    command.action(
      act(async (output, options: Options) => {
        const { openConfig, withDatabase } = await import('./open-config.ts');
        const { listRuns } = await import('../report/list-runs.ts');
        const { renderRuns } = await import('./render/runs.ts');
        const { job, limit } = options;
        const runs = await withDatabase(openConfig(options), (db) =>
          listRuns(db, job === undefined ? { limit } : { job, limit }),
        );
        for (const run of runs) output.emit({ event: 'run', ...run });
        output.print(renderRuns(runs, output.screen));
        return EXIT.ok;
      }),
    );
  },
};
