import type { Command } from 'commander';
import { EXIT } from '../../core/exit-code.ts';
import { defineCommand } from '../command.ts';

export const helpCommand = defineCommand({
  name: 'help',
  summary: 'show the help of a command, or find pages and error codes',
  description: 'show the help of a command; or search commands, pages and error codes for words',
  readsConfig: false,
  takes: [['[words...]', 'a command, an error code, a page, or words']],
  examples: [
    ['help run', 'the options and examples of a command'],
    ['help database_lost', 'what an error means, and what to do'],
    ['help refund', 'commands, pages and errors about refunds'],
    ['help docs/layouts.md', 'a page that a message names'],
  ],
  async action({ output, self }, { words }) {
    const program = self.parent ?? self;
    const command = commandAt(program, words);
    if (command === null)
      return (await import('./search-help.ts')).searchHelp(output, words.join(' '), program);
    command.outputHelp();
    return EXIT.ok;
  },
});

/** The command with these words; null if they are not only names of commands. */
function commandAt(program: Command, words: readonly string[]): Command | null {
  let at: Command | null = program;
  for (const word of words) at = at?.commands.find((one) => one.name() === word) ?? null;
  return at;
}
