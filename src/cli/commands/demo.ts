import { EXIT } from '../../model/exit-code.ts';
import { addExamples, type CommandDefinition } from './command.ts';

export const demoCommand: CommandDefinition = {
  name: 'demo',
  define(command, act) {
    command
      .description(
        'run all jobs on bundled exports, with an embedded database and the sandbox; nothing leaves this machine',
      )
      .option('--json', 'write events for programs to standard output, one JSON object per line');
    addExamples(command, [
      ['demo', 'see what a run does, and that a second run posts nothing again'],
      ['demo --json | tail -n 1', 'the last event, for a program'],
    ]);
    command.action(
      act(async (output) => {
        const { runDemo } = await import('../actions/run-demo.ts');
        await runDemo(output);
        return EXIT.ok;
      }),
    );
  },
};
