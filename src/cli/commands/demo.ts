import { addExamples, type CommandDefinition } from './command.ts';

export const demoCommand: CommandDefinition = {
  name: 'demo',
  define(command, act) {
    command
      .description(
        'run all jobs on bundled exports, with an embedded database and the sandbox; nothing leaves this machine',
      )
      .option('--verbose', 'show each run as `run` does')
      .option('--json', 'write events for programs to standard output, one JSON object per line');
    addExamples(command, [
      ['demo', 'see what a run does, and that a second run posts nothing again'],
      ['demo --verbose', 'every step, and all that each run says'],
      ['demo --json | tail -n 1', 'the last event, for a program'],
    ]);
    command.action(
      act(async (output, { verbose = false }: { readonly verbose?: boolean }) => {
        const { runDemo } = await import('../actions/demo/run-demo.ts');
        return runDemo(output, { isVerbose: verbose });
      }),
    );
  },
};
