import {
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parseCount,
} from '../../command.ts';

export type CodesCheckOptions = ConfigOptions & { readonly limit: number };

const DEFAULT_LIMIT = 500;

export const codesCommand: CommandDefinition = {
  name: 'codes',
  define(command, act) {
    command.description('check codes.csv against the service');
    addConfigOptions(
      command
        .command('check')
        .description('ask the service whether it knows the owners and brands in codes.csv'),
    )
      .option('--limit <count>', 'maximum requests; the rest is not checked', parseCount, DEFAULT_LIMIT)
      .action(
        act(async (output, options: CodesCheckOptions) =>
          (await import('../../actions/setup/check-codes.ts')).checkCodes(output, options),
        ),
      );
    addExamples(command, [['codes check', 'before the first run, and after you change codes.csv']]);
    command.addHelpText(
      'after',
      '\nOnly reads. Exits with 2 if the service does not know an owner or a brand.',
    );
  },
};
