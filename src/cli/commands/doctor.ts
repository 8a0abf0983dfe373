import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from './command.ts';

export const doctorCommand: CommandDefinition = {
  name: 'doctor',
  define(command, act) {
    addConfigOptions(
      command.description('look at everything that a run depends on, and say how to mend what is wrong'),
    );
    addExamples(command, [
      ['doctor', 'before the first run, and when something is odd'],
      ['doctor --json', 'one finding a line, for a program'],
    ]);
    command.addHelpText('after', '\nChanges nothing, posts nothing. Exits with 2 when there is a problem.');
    command.action(
      act(async (output, options: ConfigOptions) =>
        (await import('../actions/perform-doctor.ts')).performDoctor(output, options),
      ),
    );
  },
};
