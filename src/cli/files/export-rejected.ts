import { writeFile } from 'node:fs/promises';
import type { PipelineConfig } from '../../config/schema.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { type KnownError, refusal } from '../../core/known-error.ts';
import { fileName } from '../../core/text/file-name.ts';
import type { Database } from '../../db/connect.ts';
import { type FetchRawRows, fetchRejectedRows } from '../../intake/read/fetch-raw-rows.ts';
import { encodeRows } from '../../render/csv.ts';
import { plural } from '../../render/text.ts';
import { listRejected, type RejectedFilter } from '../../reports/files/list-rejected.ts';
import type { Output } from '../terminal/output.ts';

export type ExportInput = {
  readonly db: Database;
  readonly config: PipelineConfig;
  readonly output: Output;
  readonly filter: RejectedFilter;
  readonly fetchRows: FetchRawRows;
  /** A file that does not exist yet, or `-` for standard output. */
  readonly path: string;
  readonly escapeFormulas: boolean;
};

/**
 * Writes rejected rows as they are in their files, under their header, in the encoding and with the delimiter of
 * their files. Once corrected, the file can be imported as it is.
 *
 * @throws KnownError (exit 2) if nothing matches, if the headers of the files differ, or if the target exists.
 */
export async function exportRejected(input: ExportInput): Promise<ExitCode> {
  const { output, path, escapeFormulas } = input;
  if (path === '-' && output.json)
    throw refuse('Rows and events cannot both go to standard output.', 'Omit --json, or name a file.');
  const rejected = await listRejected(input.db, input.filter);
  if (rejected.length === 0)
    throw refuse('No rejected row matches.', 'npx influencer-sync rejected lists them all.');
  const { found, gone } = await fetchRejectedRows({ ...input, rejected });
  const rows = found.flatMap((file) => file.rows);
  if (found.length === 0)
    throw refuse(
      'The files with these rows are gone or were replaced.',
      'Put the same version back, or correct the rows in the shop.',
    );
  const bytes = encodeRows(found, { escapeFormulas });
  if (bytes === null)
    throw refuse(
      'The rows come from files with different headers.',
      'Export them one by one: add --source or --file.',
    );
  if (path === '-') output.write(bytes);
  else await write(path, bytes);
  for (const { uri, rows: missing } of gone)
    output.warn(
      `${fileName(uri)} (${plural(missing, 'row')}) is gone or was replaced, so its rows are missing here.`,
    );
  if (path === '-') return EXIT.ok;
  output.emit({ event: 'exported', path, rows: rows.length });
  output.print(
    `${plural(rows.length, 'row')} written to ${path}. Correct ${rows.length === 1 ? 'it' : 'them'} there and put the file into the folder of the exports.`,
  );
  const places = new Set(rejected.map(({ uri, version, record }) => `${uri} ${version} ${record}`));
  if (places.size < rejected.length)
    output.print('A row that was rejected for two purposes, such as orders and customers, is written once.');
  if (escapeFormulas)
    output.print(
      'Cells that a spreadsheet would execute (they start with = + - @) have a leading apostrophe. It is removed when the file is read.',
    );
  return EXIT.ok;
}

async function write(path: string, bytes: Buffer): Promise<void> {
  try {
    await writeFile(path, bytes, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    const isThere = (cause as NodeJS.ErrnoException).code === 'EEXIST';
    throw refuse(
      isThere ? 'The file already exists.' : 'The file cannot be written.',
      'Name another file.',
      path,
    );
  }
}

function refuse(message: string, help: string, where?: string): KnownError {
  const place = where === undefined ? {} : { where };
  return refusal({ code: 'export_refused', message, help, ...place, safe: 'Nothing was written.' });
}
