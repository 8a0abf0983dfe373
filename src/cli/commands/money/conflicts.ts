import {
  addConfigOptions,
  addExamples,
  addMonthOptions,
  type CommandDefinition,
  type ConfigOptions,
  type MonthOptions,
  parseCount,
} from '../command.ts';

export type ConflictsOptions = ConfigOptions &
  MonthOptions & {
    readonly deal?: string;
    readonly limit: number;
  };

const DEFAULT_ROWS = 20;

export const conflictsCommand: CommandDefinition = {
  name: 'conflicts',
  define(command, act) {
    addMonthOptions(
      addConfigOptions(
        command.description(
          'list orders with evidence for several creators, and what each rule would credit',
        ),
      ),
    )
      .option('--deal <id>', 'only orders that some rule credits to this deal')
      .option('--limit <count>', 'maximum orders to list', parseCount, DEFAULT_ROWS)
      .action(
        act(async (output, options: ConflictsOptions) =>
          (await import('../../actions/money/conflicts.ts')).showConflicts(output, options),
        ),
      );
    addExamples(command, [
      ['conflicts --from 2026-08', 'orders since August, and the revenue that other rules would move'],
      ['conflicts --deal D1 --json', 'orders of one deal, for a program'],
    ]);
    command.addHelpText('after', '\nReads only the database, as of the last run. It changes no decision.');
  },
};
