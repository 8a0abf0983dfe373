import { EXIT } from '../../core/exit-code.ts';
import { defineCommand } from '../command.ts';

export const demoCommand = defineCommand({
  name: 'demo',
  summary: 'run all jobs on bundled exports; nothing leaves this machine',
  description:
    'run all jobs on bundled exports, with an embedded database and the sandbox; nothing leaves this machine',
  readsConfig: false,
  takes: [
    ['--console', 'show the result in the console afterwards, in the browser of this machine'],
    ['--verbose', 'show the output of each run'],
    ['--json', 'write events for programs to standard output, one JSON object per line'],
  ],
  examples: [
    ['demo', 'see what a run does, and that a second run posts nothing twice'],
    ['demo --console', 'look at every order in a browser afterwards'],
    ['demo --verbose', 'every step, and the whole output of each run'],
    ['demo --json | tail -n 1', 'the last event, for a program'],
  ],
  async action({ output }, { verbose = false, console = false }) {
    const { showDemo, runDemo } = await import('./run-demo.ts');
    const exitCode = await runDemo(output, { isVerbose: verbose });
    return console && exitCode === EXIT.ok ? showDemo(output) : exitCode;
  },
});
