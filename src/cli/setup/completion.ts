import { defineCommand } from '../command.ts';

export const completionCommand = defineCommand({
  name: 'completion',
  summary: 'print the completion script of a shell',
  description: 'print a script that completes commands, jobs, sources and layouts in a shell',
  readsConfig: false,
  takes: [['<shell>', 'of which shell', ['bash', 'zsh', 'fish']]],
  examples: [
    ['completion bash >> ~/.bashrc', 'bash'],
    ['completion zsh > ~/.zfunc/_influencer-sync', 'zsh, if fpath contains ~/.zfunc'],
    ['completion fish > ~/.config/fish/completions/influencer-sync.fish', 'fish'],
  ],
  notes: 'It completes `influencer-sync` as installed globally or by an alias, not `npx influencer-sync`.',
  action: async ({ output }, { shell }) => (await import('./complete-words.ts')).printScript(output, shell),
});

/** The command that the completion scripts call. */
export const completeWordsCommand = defineCommand({
  name: 'complete-words',
  description: 'print the possible completions of the last word',
  isHidden: true,
  readsConfig: false,
  takes: [['[words...]', '']],
  adjust: (command) => command.allowUnknownOption(),
  action: async ({ output, self }, { words }) =>
    (await import('./complete-words.ts')).completeWords(output, words, self),
});
