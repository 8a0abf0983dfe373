import type { CommandDefinition } from '../command.ts';

/**
 * `influencer-sync api <operation>`: the words after `api` are parsed according to the contract of the
 * operation.
 */
export const apiCommand: CommandDefinition = {
  name: 'api',
  define(command, act) {
    command
      .description('call one operation of the service; without one, list them all')
      .usage('[operation] [--field value …] [--body FILE|-] [--dry-run] [--live] [--json]')
      .argument('[words...]')
      .helpOption(false)
      .allowUnknownOption()
      .action(
        act(async (output, words: readonly string[]) => {
          // Imported only here, so that `--help` of other commands does not load the contract.
          const { performApi } = await import('./perform-api.ts');
          return performApi(output, words);
        }),
      );
  },
};
