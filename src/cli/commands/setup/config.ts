import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from '../command.ts';

export const configCommand: CommandDefinition = {
  name: 'config',
  define(command, act) {
    command.description('show the configuration as it is understood');
    addConfigOptions(
      command
        .command('show')
        .description('print every setting with its origin: the file, the environment or the default'),
    ).action(
      act(async (output, options: ConfigOptions) =>
        (await import('../../actions/setup/show-config.ts')).showConfig(output, options),
      ),
    );
    addExamples(command, [
      ['config show', 'what does this configuration mean here?'],
      ['config show --json', 'one setting per line, for a program'],
    ]);
    command.addHelpText('after', '\nSecrets are masked: it says only whether they are set.');
  },
};
