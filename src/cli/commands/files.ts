import { type Command, Option } from 'commander';
import {
  type Act,
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parseCount,
} from '../command.ts';

export type FilesOptions = ConfigOptions & {
  readonly source?: string;
  readonly state?: string;
  readonly limit: number;
};
export type ReleaseOptions = ConfigOptions & {
  readonly source?: string;
  readonly reason: string;
  readonly all?: boolean;
  readonly newest?: boolean;
  readonly yes?: boolean;
};
export type RereadOptions = ConfigOptions & { readonly source?: string; readonly layout?: string };

const DEFAULT_LIMIT = 50;
const STATES = ['held', 'new', 'skipped', 'released', 'duplicate', 'read', 'gone'];

export const filesCommand: CommandDefinition = {
  name: 'files',
  define(command, act) {
    addConfigOptions(command.description('list each file of the sources: read, held or skipped, and why'))
      .option('--source <name>', 'one source only')
      .addOption(new Option('--state <state>', 'only those').choices(STATES))
      .option('--limit <count>', 'maximum number of files to list for each source', parseCount, DEFAULT_LIMIT)
      .action(
        act(async (output, options: FilesOptions) =>
          (await import('../actions/manage-files.ts')).showFiles(output, options),
        ),
      );
    addExamples(command, [
      ['files', 'which files were read, are held or skipped, and which the next run reads'],
      ["files release orders-2026-04.csv --reason 'a test export'", 'a held file that you do not need'],
      [
        "files release west.csv --newest --reason 'sent later'",
        'a file that contradicts another one: it counts',
      ],
      ["files release --all --source shop --reason 'test'", 'all held files of a source: asks first'],
      ['files reread orders-2026-04.csv', 'read it again, for example after its layout was corrected'],
      ['files reread --layout etsy-orders', 'all files that were read with a layout'],
    ]);
    defineDecisions(command, act);
  },
};

function defineDecisions(command: Command, act: Act): void {
  addConfigOptions(command.command('release').description('end the hold of files that you do not need'))
    .argument('[name]', 'name of the file, or its full address')
    .option('--all', 'all held files, after a preview')
    .option('--newest', 'it is newer than the files that it contradicts: the next run reads it as such')
    .option('--source <name>', 'one source only')
    .option('--yes', 'with --all: do not ask')
    .requiredOption('--reason <text>', 'why; kept with the file')
    .action(
      act(async (output, name: string | undefined, options: ReleaseOptions) =>
        (await import('../actions/manage-files.ts')).releaseFile(output, name, options),
      ),
    );
  addConfigOptions(command.command('reread').description('let the next run read files again'))
    .argument('[name]', 'name of the file, or its full address')
    .option('--source <name>', 'one source only')
    .option('--layout <name>', 'all files that were read with this layout')
    .action(
      act(async (output, name: string | undefined, options: RereadOptions) =>
        (await import('../actions/manage-files.ts')).rereadFiles(output, name, options),
      ),
    );
}
