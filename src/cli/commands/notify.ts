import {
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parseCount,
} from '../command.ts';

export type HistoryOptions = ConfigOptions & { readonly limit: number };

const DEFAULT_LIMIT = 20;

export const notifyCommand: CommandDefinition = {
  name: 'notify',
  define(command, act) {
    command.description('test the channels of notices, and list the notices that were sent');
    addExamples(command, [
      ['notify test', 'send a test notice to every channel'],
      ['notify test ops', 'send one to this channel only'],
      ['notify history', 'the last 20 notices, and the channels that received them'],
    ]);
    const test = addConfigOptions(
      command.command('test').description('send a test notice to one channel, or to all of them'),
    )
      .argument('[channel]', 'name of the channel in notify.channels')
      .action(
        act(async (output, channel: string | undefined, options: ConfigOptions) =>
          (await import('../actions/notices/manage-notices.ts')).testChannels(output, channel, options),
        ),
      );
    addExamples(test, [
      ['notify test', 'every channel; exit code 2 if one fails'],
      ['notify test ops --json', 'one channel, for a program'],
    ]);
    const history = addConfigOptions(
      command.command('history').description('list notices and their deliveries, newest first'),
    )
      .option('--limit <count>', 'maximum notices to list', parseCount, DEFAULT_LIMIT)
      .action(
        act(async (output, options: HistoryOptions) =>
          (await import('../actions/notices/manage-notices.ts')).showNotices(output, options),
        ),
      );
    addExamples(history, [
      ['notify history', 'the last 20'],
      ['notify history --limit 100 --json', 'for a program'],
    ]);
  },
};
