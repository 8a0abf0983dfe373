import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { KnownError, refusal } from '../../core/known-error.ts';
import { fileName } from '../../core/text/file-name.ts';
import type { Database } from '../../db/connect.ts';
import type { KnownFile } from '../../intake/files/list-known-files.ts';
import { plural } from '../../render/text.ts';
import { defineCommand, parseCount } from '../command.ts';
import type { Output } from '../terminal/output.ts';
import { usageError } from '../usage-error.ts';

const STATES = ['held', 'new', 'skipped', 'released', 'duplicate', 'read', 'gone'];

const releaseCommand = defineCommand({
  name: 'release',
  decides: { says: 'why', kept: 'with the file' },
  description: 'end the hold of files that you do not need',
  takes: [
    ['[name]', 'name of the file, or its full address'],
    ['--all', 'all held files, after a preview'],
    ['--newest', 'it is newer than the files that it contradicts: the next run reads it as such'],
    ['--source <name>', 'one source only'],
    ['--yes', 'with --all: do not ask'],
  ],
  async action({ output, open }, { name, all, source = null, yes = false, newest = false, dryRun, reason }) {
    const { findSource } = await import('../open/open-config.ts');
    const { decideMany } = await import('../review/decide-many.ts');
    const { decidedHere } = await import('../terminal/read-operator.ts');
    const { inTransaction } = await import('../../db/in-transaction.ts');
    const { releaseHeldFiles } = await import('../../decisions/release-files.ts');
    const { previewFiles } = await import('../../decisions/settle-many.ts');
    const { config, change } = await open();
    if ((name === undefined) === (all !== true))
      throw usageError(
        'The command does not say which files to release.',
        'Give the name of a file, or --all.',
      );
    if (newest && name === undefined)
      throw usageError('Only one file can be the newest.', 'Give the name of a file with --newest.');
    if (source !== null) findSource(config, source);
    return change(async (db) => {
      if (name === undefined)
        return decideMany(db, {
          output,
          reason,
          yes,
          dryRun,
          leaseMs: config.api.leaseSeconds * 1000,
          none: 'No file is held.',
          preview: (trx) =>
            previewFiles(trx, {
              ...decidedHere(trx),
              via: 'command',
              reason,
              decision: 'release',
              files: { source, state: 'held' },
              chosen: `All files that are held${source === null ? '' : `, of source ${source}`}`,
            }),
        });
      const files = await findFiles(db, name, { source, what: 'held', states: ['held'] });
      if (newest) return takeNewest(db, { output, name, files, reason });
      await inTransaction(db, (trx) => releaseHeldFiles(trx, { files, reason, ...decidedHere(trx) }));
      for (const file of files)
        output.emit({ event: 'file_released', source: file.source, uri: file.uri, reason });
      output.print(`The rows of ${name} are discarded. A run still reads a new version under its name.`);
      return EXIT.ok;
    });
  },
});

const rereadCommand = defineCommand({
  name: 'reread',
  changes: true,
  description: 'let the next run read files again',
  takes: [
    ['[name]', 'name of the file, or its full address'],
    ['--source <name>', 'one source only'],
    ['--layout <name>', 'all files that were read with this layout'],
  ],
  /** Marks files to be read again by the next run, by name or by layout. */
  async action({ output, open }, { name, layout, source = null }) {
    const { rereadFilesAgain } = await import('../../decisions/release-files.ts');
    if ((name === undefined) === (layout === undefined))
      throw usageError(
        'The command does not say which files to read again.',
        'Give the name of a file, or --layout.',
      );
    const { decide } = await open();
    const count = await decide(async (trx, here) => {
      const files =
        name === undefined
          ? await readWith(trx, { layout: layout ?? '', source })
          : await findFiles(trx, name, { source, what: 'read or held', states: null });
      const filter = name === undefined ? { filter: { layout, source } } : {};
      return rereadFilesAgain(trx, { files, reason: null, ...filter, ...here });
    });
    output.emit({ event: 'reread_requested', files: count });
    output.print(
      `The next run reads ${plural(count, 'file')} again, if ${count === 1 ? 'it still exists' : 'they still exist'} in the same version. Posted orders stay posted: if the content of an order has changed, the change is recorded as an adjustment, and nothing is sent twice.`,
    );
  },
});

export const filesCommand = defineCommand({
  name: 'files',
  description: 'list each file of the sources: read, held or skipped, and why',
  takes: [
    ['--source <name>', 'one source only'],
    ['--state <state>', 'only those', STATES],
    ['--limit <count>', 'maximum number of files to list for each source', parseCount, 50],
  ],
  examples: [
    ['files', 'which files were read, are held or skipped, and which the next run reads'],
    ["files release orders-2026-04.csv --reason 'a test export'", 'a held file that you do not need'],
    [
      "files release west.csv --newest --reason 'sent later'",
      'a file that contradicts another one: it counts',
    ],
    ["files release --all --source shop --reason 'test'", 'all held files of a source: asks first'],
    ['files reread orders-2026-04.csv', 'read it again, for example after its layout was corrected'],
    ['files reread --layout etsy-orders', 'all files that were read with a layout'],
  ],
  /**
   * Lists the files of every source. If a source cannot be listed, its error is shown and determines the exit
   * code; the other sources are still listed.
   */
  async action({ output, open }, options) {
    const { jobKinds } = await import('../../../jobs/index.ts');
    const { findSource } = await import('../open/open-config.ts');
    const { describeSurvey } = await import('../../reports/files/files.ts');
    const { surveyFiles } = await import('../../reports/files/survey-files.ts');
    const { openSourceClients } = await import('../../store/source-clients.ts');
    const { config, read } = await open();
    const sources =
      options.source === undefined ? Object.values(config.sources) : [findSource(config, options.source)];
    const clients = openSourceClients();
    let exitCode: ExitCode = EXIT.ok;
    try {
      await read(async (db) => {
        for (const source of sources) {
          try {
            const all = await surveyFiles(db, { config, kinds: jobKinds, source, clients });
            const files = all.filter(({ state }) => options.state === undefined || state === options.state);
            for (const file of files.slice(0, options.limit)) output.emit({ event: 'file', ...file });
            output.show(describeSurvey({ source, all, files, limit: options.limit }));
          } catch (error) {
            if (!(error instanceof KnownError)) throw error;
            output.fail(error.details);
            exitCode = error.details.exitCode;
          }
        }
      });
    } finally {
      clients.close();
    }
    return exitCode;
  },
  commands: [releaseCommand, rereadCommand],
});

async function takeNewest(
  db: Database,
  options: {
    readonly output: Output;
    readonly name: string;
    readonly files: readonly KnownFile[];
    readonly reason: string;
  },
): Promise<ExitCode> {
  const { decidedHere } = await import('../terminal/read-operator.ts');
  const { inTransaction } = await import('../../db/in-transaction.ts');
  const { takeAsNewest } = await import('../../decisions/release-files.ts');
  const { output, name, files, reason } = options;
  const taken = await inTransaction(db, (trx) => takeAsNewest(trx, { files, reason, ...decidedHere(trx) }));
  if (taken === 0)
    throw usageError(
      `${name} is not held because it contradicts another file, or somebody has said that it is the newest.`,
      'npx influencer-sync files says why it is held, and what ends the hold.',
    );
  for (const { source, uri } of files) output.emit({ event: 'file_is_newest', source, uri, reason });
  output.print(`${name} is newer than all files of its source so far. The next run reads it as such.`);
  return EXIT.ok;
}

async function readWith(
  db: Database,
  { layout, source }: { layout: string; source: string | null },
): Promise<readonly KnownFile[]> {
  const { listKnownFiles } = await import('../../intake/files/list-known-files.ts');
  const files = await listKnownFiles(db, { layout, ...(source === null ? {} : { source }) });
  const wanted = files.filter(({ state }) => state === 'sealed' || state === 'held');
  if (wanted.length > 0) return wanted;
  throw notFound(
    `No file was read with the layout ${layout}.`,
    'npx influencer-sync files lists the files that were read; the layout of a source is in pipeline.yaml.',
  );
}

async function findFiles(
  db: Database,
  name: string,
  {
    source,
    what,
    states,
  }: { source: string | null; what: string; states: readonly KnownFile['state'][] | null },
): Promise<readonly KnownFile[]> {
  const { listKnownFiles } = await import('../../intake/files/list-known-files.ts');
  const files = await listKnownFiles(db, source === null ? {} : { source });
  const found = files.filter(
    (file) =>
      (file.uri === name || fileName(file.uri) === name) &&
      (states === null ? file.state !== 'reading' : states.includes(file.state)),
  );
  const places = [...new Set(found.map((file) => `${file.source}: ${file.uri}`))];
  if (places.length > 1)
    throw usageError(
      `Several files are called "${name}".`,
      `Give the full address, or --source. They are: ${places.slice(0, 5).join(', ')}${places.length > 5 ? ', …' : ''}.`,
    );
  if (found.length > 0) return found;
  throw notFound(`No ${what} file is called "${name}".`, 'npx influencer-sync files lists them.');
}

function notFound(message: string, help: string): KnownError {
  return refusal({ code: 'file_not_found', message, help });
}
