import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from '../command.ts';

export type AcknowledgeLeakOptions = ConfigOptions & { readonly reason: string };

export const leaksCommand: CommandDefinition = {
  name: 'leaks',
  define(command, act) {
    addConfigOptions(
      command.description(
        'list codes that may have leaked: people use them who do not come from the creator',
      ),
    ).action(
      act(async (output, options: ConfigOptions) =>
        (await import('../../actions/money/leaks.ts')).showLeaks(output, options),
      ),
    );
    addExamples(command, [
      ['leaks', 'codes with unusual orders in the last four weeks, and the figures'],
      [
        "leaks acknowledge MIA10 --reason 'on air in a podcast'",
        'it is not a leak, or you have dealt with it',
      ],
    ]);
    command.addHelpText(
      'after',
      '\nNothing is withheld. Exits with 3 while a flagged code is not acknowledged.',
    );
    addConfigOptions(
      command
        .command('acknowledge')
        .description('acknowledge a flagged code: it is not reported again for 30 days'),
    )
      .argument('<code>', 'the code, as `leaks` lists it')
      .requiredOption('--reason <text>', 'why; kept in the audit')
      .action(
        act(async (output, code: string, options: AcknowledgeLeakOptions) =>
          (await import('../../actions/money/leaks.ts')).performAcknowledging(output, code, options),
        ),
      );
  },
};
