import { defineCommand } from '../command.ts';

export const layoutsCommand = defineCommand({
  name: 'layouts',
  description: 'list the layouts, and what a source must set for each',
  examples: [
    ['layouts', 'the layouts of the project, and those in layouts/ next to the configuration'],
    ['layouts test export.csv', 'which layout fits this file, and how it is read'],
    ['layouts test export.csv --layout my-shop', 'how your own layout reads it'],
  ],
  action: async ({ output }, options) => (await import('./manage-layouts.ts')).listLayouts(output, options),
  commands: [
    defineCommand({
      name: 'test',
      description: 'show how a layout reads a file: its columns, rows and faults',
      takes: [
        ['<file>', 'an export; S3 addresses work too'],
        ['--layout <name>', 'the layout (default: the one that recognises the file)'],
        ['--time-zone <zone>', 'time zone of times without one (default: they are shown as written)'],
        ['--currency <code>', 'currency of amounts without one'],
        ['--date-order <order>', 'if the dates do not show it', ['MDY', 'DMY']],
        ['--decimal-mark <mark>', 'the mark before the decimals, if no amount shows it', ['.', ',']],
        ['--encoding <name>', 'encoding, if the letters do not show it'],
      ],
      action: async ({ output }, { file, ...options }) =>
        (await import('./manage-layouts.ts')).testLayout(output, file, options),
    }),
  ],
});
