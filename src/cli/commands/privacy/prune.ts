import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from '../../command.ts';

export type PruneOptions = ConfigOptions & { readonly yes?: boolean };

/** `influencer-sync prune`: lists or deletes data that is older than the periods in `retention`. */
export const pruneCommand: CommandDefinition = {
  name: 'prune',
  define(command, act) {
    addConfigOptions(
      command.description(
        'list data that is older than `retention` in the configuration; with --yes, delete it',
      ),
    )
      .option('--yes', 'delete it; without this, nothing is changed')
      .action(
        act(async (output, options: PruneOptions) =>
          (await import('../../actions/privacy/prune-data.ts')).pruneData(output, options),
        ),
      );
    addExamples(command, [
      ['prune', 'what would be deleted: table, rows, size, oldest'],
      ['prune --yes', 'delete it in small batches; Ctrl-C stops after a batch, and the next prune continues'],
    ]);
  },
};
