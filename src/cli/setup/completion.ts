import { Argument, type Command } from 'commander';
import { addExamples, type CommandDefinition } from '../command.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export const completionCommand: CommandDefinition = {
  name: 'completion',
  define(command, act) {
    command
      .description('print a script that completes commands, jobs, sources and layouts in a shell')
      .addArgument(new Argument('<shell>', 'of which shell').choices(SHELLS))
      .action(
        act(async (output, shell: Shell) => (await import('./complete-words.ts')).printScript(output, shell)),
      );
    addExamples(command, [
      ['completion bash >> ~/.bashrc', 'bash'],
      ['completion zsh > ~/.zfunc/_influencer-sync', 'zsh, if fpath contains ~/.zfunc'],
      ['completion fish > ~/.config/fish/completions/influencer-sync.fish', 'fish'],
    ]);
    command.addHelpText(
      'after',
      '\nIt completes `influencer-sync` as installed globally or by an alias, not `npx influencer-sync`.',
    );
  },
};

/** The command that the completion scripts call. */
export const completeWordsCommand: CommandDefinition = {
  name: 'complete-words',
  isHidden: true,
  define(command, act) {
    command
      .description('print the possible completions of the last word')
      .argument('[words...]')
      .allowUnknownOption()
      .action(
        act(async (output, words: readonly string[], _options: object, self: Command) =>
          (await import('./complete-words.ts')).completeWords(output, words, self),
        ),
      );
  },
};
