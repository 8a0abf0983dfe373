import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from '../../command.ts';

export type HashKeyOptions = ConfigOptions & { readonly reason: string };

/** `influencer-sync hash-key`: manages the replacement of the key with which customers are hashed. */
export const hashKeyCommand: CommandDefinition = {
  name: 'hash-key',
  define(command, act) {
    addConfigOptions(
      command.description('show how many customers are known only under the previous key'),
    ).action(
      act(async (output, options: ConfigOptions) =>
        (await import('../../actions/privacy/manage-hash-key.ts')).showHashKey(output, options),
      ),
    );
    addExamples(command, [
      ['hash-key', 'which key is in force, and whether the previous one is still needed'],
      [
        "hash-key retire --reason 'the old shop is closed'",
        'delete the customers whom no export has named since',
      ],
    ]);
    addConfigOptions(
      command
        .command('retire')
        .description('give up the previous key, and delete the customers who are known only under it'),
    )
      .requiredOption('--reason <text>', 'why; kept in the audit')
      .action(
        act(async (output, options: HashKeyOptions) =>
          (await import('../../actions/privacy/manage-hash-key.ts')).retireHashKey(output, options),
        ),
      );
    addConfigOptions(
      command
        .command('lost')
        .description(
          'continue with a new key after you lost the old one: customers in exports that were read count as submitted',
        ),
    )
      .requiredOption('--reason <text>', 'what happened; kept in the audit')
      .action(
        act(async (output, options: HashKeyOptions) =>
          (await import('../../actions/privacy/manage-hash-key.ts')).replaceLostHashKey(output, options),
        ),
      );
  },
};
