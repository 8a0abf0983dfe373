import type { Command } from 'commander';
import { EXIT } from '../../core/exit-code.ts';
import type { FetchRawRows } from '../../intake/read/fetch-raw-rows.ts';
import type { RejectedFilter } from '../../reports/files/list-rejected.ts';
import {
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parseCount,
  parseId,
} from '../command.ts';

type Options = ConfigOptions & {
  readonly run?: string;
  readonly source?: string;
  readonly file?: string;
  readonly code?: string;
  readonly limit: number;
  readonly export?: string;
  readonly escapeFormulas: boolean;
};

const DEFAULT_LIMIT = 50;

/** @param loadFetchRows loads the function with which `--export` reads rows; null to leave out `--export`. */
export const rejectedCommand = (loadFetchRows: (() => Promise<FetchRawRows>) | null): CommandDefinition => ({
  name: 'rejected',
  define(command, act) {
    addConfigOptions(
      command.description(
        'list rows that could not be used, each with its reason; or export them so that you can correct them',
      ),
    )
      .option('--run <id>', 'one run only', parseId)
      .option('--source <name>', 'one source only')
      .option('--file <text>', 'only files whose address contains this text')
      .option('--code <code>', 'only rows with this reason')
      .option('--limit <count>', 'maximum rows to list', parseCount, DEFAULT_LIMIT);
    if (loadFetchRows !== null) addExportOptions(command);
    addExamples(command, [
      ['rejected', 'rows that could not be used'],
      ['rejected --run 12 --export fix.csv', 'the rows of run 12, to correct in a spreadsheet and put back'],
    ]);
    command.action(
      act(async (output, options: Options) => {
        const { openConfig, reading, withDatabase } = await import('../open/open-config.ts');
        const config = await openConfig(options);
        if (loadFetchRows !== null && options.export !== undefined) {
          const { exportRejected } = await import('./export-rejected.ts');
          const fetchRows = await loadFetchRows();
          const target = { path: options.export, escapeFormulas: options.escapeFormulas, fetchRows };
          return withDatabase(
            config,
            (db) => exportRejected({ db, config, output, filter: toFilter(options), ...target }),
            reading(output),
          );
        }
        const { countRejected, listRejected } = await import('../../reports/files/list-rejected.ts');
        const { describeRejected } = await import('../../reports/files/read-files.ts');
        const filter = toFilter(options);
        const { rows, total } = await withDatabase(
          config,
          async (db) => ({
            rows: await listRejected(db, { ...filter, limit: options.limit }),
            total: await countRejected(db, filter),
          }),
          reading(output),
        );
        for (const row of rows) output.emit({ event: 'rejected_row', ...row });
        const isFiltered = Object.keys(filter).length > 0;
        output.show(describeRejected({ rows, total, isFiltered }));
        return EXIT.ok;
      }),
    );
  },
});

function addExportOptions(command: Command): void {
  command
    .option(
      '--export <file>',
      'write the original rows to a CSV file (- for standard output), to correct and put back',
    )
    .option('--no-escape-formulas', 'with --export: write cells that start with = + - @ unchanged');
}

function toFilter({ run, source, file, code }: Options): RejectedFilter {
  return {
    ...(run === undefined ? {} : { runId: run }),
    ...(source === undefined ? {} : { sources: [source] }),
    ...(file === undefined ? {} : { file }),
    ...(code === undefined ? {} : { code }),
  };
}
