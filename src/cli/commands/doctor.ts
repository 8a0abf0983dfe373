import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from '../command.ts';

export const doctorCommand: CommandDefinition = {
  name: 'doctor',
  define(command, act) {
    addConfigOptions(
      command.description('check everything that a run depends on, and say how to fix problems'),
    );
    command.option(
      '--service',
      'compare the service with its description (docs/service.md) by reading calls, and propose the differences',
    );
    addExamples(command, [
      ['doctor', 'before the first run, and when something looks wrong'],
      ['doctor --service', 'once, with the key of a real account'],
      ['doctor --json', 'one finding per line, for a program'],
    ]);
    command.addHelpText('after', '\nChanges nothing and posts nothing. Exits with 2 if there is a problem.');
    command.action(
      act(async (output, options: ConfigOptions & { readonly service?: boolean }) =>
        options.service === true
          ? (await import('../api/doctor-service.ts')).doctorService(output, options)
          : (await import('../actions/perform-doctor.ts')).performDoctor(output, options),
      ),
    );
  },
};
