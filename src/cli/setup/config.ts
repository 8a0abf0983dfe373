import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from '../command.ts';

export const configCommand: CommandDefinition = {
  name: 'config',
  define(command, act) {
    command.description('show the configuration as the tool reads it');
    addConfigOptions(
      command
        .command('show')
        .description(
          'print every setting and where its value comes from: the file, the environment or the default',
        ),
    ).action(
      act(async (output, options: ConfigOptions) =>
        (await import('./show-config.ts')).showConfig(output, options),
      ),
    );
    addExamples(command, [
      ['config show', 'every setting with its value on this machine'],
      ['config show --json', 'one setting per line, for a program'],
    ]);
    command.addHelpText('after', '\nSecrets are masked: it says only whether they are set.');
  },
};
