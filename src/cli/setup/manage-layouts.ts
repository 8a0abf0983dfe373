import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type JobOfSource, jobOfSource, proposedJob } from '../../../jobs/attribute-orders/previewed-job.ts';
import { layoutFolders } from '../../config/layout-folders.ts';
import { type SourceSettings, sourceAt } from '../../config/source-fields.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { FileHeld } from '../../core/held/file-held.ts';
import { KnownError, refusal } from '../../core/known-error.ts';
import { LAYOUT_FIELDS, type LayoutField, type ReadFor } from '../../core/layout.ts';
import type { SourceFile } from '../../core/source.ts';
import { foldHeader } from '../../core/text/fold.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import { joinLines } from '../../core/text/wrap.ts';
import { layoutFor } from '../../intake/layout/layout-for.ts';
import { loadLayout, loadLayouts } from '../../intake/layout/load-layout.ts';
import { loweringColumns } from '../../intake/layout/lowering-columns.ts';
import { listSpellings, resolveHeader } from '../../intake/layout/resolve-header.ts';
import type { Layout } from '../../intake/layout/to-layout.ts';
import { renderTable } from '../../render/table.ts';
import type { Terminal } from '../../render/terminal.ts';
import { plural } from '../../render/text.ts';
import { listFiles } from '../../store/list-files.ts';
import { openSourceClients, type SourceClients } from '../../store/source-clients.ts';
import { customersLines, ordersLines } from '../init/describe-sources.ts';
import { type CustomersExamined, examineCustomers } from '../init/recognise/examine-customers.ts';
import { examineOrders, type OrdersExamined } from '../init/recognise/examine-orders.ts';
import { MAX_ROWS } from '../init/recognise/recognise.ts';
import {
  describeEncodings,
  detectTextForm,
  type ReadingMeans,
  readTop,
  recogniseFile,
  subjectOf,
} from '../init/recognise/recognise-file.ts';
import { findConfig } from '../open/find-config.ts';
import { type ConfigOptions, openConfig } from '../open/open-config.ts';
import type { Output } from '../terminal/output.ts';

export type LayoutTestOptions = ConfigOptions & {
  readonly layout?: string;
  readonly timeZone?: string;
  readonly currency?: string;
  readonly dateOrder?: 'MDY' | 'DMY';
  readonly decimalMark?: '.' | ',';
  readonly encoding?: string;
};

/** Lists every layout that a configuration can use. The configuration itself need not exist. */
export async function listLayouts(output: Output, options: ConfigOptions): Promise<void> {
  const folders = foldersOf(options);
  // In the project's own folder there are no other layouts.
  const own = folders.length > 1 ? (folders[0] ?? '') : '';
  const listed = loadLayouts(folders).map((layout) => {
    const { name, title, required, lacks } = layout;
    return {
      name,
      title,
      subject: subjectOf(layout) ?? 'orders',
      isOwn: own !== '' && existsSync(join(own, `${name}.yaml`)),
      required,
      given: lacks.filter((lack) => isGiven(layout, lack)),
      lacks,
    };
  });
  for (const layout of listed) output.emit({ event: 'layout', ...layout });
  output.print(
    renderTable(
      [{ title: 'Layout' }, { title: 'Reads' }, { title: 'The source gives' }, { title: 'Export' }],
      listed.map(({ name, title, subject, isOwn, given }) => [
        isOwn ? `${name} (own)` : name,
        ...[subject, given.join(', '), title],
      ]),
      { terminal: output.terminal },
    ),
  );
}

/**
 * Whether the source must set a missing value. For exports of orders, consent matters only if a job reads
 * their customers.
 */
function isGiven(layout: Layout, lack: Layout['lacks'][number]): boolean {
  return (
    lack === 'currency' || lack === 'time_zone' || (lack === 'consent' && subjectOf(layout) === 'customers')
  );
}

function foldersOf(options: ConfigOptions): readonly string[] {
  return layoutFolders(configPathOf(options));
}

function configPathOf({ config }: ConfigOptions): string {
  return resolve(findConfig(config).path ?? 'pipeline.yaml');
}

/**
 * Reads one file with a layout, and shows its columns, its rows and what cannot be used. It stores and sends nothing.
 */
export async function testLayout(
  output: Output,
  place: string,
  options: LayoutTestOptions,
): Promise<ExitCode> {
  const layouts = loadLayouts(foldersOf(options));
  const clients = openSourceClients();
  try {
    const {
      layout: named,
      config: _config,
      envFile: _envFile,
      json: _json,
      onMisled: _misled,
      onConfigFound: _found,
      ...given
    } = options;
    const plain = { ...sourceAt(place), ...given };
    const file = await onlyFile(place, clients);
    const layout =
      named === undefined
        ? await recognised(file, layouts, { source: plain, clients })
        : loadLayout(named, foldersOf(options));
    const configured = await configuredFor(layout, options);
    const source = configured === null ? plain : { ...configured.source, uri: plain.uri, ...given };
    const means = { source, clients };
    const { encoding, possible } = await detectTextForm(file, means);
    if (possible !== null)
      throw refusal({
        code: 'encoding_unclear',
        message: describeEncodings(possible),
        where: place,
        help: 'Name the encoding in which these words or letters look right:  --encoding NAME',
        safe: 'Nothing was stored or sent.',
      });
    const top = await readTop(file, layout, { ...means, encoding });
    if ('held' in top) throw top.held;
    const subject = subjectOf(layout) ?? 'orders';
    const columns = describeColumns(top.header, layout, subject);
    const examine = { ...means, files: [{ file, encoding }], layout, written: layout, maxRows: MAX_ROWS };
    const job = configured?.job ?? proposedJob({ brandId: null, include: null });
    const examined =
      subject === 'orders'
        ? await examineOrders({
            ...examine,
            job,
            previewed: configured === null ? 'as_written' : 'as_configured',
          })
        : subject === 'customers'
          ? await examineCustomers(examine)
          : null;
    const rows = top.records.length;
    const tested = { subject, encoding, columns, rows, job: configured?.job.name ?? null };
    output.emit({
      event: 'layout_tested',
      layout: layout.name,
      ...tested,
      examined: examined === null ? null : { ...examined, layout: layout.name },
    });
    output.print(renderTest({ ...tested, layout, examined }, output.terminal));
    return faultsOf(examined) === 0 ? EXIT.ok : EXIT.rowsRejected;
  } catch (error) {
    if (!(error instanceof FileHeld)) throw error;
    throw new KnownError({
      code: error.reason.code,
      message: error.message,
      where: place,
      help: error.reason.help,
      safe: 'Nothing was stored or sent.',
      exitCode: EXIT.rowsRejected,
    });
  } finally {
    clients.close();
  }
}

/**
 * The source with this layout and the job that credits its orders, as configured. Null if there is no configuration that
 * can be read, or not exactly one such source: then the default settings are shown.
 */
async function configuredFor(
  layout: Layout,
  options: ConfigOptions,
): Promise<{ readonly source: SourceSettings; readonly job: JobOfSource } | null> {
  if (!existsSync(configPathOf(options))) return null;
  try {
    const { onConfigFound: _said, ...unsaid } = options;
    const config = await openConfig(unsaid);
    const [source, other] = Object.values(config.sources).filter((one) => one.layout === layout.name);
    const job = source === undefined || other !== undefined ? null : jobOfSource(config, source.name);
    return source === undefined || job === null ? null : { source, job };
  } catch (error) {
    if (error instanceof KnownError) return null;
    throw error;
  }
}

function faultsOf(examined: OrdersExamined | CustomersExamined | null): number {
  if (examined === null) return 0;
  if (examined.kind === 'customers') return examined.held.length + examined.rejected;
  const { preview, changes } = examined;
  return preview.held.length + preview.heldOrders.length + preview.rejected.length + changes.length;
}

async function recognised(
  file: SourceFile,
  layouts: readonly Layout[],
  means: ReadingMeans,
): Promise<Layout> {
  const found = await recogniseFile(file, layouts, means);
  if (!('why' in found) && found.verdict.kind === 'known') return found.verdict.layout;
  throw refusal({
    code: 'not_recognised',
    message: 'why' in found ? found.why : 'No layout knows the header of this file.',
    where: file.uri,
    help: 'Name a layout with --layout, or let one be proposed:  npx influencer-sync init FOLDER',
    safe: 'Nothing was stored or sent.',
  });
}

async function onlyFile(place: string, clients: SourceClients): Promise<SourceFile> {
  const files: SourceFile[] = [];
  for await (const file of listFiles(sourceAt(place), { clients })) {
    files.push(file);
    if (files.length > 1) break;
  }
  const [file] = files;
  if (file !== undefined && files.length === 1) return file;
  throw refusal({
    code: 'not_one_file',
    message: files.length === 0 ? 'There is no file.' : 'There are several files.',
    where: place,
    help: 'Name one file.',
    safe: 'Nothing was read.',
  });
}

/** The columns of a file that each field of a layout is read from, and the columns that are not read. */
type ColumnUse = {
  readonly fields: readonly { readonly field: LayoutField; readonly columns: readonly string[] }[];
  readonly unused: readonly string[];
  /** Columns that could only lower an amount or exclude an order and that the file lacks, as the layout allows. */
  readonly mayBeMissing: readonly { readonly column: string; readonly reason: string }[];
};

function describeColumns(header: readonly string[], layout: Layout, readFor: ReadFor): ColumnUse {
  const reduced = layoutFor(layout, readFor) ?? layout;
  const resolved = resolveHeader(header, reduced);
  const fields = LAYOUT_FIELDS.flatMap((field) => {
    const columns = resolved.fields[field].map(({ name }) => name);
    return columns.length === 0 ? [] : [{ field, columns }];
  });
  const read = new Set(listSpellings(reduced).map(foldHeader));
  const unused = header
    .map((name) => name.trim())
    .filter((name) => name !== '' && !read.has(foldHeader(name)));
  const mayBeMissing =
    readFor === 'orders'
      ? loweringColumns(reduced).flatMap(({ columns, mayBeMissing: reason }) =>
          reason === null || resolved.find(columns) !== null ? [] : [{ column: columns[0] ?? '', reason }],
        )
      : [];
  return { fields, unused, mayBeMissing };
}

type Tested = {
  readonly layout: Layout;
  readonly subject: ReadFor;
  readonly columns: ColumnUse;
  readonly examined: OrdersExamined | CustomersExamined | null;
  readonly rows: number;
  /** The configured job whose settings decide about the orders; null for the default settings. */
  readonly job: string | null;
};

function renderTest({ layout, subject, columns, examined, rows, job }: Tested, terminal: Terminal): string {
  const { fields, unused, mayBeMissing } = columns;
  const quoted = unused.map((name) => `"${toPrintableLine(name)}"`).join(', ');
  return joinLines(
    `${terminal.style('bold', layout.name)}: ${layout.title}, read for ${subject}.`,
    '',
    renderTable(
      [{ title: 'Field' }, { title: 'Column' }],
      fields.map(({ field, columns: names }) => [field, names.join(', else ')]),
      { terminal, indent: '  ' },
    ),
    '',
    unused.length === 0
      ? '  Every column is read.'
      : `  ${plural(unused.length, 'column')} not read: ${quoted}`,
    mayBeMissing.map(
      ({ column, reason }) =>
        `  "${toPrintableLine(column)}" is missing, which the layout allows: ${toPrintableLine(reason)}`,
    ),
    '',
    examined === null && `  ${plural(rows, 'row')} seen.`,
    examined?.kind === 'orders' && [
      job === null
        ? '  As a job with the default settings decides:'
        : `  As the job ${toPrintableLine(job)} of the configuration decides:`,
      ordersLines(examined, terminal),
    ],
    examined?.kind === 'customers' && customersLines(examined),
  );
}
