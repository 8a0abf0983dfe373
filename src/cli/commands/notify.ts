import {
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parseCount,
} from './command.ts';

export type HistoryOptions = ConfigOptions & { readonly limit: number };

const DEFAULT_LIMIT = 20;

export const notifyCommand: CommandDefinition = {
  name: 'notify',
  define(command, act) {
    command.description('test the channels of notices, and list what was told');
    addExamples(command, [
      ['notify test', 'send a test notice to every channel'],
      ['notify test ops', 'to one of them'],
      ['notify history', 'the last 20 notices, and who got them'],
    ]);
    const test = addConfigOptions(
      command.command('test').description('send a test notice to a channel, or to each'),
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
      command.command('history').description('list notices, newest first, and what became of them'),
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
