import { fileName } from '../../../core/text/file-name.ts';
import type { Html } from '../../../core/text/html.ts';
import { html } from '../../../render/html/html.ts';
import { formatCount, plural } from '../../../render/text.ts';
import { listFindings } from '../../../reports/checks/read-checks.ts';
import { findFileRead, type ListedFile } from '../../../reports/files/list-files.ts';
import { sayFooterRow } from '../../../reports/files/read-files.ts';
import type { ActionPath } from '../../access/permissions.ts';
import type { ConsolePage, Visit } from '../../console-page.ts';
import { notOffered } from '../../markup/action-form.ts';
import { anchor, badge, factList, instant, missing } from '../../markup/parts.ts';
import { rejectedLink, whyOf } from './files.ts';

/** One reading of a file, and the actions for it. */
export const filePage: ConsolePage = {
  path: '/files/:file',
  place: 'System',
  tab: null,
  async show(visit) {
    const { file: id = '' } = visit.params;
    const file = /^\d{1,18}$/.test(id) ? await findFileRead(visit.db, id) : null;
    if (file === null) return missing(`File ${id}`, 'There is no file with this number.');
    const findings = file.state === 'held' ? await listFindings(visit.db, { sources: [file.source] }) : [];
    const finding = findings.find(({ uri, verdict }) => uri === file.uri && verdict === 'held');
    return {
      title: fileName(file.uri),
      content: html`<div class="answer ${file.state === 'held' ? 'yellow' : file.state === 'read' ? 'green' : 'dim'}"><p>${badge(file.state)}${sayCount(file)} ${whyOf(file)}</p>${file.state === 'held' && file.holdHelp !== null ? html`<p class="help">${file.holdHelp.replaceAll(file.uri, fileName(file.uri))}</p>` : null}</div>
${factList([
  ['Address', file.uri],
  ['Source', file.source],
  ['Layout', file.layout],
  ['Read for', file.readFor],
  ['Size', `${formatCount(file.sizeBytes)} bytes`],
  ['Rows', file.rowsRead === null ? null : formatCount(file.rowsRead)],
  ['Rejected', html`${rejectedLink(file, visit)}`],
  ['No records: rows below the last', file.footer?.map(sayFooterRow).join('; ') ?? null],
  ['Run', anchor(visit.link(`/runs/${file.runId}`), file.runId)],
  ['First seen', instant(file.firstSeenAt, visit)],
])}
${
  finding === undefined
    ? null
    : html`<h2>Read it as it is</h2>
<p>A check holds it. ${anchor(visit.link(`/checks/${finding.findingId}`), 'Acknowledge what is unusual')}, and the next run reads it.</p>`
}
${forms(file, visit)}`,
    };
  },
};

/** What counts of the file: `: 12 rows, 1 rejected.` */
function sayCount({ state, rowsRead, rejectedRows }: ListedFile): string {
  if (state === 'held') return ': none of its rows count.';
  if (state !== 'read' || rowsRead === null) return '.';
  return `: ${plural(rowsRead, 'row')}${rejectedRows === 0 ? '' : `, of which ${formatCount(rejectedRows)} could not be used`}.`;
}

function forms(file: ListedFile, visit: Visit): Html {
  return html`${
    file.state === 'held'
      ? form(file, visit, {
          path: '/files/release',
          title: 'Discard its rows',
          about:
            'Nobody needs them: none of its rows ever count. A run still reads a new version under its name.',
        })
      : null
  }${
    file.state === 'reading'
      ? null
      : form(file, visit, {
          path: '/files/reread',
          title: 'Read it again',
          about:
            'The next run reads the file again if it still exists in the same version, for example after you corrected its layout. Posted orders stay posted. If the content of an order has changed, the change is recorded as an adjustment, and nothing is sent twice.',
        })
  }`;
}

function form(
  { sourceFileId, state }: ListedFile,
  visit: Visit,
  { path, title, about }: { readonly path: ActionPath; readonly title: string; readonly about: string },
): Html {
  if (!visit.may(`POST ${path}`))
    return html`<h2>${title}</h2>\n<p>${about} ${notOffered(visit, `POST ${path}`)}</p>`;
  const id = path.slice(1).replaceAll('/', '-');
  return html`<form method="post" action="${visit.link(path)}" aria-label="${title}">
<h2>${title}</h2>
<p>${about}</p>
<input type="hidden" name="file" value="${sourceFileId}">
<input type="hidden" name="state" value="${state}">
<input type="hidden" name="return_to" value="${visit.link(`/files/${sourceFileId}`)}">
<p><label for="${id}">Why</label><br><textarea id="${id}" name="reason" rows="2" required></textarea></p>
<p><button type="submit">${title}</button></p>
</form>
`;
}
