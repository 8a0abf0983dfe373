import { defineCommand } from '../command.ts';

export const configCommand = defineCommand({
  name: 'config',
  description: 'show every setting, and where its value comes from',
  readsConfig: false,
  examples: [
    ['config', 'every setting with its value on this machine'],
    ['config --json', 'one setting per line, for a program'],
  ],
  notes: 'Secrets are masked: it says only whether they are set.',
  commands: [
    defineCommand({
      name: 'show',
      isDefault: true,
      description:
        'print every setting and where its value comes from: the file, the environment or the default',
      action: async ({ output }, options) => (await import('./show-config.ts')).showConfig(output, options),
    }),
  ],
});
