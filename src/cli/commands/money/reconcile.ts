import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from '../command.ts';

export type ReconcileOptions = ConfigOptions & { readonly deal?: string };

export const reconcileCommand: CommandDefinition = {
  name: 'reconcile',
  define(command, act) {
    addConfigOptions(
      command.description(
        'compare the orders that were posted with those that the service counts, deal by deal',
      ),
    )
      .option('--deal <id>', 'one deal')
      .action(
        act(async (output, options: ReconcileOptions) =>
          (await import('../../actions/money/reconcile.ts')).reconcile(output, options),
        ),
      );
    addExamples(command, [
      ['reconcile', 'every deal that the mirror has read, or for which orders were posted'],
      ['reconcile --deal D1 --json', 'one deal, for a program'],
    ]);
    command.addHelpText(
      'after',
      '\nReads the database only. Exits with 3 if more is unexplained than `reconcile` of pipeline.yaml allows.',
    );
  },
};
