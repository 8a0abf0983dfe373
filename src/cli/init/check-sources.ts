import { jobOfSource, proposedJob } from '../../../jobs/attribute-orders/previewed-job.ts';
import { layoutFolders } from '../../config/layout-folders.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import type { SourceSettings } from '../../config/source-fields.ts';
import type { ExitCode } from '../../core/exit-code.ts';
import type { Finding } from '../../core/finding.ts';
import { KnownError } from '../../core/known-error.ts';
import type { SourceFile } from '../../core/source.ts';
import { loadLayouts } from '../../intake/layout/load-layout.ts';
import type { Layout } from '../../intake/layout/to-layout.ts';
import { listFiles } from '../../store/list-files.ts';
import { openSourceClients, type SourceClients } from '../../store/source-clients.ts';
import { openConfig } from '../open/open-config.ts';
import type { Output } from '../terminal/output.ts';
import { openFindings } from '../terminal/show-findings.ts';
import type { InitOptions } from './init-options.ts';
import { examineOrders } from './recognise/examine-orders.ts';
import { type RecognisedFile, recogniseFile, subjectOf } from './recognise/recognise-file.ts';

/** Rows of the newest file to read: enough to see how its values are written. */
const MAX_ROWS = 20_000;

/** Recognises the newest file of each source again and compares it with the configuration. */
export async function checkSources(output: Output, options: InitOptions): Promise<ExitCode> {
  const config = await openConfig(options);
  const layouts = loadLayouts(layoutFolders(config.path));
  const clients = openSourceClients();
  const { show, end } = openFindings(output);
  try {
    for (const source of Object.values(config.sources))
      for (const finding of await checkSource(source, { config, layouts, clients })) show(finding);
  } finally {
    clients.close();
  }
  return end('init_check_finished');
}

type Means = {
  readonly config: PipelineConfig;
  readonly layouts: readonly Layout[];
  readonly clients: SourceClients;
};

async function checkSource(source: SourceSettings, means: Means): Promise<readonly Finding[]> {
  const about = `source ${source.name}`;
  const { layouts, clients } = means;
  try {
    const file = await newestFile(source, clients);
    if (file === null)
      return [{ status: 'warning', about, what: 'It has no files.', fix: `Check its uri: ${source.uri}` }];
    const found = await recogniseFile(file, layouts, { source, clients });
    const name = file.uri.slice(file.uri.lastIndexOf('/') + 1);
    if (!('why' in found)) return await compare(source, found, { ...means, name, about });
    const what = `The newest file, ${name}, cannot be read: ${found.why}`;
    return [{ status: 'problem', about, what, fix: 'Export it again.' }];
  } catch (error) {
    if (!(error instanceof KnownError)) throw error;
    return [{ status: 'problem', about, what: error.details.message, fix: error.details.help }];
  }
}

async function compare(
  source: SourceSettings,
  found: RecognisedFile,
  { name, about, config, layouts, clients }: Means & { readonly name: string; readonly about: string },
): Promise<readonly Finding[]> {
  const { verdict } = found;
  const own = layouts.find((layout) => layout.name === source.layout);
  if (own === undefined) {
    const what = `There is no layout ${source.layout}.`;
    return [{ status: 'problem', about, what, fix: 'List the layouts:  npx influencer-sync layouts' }];
  }
  const isUnknown = verdict.kind === 'unknown';
  if (verdict.kind !== 'known' || !isSameExport(verdict.layout, own)) {
    const is = isUnknown ? 'no layout knows its header' : `it is ${verdict.layout.title}`;
    const { name: other = null } = verdict.kind === 'known' ? verdict.layout : {};
    return [
      {
        status: isUnknown && own.signature.length === 0 ? 'warning' : 'problem',
        about,
        what: `The source has the layout ${source.layout}, but for the newest file, ${name}, ${is}.`,
        why: 'A run would hold this file.',
        fix: other === null ? 'See docs/layouts.md.' : `Set layout: ${other}, or move the file.`,
      },
    ];
  }
  const encoding = source.encoding ?? found.form.encoding;
  const examined =
    subjectOf(own) !== 'orders'
      ? null
      : await examineOrders({
          source,
          clients,
          layout: own,
          written: own,
          maxRows: MAX_ROWS,
          files: [{ file: found.file, encoding }],
          job: jobOfSource(config, source.name) ?? proposedJob({ brandId: null, include: null }),
        });
  const problems =
    examined === null
      ? []
      : [
          ...examined.changes.map(({ path, why }) => `${path.join('.')} of the layout does not fit: ${why}`),
          ...examined.problems,
          examined.needsZone && source.timeZone === null && 'time_zone is missing',
          examined.currency !== null && source.currency === null && 'currency is missing',
          examined.dateOrder === 'open' && 'date_order is missing: the dates do not show it',
          examined.dateOrder === 'mixed' && 'some dates have the day first and some the month',
          examined.decimalMark === 'open' && 'decimal_mark is missing: the amounts do not show it',
          found.form.encoding !== null &&
            source.encoding === null &&
            own.encoding === 'utf-8' &&
            `encoding: ${encoding} is missing`,
        ].filter((problem) => problem !== false);
  if (problems.length === 0)
    return [{ status: 'ok', about, what: `${name} is ${own.title}, as configured.` }];
  const fix = `Correct sources.${source.name}, or the layout ${own.name}.`;
  return problems.map((what) => ({
    status: 'problem',
    about,
    what: `${name}: ${what.replace(/\.$/, '')}.`,
    fix,
  }));
}

/** A modified copy of a layout has the signature of the original. */
function isSameExport(found: Layout, own: Layout): boolean {
  return found.name === own.name || JSON.stringify(found.signature) === JSON.stringify(own.signature);
}

async function newestFile(source: SourceSettings, clients: SourceClients): Promise<SourceFile | null> {
  let newest: SourceFile | null = null;
  for await (const file of listFiles(source, { clients }))
    if (newest === null || (file.modifiedAt ?? 0) >= (newest.modifiedAt ?? 0)) newest = file;
  return newest;
}
