import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from './command.ts';

export const doctorCommand: CommandDefinition = {
  name: 'doctor',
  define(command, act) {
    addConfigOptions(
      command.description('check everything that a run depends on, and say how to fix problems'),
    );
    addExamples(command, [
      ['doctor', 'before the first run, and when something looks wrong'],
      ['doctor --json', 'one finding per line, for a program'],
    ]);
    command.addHelpText('after', '\nChanges nothing and posts nothing. Exits with 2 if there is a problem.');
    command.action(
      act(async (output, options: ConfigOptions) =>
        (await import('../actions/perform-doctor.ts')).performDoctor(output, options),
      ),
    );
  },
};
