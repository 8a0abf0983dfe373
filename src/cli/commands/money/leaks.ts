import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from '../command.ts';

export type AcknowledgeLeakOptions = ConfigOptions & { readonly reason: string };

export const leaksCommand: CommandDefinition = {
  name: 'leaks',
  define(command, act) {
    addConfigOptions(
      command.description('list codes that are used by people who do not come from their creators'),
    ).action(
      act(async (output, options: ConfigOptions) =>
        (await import('../../actions/money/leaks.ts')).showLeaks(output, options),
      ),
    );
    addExamples(command, [
      ['leaks', 'codes that were unusual in the last four weeks, with the evidence'],
      ["leaks acknowledge MIA10 --reason 'on air in a podcast'", 'it is no leak, or you have dealt with it'],
    ]);
    command.addHelpText(
      'after',
      '\nNothing is withheld. Exits with 3 if a code is flagged that nobody has acknowledged.',
    );
    addConfigOptions(
      command
        .command('acknowledge')
        .description('say that you have looked at a code: for 30 days it is no news'),
    )
      .argument('<code>', 'as the listing writes it')
      .requiredOption('--reason <text>', 'why; kept in the audit')
      .action(
        act(async (output, code: string, options: AcknowledgeLeakOptions) =>
          (await import('../../actions/money/leaks.ts')).acknowledgeLeak(output, code, options),
        ),
      );
  },
};
