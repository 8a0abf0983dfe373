import { EXIT } from '../../model/exit-code.ts';
import { addExamples, type CommandDefinition } from './command.ts';

export const demoCommand: CommandDefinition = {
  name: 'demo',
  define(command, act) {
    command
      .description(
        'the main job on bundled exports, an embedded database and the local sandbox; nothing leaves this machine',
      )
      .option('--json', 'events for programs, one JSON object a line, on standard output');
    addExamples(command, [
      ['demo', 'see what a run does, and that a second one posts nothing again'],
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
