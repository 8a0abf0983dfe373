import { defineCommand } from '../command.ts';

/** `influencer-sync api <operation>`: the words after `api` are parsed according to the contract of the operation. */
export const apiCommand = defineCommand({
  name: 'api',
  description: 'call one operation of the service; without one, list them all',
  readsConfig: false,
  takes: [['[words...]', '']],
  adjust: (command) =>
    command
      .usage('[operation] [--field value …] [--body FILE|-] [--dry-run] [--live] [--json]')
      .helpOption(false)
      .allowUnknownOption(),
  action: async ({ output }, { words, onConfigFound }) =>
    (await import('./perform-api.ts')).performApi(output, words, onConfigFound),
});
