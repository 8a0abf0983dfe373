import { EXIT } from '../../core/exit-code.ts';
import { defineCommand, parseCount, parseId } from '../command.ts';

export const rejectedCommand = defineCommand({
  name: 'rejected',
  summary: 'list rows that could not be used, or export them to correct',
  description:
    'list rows that could not be used, each with its reason; or export them so that you can correct them',
  takes: [
    ['--run <id>', 'one run only', parseId],
    ['--source <name>', 'one source only'],
    ['--file <text>', 'only files whose address contains this text'],
    ['--code <code>', 'only rows with this reason'],
    ['--all', 'also rows whose order a file that was read later states (--run lists them, too)'],
    ['--limit <count>', 'maximum rows to list', parseCount, 50],
    [
      '--export <file>',
      'write the original rows to a CSV file (- for standard output), to correct and put back',
    ],
    ['--no-escape-formulas', 'with --export: write cells that start with = + - @ unchanged'],
  ],
  examples: [
    ['rejected', 'rows that could not be used'],
    ['rejected --run 12 --export fix.csv', 'the rows of run 12, to correct in a spreadsheet and put back'],
  ],
  async action({ output, open }, options) {
    const { config, read } = await open();
    const filter = {
      isOpen: options.all !== true && options.run === undefined,
      ...(options.run === undefined ? {} : { runId: options.run }),
      ...(options.source === undefined ? {} : { sources: [options.source] }),
      ...(options.file === undefined ? {} : { file: options.file }),
      ...(options.code === undefined ? {} : { code: options.code }),
    };
    const { export: path, escapeFormulas, limit } = options;
    if (path !== undefined) {
      const { exportRejected } = await import('./export-rejected.ts');
      const { fetchRawRows: fetchRows } = await import('../../intake/read/fetch-raw-rows.ts');
      return read((db) => exportRejected({ db, config, output, filter, path, escapeFormulas, fetchRows }));
    }
    const { countRejected, listRejected } = await import('../../reports/files/list-rejected.ts');
    const { describeRejected } = await import('../../reports/files/read-files.ts');
    const { rows, total, settled } = await read(async (db) => {
      const total = await countRejected(db, filter);
      const all = options.all === true ? total : await countRejected(db, { ...filter, isOpen: false });
      return { rows: await listRejected(db, { ...filter, limit }), total, settled: all - total };
    });
    for (const row of rows) output.emit({ event: 'rejected_row', ...row });
    const isFiltered = [options.run, options.source, options.file, options.code].some(
      (value) => value !== undefined,
    );
    output.show(describeRejected({ rows, total, settled, isFiltered }));
    return EXIT.ok;
  },
});
