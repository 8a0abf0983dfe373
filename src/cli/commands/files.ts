import { type Command, Option } from 'commander';
import {
  type Act,
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parseCount,
} from './command.ts';

export type FilesOptions = ConfigOptions & {
  readonly source?: string;
  readonly state?: string;
  readonly limit: number;
};
export type ReleaseOptions = ConfigOptions & { readonly source?: string; readonly reason: string };
export type RereadOptions = ConfigOptions & { readonly source?: string; readonly layout?: string };

const DEFAULT_LIMIT = 50;
const STATES = ['held', 'new', 'skipped', 'released', 'duplicate', 'read', 'gone'];

export const filesCommand: CommandDefinition = {
  name: 'files',
  define(command, act) {
    addConfigOptions(
      command.description('what becomes of each file of the sources: read, held, skipped, and why'),
    )
      .option('--source <name>', 'of one source')
      .addOption(new Option('--state <state>', 'only those').choices(STATES))
      .option('--limit <count>', 'list so many of a source at most', parseCount, DEFAULT_LIMIT)
      .action(
        act(async (output, options: FilesOptions) =>
          (await import('../actions/manage-files.ts')).showFiles(output, options),
        ),
      );
    addExamples(command, [
      ['files', 'what was read, what is held or skipped, and what the next run reads'],
      ["files release orders-2026-04.csv --reason 'a test export'", 'a held file that is not to be missed'],
      ['files reread orders-2026-04.csv', 'read it again, for example after its layout was corrected'],
      ['files reread --layout etsy-orders', 'all that were read with a layout'],
    ]);
    defineDecisions(command, act);
  },
};

function defineDecisions(command: Command, act: Act): void {
  addConfigOptions(
    command.command('release').description('end the hold of a file: what it said is not to be missed'),
  )
    .argument('<name>', 'name of the file, or its whole address')
    .option('--source <name>', 'where the same name is in several sources')
    .requiredOption('--reason <text>', 'why; kept with the file')
    .action(
      act(async (output, name: string, options: ReleaseOptions) =>
        (await import('../actions/manage-files.ts')).releaseFile(output, name, options),
      ),
    );
  addConfigOptions(command.command('reread').description('have the next run read files again'))
    .argument('[name]', 'name of the file, or its whole address')
    .option('--source <name>', 'of one source')
    .option('--layout <name>', 'all files that were read with this layout')
    .action(
      act(async (output, name: string | undefined, options: RereadOptions) =>
        (await import('../actions/manage-files.ts')).rereadFiles(output, name, options),
      ),
    );
}
