import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { KnownError } from '../../core/known-error.ts';
import { formatAmounts } from '../../core/money.ts';
import type { RawRows } from '../../core/record.ts';
import type { RejectedRowInFile } from '../../core/report.ts';
import { fileName } from '../../core/text/file-name.ts';
import type { FoundRows } from '../../intake/read/fetch-raw-rows.ts';
import { column, number } from '../../render/block.ts';
import { encodeRows } from '../../render/csv.ts';
import { type Html, html, prose } from '../../render/html/html.ts';
import { formatCount, plural } from '../../render/text.ts';
import {
  listRejected,
  listRejectedCauses,
  listRejectedSources,
  type RejectedFilter,
} from '../../reports/files/list-rejected.ts';
import { definePage, type Shown, type Visit } from '../console-page.ts';
import { byId, byText, byWord, readFilter } from '../markup/filter.ts';
import { anchor, factList, isFiltered, missing, pagedTable } from '../markup/parts.ts';
import { keyedPageOf } from '../read-query.ts';

const PATH = '/rejected';
const MAX_DOWNLOAD_ROWS = 10_000;
/** Names of files beside a download of their rows. */
const SHOWN_NAMES = 3;
const MAX_PREVIEW_ROWS = 500;
const PREVIEW_LIMIT_MS = 10_000;
const DOWNLOAD_LIMIT_MS = 60_000;

/** Rejected rows, by cause. What reads files is loaded when a person asks for their rows, so that an idle console is small. */
export const rejectedPage = definePage(PATH, async (visit) => {
  const asked = readFilter(visit, {
    code: byWord('Cause', []),
    source: byText('Source', Object.keys(visit.config.sources)),
    file: byText('File contains'),
    run: byId('Run'),
  });
  const { source, run: runId, ...of } = asked.filter;
  // Of a run, also those that are settled.
  const filter = { ...of, runId, isOpen: runId === null, sources: source === null ? null : [source] };
  if (visit.query.get('download') === 'csv') return download(visit, filter);
  const [causes, sources, rows] = await Promise.all([
    listRejectedCauses(visit.db, filter),
    listRejectedSources(visit.db, filter),
    listRejected(visit.db, { ...filter, ...keyedPageOf(visit, { sourceFileId: 'whole', record: 'whole' }) }),
  ]);
  const total = causes.reduce((sum, cause) => sum + cause.rows, 0);
  return {
    title: 'Rejected rows',
    content: html`${
      total === 0
        ? isFiltered(visit)
          ? null
          : html`<p class="green">No row is rejected.</p>`
        : html`<p>${plural(total, 'row')} could not be used. To correct rows, put them into the folder of the exports: the next run reads them. What they are worth is not known, because they could not be read.</p>
${visit.may('see raw rows') ? html`<p>Download the rows as CSV, to correct them: ${sources.map((source, index) => html`${index === 0 ? null : ', '}${anchor(visit.link(PATH, { ...chosen(visit), source, download: 'csv' }), `those of ${source}`)}`)}. A row that is rejected for two purposes, orders and customers, is in the file once.</p>` : null}`
    }
${asked.form({ code: causes.map(({ code }) => code) })}
<h2>By cause</h2>
${pagedTable({ rows: causes, visit, about: 'Causes', none: 'There are none.' }, [
  column('Cause', ({ code }) =>
    anchor(visit.link(PATH, { ...chosen(visit), code }), code.replaceAll('_', ' ')),
  ),
  number('Rows', ({ rows }) => formatCount(rows)),
  number('Files', ({ files }) => formatCount(files)),
  column('What is wrong, in the first row', ({ reason }) => reason),
  column('How to fix it', ({ help }) => prose(help)),
  column('Effect', ({ code }) =>
    anchor(
      visit.link(PATH, { ...chosen(visit), code, effect: 'yes' }),
      html`Preview the fix of ${code.replaceAll('_', ' ')}`,
    ),
  ),
])}
${await fixEffect(visit, filter)}
<h2>Rows</h2>
${pagedTable(
  { rows, visit, about: 'Rejected rows', none: 'There are none.', key: ['sourceFileId', 'record'] },
  [
    column('Row', ({ uri, line, sourceFileId, record }) =>
      anchor(visit.link(`${PATH}/${sourceFileId}/${record}`), `${fileName(uri)} line ${formatCount(line)}`),
    ),
    column(
      'What is wrong',
      ({ reason, code, rowCount }) =>
        html`${reason} <small>${code.replaceAll('_', ' ')}${rowCount > 1 ? `, ${plural(rowCount, 'row')}` : ''}</small>`,
    ),
    column('Value', ({ column, value }) => (value === null ? column : html`${column} <code>${value}</code>`)),
    column('Source', ({ source }) => source),
    column('Read for', ({ readFor }) => readFor),
    column('Run', ({ runId }) => anchor(visit.link(`/runs/${runId}`), runId)),
  ],
)}`,
  };
});

/**
 * Shows on request what fixing the rows of a cause would bring. This reads their files again, which takes a
 * while.
 */
async function fixEffect({ db, config, query }: Visit, filter: RejectedFilter): Promise<Html | null> {
  if (filter.code == null || query.get('effect') !== 'yes') return null;
  const title = html`<h2>What fixing ${filter.code.replaceAll('_', ' ')} would bring</h2>`;
  const rejected = await listRejected(db, { ...filter, limit: MAX_PREVIEW_ROWS });
  if (rejected.length === 0) return null;
  const { fetchRawRows } = await import('../../intake/read/fetch-raw-rows.ts');
  const { previewFix } = await import('../preview-fix.ts');
  const { jobOfSource } = await import('../../../jobs/attribute-orders/previewed-job.ts');
  const jobOf = (source: string) => jobOfSource(config, source);
  const read = await withinLimit(
    previewFix({ config, rejected, fetchRows: fetchRawRows, jobOf }),
    PREVIEW_LIMIT_MS,
  );
  if (read.kind === 'failed') return html`${title}<p class="none">${read.why}</p>`;
  const { orders, creditable, excluded, held, amounts, unknownAmounts, stillRejected, gone } = read.value;
  const among =
    rejected.length === MAX_PREVIEW_ROWS ? `Of the first ${formatCount(MAX_PREVIEW_ROWS)} of them: ` : '';
  return html`${title}
<p>The preview assumes a correct value in place of each fault. Nothing is stored. Whether an order is credited is decided when the corrected rows are read.</p>
<p>${among}<strong>${plural(orders, 'order')}</strong> would be read. ${formatCount(creditable)} of them ${creditable === 1 ? 'carries' : 'carry'} a code, link, handle or deal and can be credited; ${formatCount(excluded)} would be excluded, for example because they are cancelled${held === 0 ? '' : `; ${formatCount(held)} would be held, because something else is not known`}.</p>
${factList([
  ['Amounts of the orders that can be credited', formatAmounts(amounts)],
  [
    'Amount unknown',
    unknownAmounts === 0
      ? null
      : `${plural(unknownAmounts, 'order')}: the value at fault is the amount or its currency`,
  ],
  [
    'Still rejected',
    stillRejected === 0
      ? null
      : `${plural(stillRejected, 'row')}: for another cause, or the row as a whole is at fault`,
  ],
  ['Not read', gone === 0 ? null : `${plural(gone, 'file')}, gone or replaced by another version`],
])}`;
}

/**
 * Downloads the rows unchanged, including e-mail addresses, because a person needs them to correct the rows.
 */
async function download({ db, config, may, ...visit }: Visit, filter: RejectedFilter): Promise<Shown> {
  const refuse = (why: string, status: 403 | 404 = 404): Shown => ({
    title: 'No file to save',
    content: html`<p class="notice red" role="alert">${why}</p><p>${anchor(visit.link(PATH), 'Rejected rows')}</p>`,
    status,
  });
  if (!may('see raw rows'))
    return refuse('The rows contain personal data of customers, so only an operator may save them.', 403);
  const rejected = await listRejected(db, { ...filter, limit: MAX_DOWNLOAD_ROWS + 1 });
  if (rejected.length === 0) return refuse('No rejected row matches.');
  if (rejected.length > MAX_DOWNLOAD_ROWS)
    return refuse(
      `There are more than ${formatCount(MAX_DOWNLOAD_ROWS)} rows. Use a narrower filter, or use  npx influencer-sync rejected --export .`,
    );
  const { fetchRawRows, fetchRejectedRows } = await import('../../intake/read/fetch-raw-rows.ts');
  const read = await withinLimit(
    fetchRejectedRows({ config, rejected, fetchRows: fetchRawRows }),
    DOWNLOAD_LIMIT_MS,
  );
  if (read.kind === 'failed') return refuse(read.why);
  const { found, gone } = read.value;
  if (found.length === 0) return refuse('The files with these rows are gone or were replaced.');
  if (gone.length > 0)
    return refuse(
      `${gone.map(({ uri }) => fileName(uri)).join(', ')} is gone or was replaced. Choose the rows of another file.`,
    );
  const kinds = Map.groupBy(found, digestOfForm);
  const wanted = visit.query.get('form');
  // The rows of a form that was chosen, and never others because these are gone.
  const rows = wanted === null && kinds.size === 1 ? found : kinds.get(wanted ?? '');
  if (rows === undefined) return chooseForm({ ...visit, db, config, may }, kinds, wanted !== null);
  const content = encodeRows(rows, { escapeFormulas: true });
  if (content === null) throw new Error('rows of one form have several headers');
  // In the encoding of the files; the browser saves it without decoding.
  const name = wanted === null ? 'rejected-rows.csv' : `rejected-rows-${wanted}.csv`;
  return { download: { name, type: 'application/octet-stream', content } };
}

/** What files must share so that their rows make one file that can be imported as it is. */
function digestOfForm({ header, delimiter, encoding }: RawRows): string {
  const form = JSON.stringify([header, delimiter, encoding]);
  return createHash('sha256').update(form).digest('hex').slice(0, 10);
}

/**
 * Rows under a header that has more columns than their own would have blank cells, which say something else than a
 * column that is missing. So there is a download for each form.
 */
function chooseForm(visit: Visit, forms: ReadonlyMap<string, readonly FoundRows[]>, isGone: boolean): Shown {
  return {
    title: 'Rejected rows: choose a file',
    content: html`<p>${isGone ? 'The rows that you chose are not rejected any more. These are:' : 'The rows come from files with different headers, delimiters or encodings, so one file cannot hold them all. Download each:'}</p>
<ul>${[...forms].map(([form, files]) => {
      const rows = files.reduce((sum, file) => sum + file.rows.length, 0);
      const names = [...new Set(files.map(({ uri }) => fileName(uri)))];
      const label = `${plural(rows, 'row')} of ${names.slice(0, SHOWN_NAMES).join(', ')}${names.length > SHOWN_NAMES ? ` and ${plural(names.length - SHOWN_NAMES, 'more file', 'more files')}` : ''}`;
      return html`<li>${anchor(visit.link(PATH, { ...chosen(visit), download: 'csv', form }), label)} <small>${plural(files[0]?.header.length ?? 0, 'column')}</small></li>
`;
    })}</ul>`,
  };
}

/** The current filter, for a link to the same rows. */
function chosen({ query }: Visit): Readonly<Record<string, string | null>> {
  return Object.fromEntries(['run', 'source', 'file', 'code'].map((name) => [name, query.get(name)]));
}
/** How long a person waits for a page. */
const LIMIT_MS = 5_000;
/** Maximum number of rows to show of an order that was rejected as a whole. */
const MAX_ROWS = 20;

/** One rejected row, as in its file. */
export const rejectedRowPage = definePage('/rejected/:file/:record', async (visit) => {
  const { file = '', record = '' } = visit.params;
  const [row] =
    /^\d{1,18}$/.test(file) && /^\d{1,15}$/.test(record)
      ? await listRejected(visit.db, { sourceFileId: file, record: Number(record), limit: 1 })
      : [];
  if (row === undefined)
    return missing(
      'Rejected row',
      html`This row is not rejected, or is not any more: its file was read again. ${anchor(visit.link('/rejected'), 'Rejected rows')}`,
    );
  return {
    title: `${fileName(row.uri)} line ${formatCount(row.line)}`,
    content: html`<p>${row.reason}</p>
<p class="help">${prose(row.help)}</p>
${factList([
  ['Cause', anchor(visit.link('/rejected', { code: row.code }), row.code.replaceAll('_', ' '))],
  ['Column', row.column],
  ['Value', row.value],
  ['File', anchor(visit.link(`/files/${row.sourceFileId}`), fileName(row.uri))],
  ['Source', row.source],
  ['Read for', row.readFor],
  ['Record', formatCount(row.record)],
  ['Run', anchor(visit.link(`/runs/${row.runId}`), row.runId)],
])}
<h2>In the file</h2>
${await original(row, visit)}`,
  };
});

/**
 * Shows the row to operators only, because it contains personal data other than e-mail addresses, which
 * cannot be masked.
 */
async function original(row: RejectedRowInFile, { config, may }: Visit): Promise<Html> {
  if (!may('see raw rows')) return html`<p class="none">Only an operator may see the row itself.</p>`;
  const { source, uri, version, record, rowCount } = row;
  const { fetchRawRows } = await import('../../intake/read/fetch-raw-rows.ts');
  const read = await withinLimit(
    fetchRawRows({ config, source, uri, version, records: [{ record, rowCount }] }),
    LIMIT_MS,
  );
  if (read.kind === 'failed') return html`<p class="none">${read.why}</p>`;
  if (read.value === null)
    return html`<p class="none">The file is gone or was replaced by another version. Correct the row where it comes from.</p>`;
  return rowsMarkup(read.value, row);
}

function rowsMarkup({ header, rows }: RawRows, { column }: RejectedRowInFile): Html {
  const more = rows.length - MAX_ROWS;
  return html`${rows.slice(0, MAX_ROWS).map((cells) =>
    factList(
      cells.map((cell, index) => {
        const name = header[index] ?? `column ${index + 1}`;
        return [name, name === column ? html`<strong>${cell}</strong>` : cell];
      }),
    ),
  )}${more > 0 ? html`<p>and ${plural(more, 'more row', 'more rows')}</p>` : null}
<p><small>E-mail addresses are masked.</small></p>`;
}

type Tried<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'failed'; readonly why: string };

/**
 * Waits for the reading of a file, up to a limit. Its store may be slow or unreachable; then the page shows
 * the reason instead of failing.
 */
function withinLimit<Value>(work: Promise<Value>, limitMs: number): Promise<Tried<Value>> {
  const failed = (why: string): Tried<Value> => ({ kind: 'failed', why });
  const late = `The file could not be read within ${Math.round(limitMs / 1000)} seconds. Try again later, or use the command.`;
  return Promise.race([
    work.then(
      (value): Tried<Value> => ({ kind: 'done', value }),
      (error: unknown) =>
        failed(
          error instanceof KnownError
            ? `${error.details.message} ${error.details.help}`
            : 'The file could not be read.',
        ),
    ),
    sleep(limitMs, failed(late), { ref: false }),
  ]);
}
