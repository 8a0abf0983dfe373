import { layoutFolders } from '../../../config/layout-folders.ts';
import { checkSource } from '../../../map/check-source.ts';
import { layoutFor } from '../../../map/layout-for.ts';
import { loadLayout, loadLayouts } from '../../../map/load-layout.ts';
import { resolveHeader } from '../../../map/resolve-header.ts';
import type { SourceSettings } from '../../../model/config.ts';
import { FileHeld } from '../../../model/file-held.ts';
import { fileName } from '../../../model/file-name.ts';
import type { Finding } from '../../../model/finding.ts';
import { KnownError } from '../../../model/known-error.ts';
import type { ReadFor } from '../../../model/layout.ts';
import type { SourceFile } from '../../../model/source.ts';
import { parseCsv } from '../../../parse/parse-csv.ts';
import { toParseOptions } from '../../../parse/parse-options.ts';
import { listFiles } from '../../../source/list-files.ts';
import { readText } from '../../../source/read-text.ts';
import type { Check, Patient } from '../check.ts';
import { findingsOf } from '../findings-of.ts';

/** Lists each source, reads the beginning of its newest file, and holds the header against the layout. */
export const sources: Check = {
  name: 'source',
  async look(patient) {
    const findings: Finding[] = [];
    for (const source of Object.values(patient.config.sources))
      findings.push(...(await lookAtSource(patient, source)));
    return findings;
  },
};

async function lookAtSource(patient: Patient, source: SourceSettings): Promise<readonly Finding[]> {
  const about = `source ${source.name}`;
  try {
    const folders = layoutFolders(patient.config.path);
    const layout = loadLayout(source.layout, folders);
    const purposes = readForBy(patient, source);
    for (const readFor of purposes) checkSource(layout, source, readFor);
    let files = 0;
    let newest: SourceFile | null = null;
    for await (const file of listFiles(source, { clients: patient.sourceClients })) {
      files += 1;
      newest = newest === null || isNewer(file, newest) ? file : newest;
    }
    if (newest === null) return [noFiles(about, source)];
    const header = await readHeader(patient, source, newest);
    const others = loadLayouts(folders).filter(({ name }) => name !== layout.name);
    for (const readFor of purposes) resolveHeader(header, layoutFor(layout, readFor) ?? layout, others);
    const count = files === 1 ? '1 file' : `${files.toLocaleString('en')} files`;
    return [
      {
        status: 'ok',
        about,
        what: `${count}; the newest, ${fileName(newest.uri)}, fits the layout ${layout.name}.`,
      },
    ];
  } catch (error) {
    if (error instanceof KnownError) return findingsOf(about, error.details);
    if (!(error instanceof FileHeld)) throw error;
    const { message, help } = error.reason;
    const why = 'A run would hold the file: nothing of it would be posted.';
    return [{ status: 'problem', about, what: message, why, mend: help }];
  }
}

function isNewer(one: SourceFile, other: SourceFile): boolean {
  return (one.modifiedAt?.getTime() ?? 0) >= (other.modifiedAt?.getTime() ?? 0);
}

/** What jobs read the source for; orders, where none does yet. */
function readForBy({ config }: Patient, source: SourceSettings): readonly ReadFor[] {
  const readers = Object.values(config.jobs).filter((job) => job.sources.includes(source.name));
  const purposes = readers.map(({ kind }) => (kind === 'identify-customers' ? 'contacts' : 'orders'));
  return purposes.length === 0 ? ['orders'] : [...new Set(purposes)];
}

async function readHeader(
  { sourceClients: clients, config }: Patient,
  source: SourceSettings,
  file: SourceFile,
): Promise<readonly string[]> {
  const layout = loadLayout(source.layout, layoutFolders(config.path));
  const { chunks } = readText(file, { source, clients, encoding: layout.encoding });
  for await (const { header } of parseCsv(chunks, toParseOptions(layout, source.limits))) return header;
  return [];
}

function noFiles(about: string, source: SourceSettings): Finding {
  return {
    status: 'warning',
    about,
    what: `${source.uri} can be listed, and holds no files.`,
    why: 'A run without any file fails, unless it is told --allow-empty.',
    mend: 'Check the address, the prefix and the glob; or wait for the first export.',
  };
}
