import { type Command, Option } from 'commander';
import {
  type Act,
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
} from '../command.ts';

export type LayoutTestOptions = ConfigOptions & {
  readonly layout?: string;
  readonly timeZone?: string;
  readonly currency?: string;
  readonly dateOrder?: 'MDY' | 'DMY';
};

export const layoutsCommand: CommandDefinition = {
  name: 'layouts',
  define(command, act) {
    addConfigOptions(command.description('list the layouts, and what each needs')).action(
      act(async (output, options: ConfigOptions) =>
        (await import('../../actions/setup/manage-layouts.ts')).listLayouts(output, options),
      ),
    );
    addExamples(command, [
      ['layouts', 'those of the project, and of layouts/ beside the configuration'],
      ['layouts test export.csv', 'what is this file, and how is it read?'],
      ['layouts test export.csv --layout my-shop', 'does my layout fit it?'],
    ]);
    defineTest(command, act);
  },
};

function defineTest(command: Command, act: Act): void {
  addConfigOptions(
    command.command('test').description('show how a layout reads a file: its columns, rows and faults'),
  )
    .argument('<file>', 'an export; S3 addresses work too')
    .option('--layout <name>', 'the layout; without it, the one that the file is recognised by')
    .option('--time-zone <zone>', 'of times without a zone; without it, they are shown as written')
    .option('--currency <code>', 'of amounts without a currency')
    .addOption(new Option('--date-order <order>', 'where dates do not show it').choices(['MDY', 'DMY']))
    .action(
      act(async (output, file: string, options: LayoutTestOptions) =>
        (await import('../../actions/setup/manage-layouts.ts')).testLayout(output, file, options),
      ),
    );
}
