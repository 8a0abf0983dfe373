import type { CommandDefinition } from '../command.ts';

/** `influencer-sync api <operation>`: everything after `api` is read by what the contract says about the operation. */
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
          // The contract is loaded only now: --help of the other commands must not wait for it.
          const { performApi } = await import('../../actions/api/perform-api.ts');
          return performApi(output, words);
        }),
      );
  },
};
