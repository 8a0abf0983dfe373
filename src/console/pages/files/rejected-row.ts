import type { RawRows } from '../../../core/record.ts';
import type { RejectedRowInFile } from '../../../core/report.ts';
import { fileName } from '../../../core/text/file-name.ts';
import type { Html } from '../../../core/text/html.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount, plural } from '../../../render/text.ts';
import { listRejected } from '../../../reports/files/list-rejected.ts';
import type { ConsolePage, Visit } from '../../console-page.ts';
import { anchor, factList } from '../../markup/parts.ts';
import { withinLimit } from '../../within-limit.ts';

/** How long a person waits for a page. */
const LIMIT_MS = 5_000;
/** Maximum number of rows to show of an order that was rejected as a whole. */
const MAX_ROWS = 20;

/** One rejected row, as in its file. */
export const rejectedRowPage: ConsolePage = {
  path: '/rejected/:file/:record',
  place: 'Fix',
  tab: null,
  async show(visit) {
    const { file = '', record = '' } = visit.params;
    const [row] =
      /^\d{1,18}$/.test(file) && /^\d{1,15}$/.test(record)
        ? await listRejected(visit.db, { sourceFileId: file, record: Number(record), limit: 1 })
        : [];
    if (row === undefined)
      return {
        title: 'Rejected row',
        content: html`<p>This row is not rejected, or is not any more: its file was read again.</p>
<p>${anchor(visit.link('/rejected'), 'Rejected rows')}</p>`,
        status: 404,
      };
    return {
      title: `${fileName(row.uri)} line ${formatCount(row.line)}`,
      content: html`<p>${row.reason}</p>
<p class="help">${row.help}</p>
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
  },
};

/**
 * Shows the row to operators only, because it contains personal data other than e-mail addresses, which
 * cannot be masked.
 */
async function original(row: RejectedRowInFile, { config, may }: Visit): Promise<Html> {
  if (!may('see raw rows')) return html`<p class="none">Only an operator may see the row itself.</p>`;
  const { source, uri, version, record, rowCount } = row;
  const { fetchRawRows } = await import('../../../intake/read/fetch-raw-rows.ts');
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
