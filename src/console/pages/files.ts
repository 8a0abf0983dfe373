import type { CheckFinding } from '../../core/checks/check-result.ts';
import { CONFLICTING_STATES } from '../../core/source.ts';
import { fileName } from '../../core/text/file-name.ts';
import { column, number } from '../../render/block.ts';
import { type Html, html } from '../../render/html/html.ts';
import { capital, formatCount, plural } from '../../render/text.ts';
import { listFindings } from '../../reports/checks/read-checks.ts';
import {
  countFilesRead,
  findFileRead,
  type ListedFile,
  lastReading,
  listFilesRead,
} from '../../reports/files/list-files.ts';
import { countRejected } from '../../reports/files/list-rejected.ts';
import { sayFooterRow } from '../../reports/files/read-files.ts';
import type { Answer } from '../../reports/lives/answer-order.ts';
import type { ActionPath } from '../access/permissions.ts';
import { definePage, type Visit } from '../console-page.ts';
import { actionForm, type ChosenRows, chooseBox, chooseForm } from '../markup/action-form.ts';
import { byOption, byText, readFilter } from '../markup/filter.ts';
import {
  anchor,
  answerBox,
  badge,
  countUpTo,
  factList,
  missing,
  noted,
  pagedTable,
} from '../markup/parts.ts';
import { COUNT_LIMIT, pageOf, queryWithout, wordOf } from '../read-query.ts';

const PATH = '/files';
const STATES = ['held', 'read', 'released', 'duplicate', 'reading'];

/** The last reading of each file name. */
export const filesPage = definePage(PATH, async (visit) => {
  const asked = readFilter(visit, {
    state: byOption('State', STATES),
    source: byText('Source', Object.keys(visit.config.sources)),
    layout: byText('Layout'),
    file: byText('File contains'),
  });
  const { file: name, ...of } = asked.filter;
  const filter = { ...of, name };
  const [files, counts] = await Promise.all([
    listFilesRead(visit.db, { ...filter, ...pageOf(visit) }),
    countFilesRead(visit.db, filter),
  ]);
  const found = counts.reduce(
    (sum, { state, files: count }) => ((of.state ?? state) === state ? sum + count : sum),
    0,
  );
  const chosen = {
    filter_source: of.source,
    filter_state: of.state,
    filter_layout: of.layout,
    filter_name: name,
  };
  return {
    title: 'Files',
    content: html`<p>The state of each file, newest first. Files that no run has seen yet are not listed: <code>npx influencer-sync files</code> lists them, too.</p>
<p>${counts.map(({ state, files: count }, index) => {
      const others = queryWithout(visit, 'after');
      return html`${index === 0 ? '' : ', '}${anchor(visit.link(PATH, { ...others, state }), `${formatCount(count)} ${state}`)}`;
    })}</p>
<p>${visit.may('POST /bulk/preview-files') && files.length > 0 ? html`${anchor('#decide-many', 'Decide about many at once')}. ` : null}${anchor(visit.link('/bulk'), 'Bulk actions so far')}</p>
${asked.form()}
${pagedTable(
  { rows: files, visit, about: 'Files', none: 'No run has seen a file yet.', key: 'sourceFileId' },
  [
    column(
      'File',
      ({ sourceFileId, uri, readFor }) =>
        html`${anchor(visit.link(`/files/${sourceFileId}`), fileName(uri))}${readFor === 'orders' ? null : html` <small>${readFor}</small>`}`,
    ),
    visit.may('POST /bulk/preview-files')
      ? column('Choose', ({ sourceFileId: value, uri }) =>
          chooseBox({ form: FORM, name: 'file', value, label: fileName(uri) }),
        )
      : null,
    column('State', ({ state }) => badge(state)),
    column('Why', whyOf),
    number('Rows', ({ rowsRead }) => (rowsRead === null ? null : formatCount(rowsRead))),
    number('Rejected', (file) => rejectedLink(file, visit)),
    column('Source', ({ source, layout }) => noted(source, layout)),
    column(
      'Run',
      ({ runId, firstSeenAt }) =>
        html`${anchor(visit.link(`/runs/${runId}`), runId)} ${visit.instant(firstSeenAt)}`,
    ),
  ],
)}
${found === 0 ? null : decideManyForm(visit, { hidden: chosen, ticked: 'files', all: `${plural(found, 'file')} that ${found === 1 ? 'matches' : 'match'}` })}`,
  };
});

/** Explains the state of a file if there is more to say. The file's address is shortened to its name. */
function whyOf(
  file: Pick<
    ListedFile,
    'state' | 'uri' | 'holdMessage' | 'duplicateOf' | 'releasedBy' | 'releaseReason' | 'isRereadWanted'
  >,
): string | null {
  if (file.isRereadWanted) return 'The next run reads it again.';
  switch (file.state) {
    case 'held':
      return (file.holdMessage ?? '').replaceAll(file.uri, fileName(file.uri));
    case 'duplicate':
      return `It has the content of ${fileName(file.duplicateOf ?? '')}.`;
    case 'released':
      return `${file.releasedBy === null ? '' : `By ${file.releasedBy}: `}${file.releaseReason ?? ''}`;
    case 'read':
    case 'reading':
      return null;
  }
}

/** The number of rejected rows of a file, with a link to them. */
function rejectedLink(
  { rejectedRows, source, uri }: Pick<ListedFile, 'rejectedRows' | 'source' | 'uri'>,
  { link }: Pick<Visit, 'link'>,
): Html | string {
  return rejectedRows === 0
    ? '0'
    : anchor(link('/rejected', { source, file: uri }), formatCount(rejectedRows));
}

/** Id of the form below the list; the checkboxes in the rows belong to it. */
const FORM = 'decide-many';

/** A form that previews one decision about files: the ticked ones, or all that match. */
export function decideManyForm(visit: Visit, files: ChosenRows): Html | null {
  return chooseForm(visit, files, {
    id: FORM,
    path: '/bulk/preview-files',
    title: 'Decide about many',
    about: 'You see a preview first: which files, and which of them are left out.',
    fields: html`<fieldset><legend>What should happen?</legend>
<p><label><input type="radio" name="decision" value="release" required> Discard the rows of held files: they are not needed. A run still reads a new version under the name of a file.</label></p>
<p><label><input type="radio" name="decision" value="reread" required> Read them again with the next run, if they still exist in the same version. Posted orders stay posted.</label></p>
</fieldset>`,
    scope: 'selected',
  });
}

/** One reading of a file, and the actions for it. */
export const filePage = definePage('/files/:file', async (visit) => {
  const { file: id = '' } = visit.params;
  const isId = /^\d{1,18}$/.test(id);
  // First: a file that is read while the rest is, is not among those that the page shows.
  const shown = isId ? await lastReading(visit.db, id) : null;
  const file = isId ? await findFileRead(visit.db, id) : null;
  if (file === null || shown === null) return missing(`File ${id}`, 'There is no file with this number.');
  const open = await countRejected(visit.db, { sourceFileId: id, isOpen: true, limit: COUNT_LIMIT });
  const findings = file.state === 'held' ? await listFindings(visit.db, { sources: [file.source] }) : [];
  const finding = findings.find(({ uri, verdict }) => uri === file.uri && verdict === 'held');
  return {
    title: fileName(file.uri),
    content: html`${answerBox(answerFile(file, { open, finding: finding ?? null }), visit)}
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
  ['First seen', visit.instant(file.firstSeenAt)],
])}
${finding === undefined ? asItIs(visit, { file, shown }) : null}
${forms(file, visit)}`,
  };
});

/** What counts of a file, why not, and what a person can do first. */
function answerFile(
  file: ListedFile,
  { open, finding }: { open: number; finding: CheckFinding | null },
): Answer {
  const { source, uri, state, holdHelp } = file;
  const help = state === 'held' && holdHelp !== null ? holdHelp.replaceAll(uri, fileName(uri)) : null;
  const command = `npx influencer-sync files --source ${source}`;
  return {
    text: [`${capital(wordOf(state))}${sayCount(file)}`, whyOf(file), help]
      .filter((one) => one !== null)
      .join(' '),
    tone: state === 'held' || open > 0 ? 'yellow' : state === 'read' ? 'green' : 'dim',
    next:
      finding !== null
        ? {
            label: 'Acknowledge what is unusual, so that the next run reads it',
            page: `/checks/${finding.findingId}`,
            command,
          }
        : open > 0
          ? {
              label: `See ${countUpTo(open, COUNT_LIMIT)} of its rows to correct`,
              page: `/rejected?${new URLSearchParams({ source, file: uri })}`,
              command,
            }
          : null,
  };
}

/** How a held file can be read without another version of it: by the limit or the other file that holds it. */
function asItIs(visit: Visit, { file, shown }: { file: ListedFile; shown: string }): Html | null {
  if (file.state !== 'held') return null;
  const title = html`<h2>Read it as it is</h2>`;
  if (file.newestBy !== null && file.isRereadWanted)
    return html`${title}
<p>${file.newestBy} said that it is the newest. The next run reads it as such.</p>`;
  if (file.holdCode === CONFLICTING_STATES)
    return html`${title}
<p>It contradicts other files, and nothing says which of them is newer. If it is this one, the next run reads it as such.</p>
${actionForm(visit, '/files/newest', { hidden: { file: file.sourceFileId, state: file.state, shown }, reasonLabel: 'How you know', button: 'It is the newest', isMain: true })}`;
  const [, limit] = /\blimits\.(\w+)/.exec(file.holdHelp ?? '') ?? [];
  if (limit === undefined) return null;
  const [, current] =
    Object.entries(visit.config.sources[file.source]?.limits ?? {}).find(
      ([name]) => name.toLowerCase() === limit.replaceAll('_', ''),
    ) ?? [];
  return html`${title}
<p>A limit holds it. First change <code>sources.${file.source}.limits.${limit}</code> in the configuration${current == null ? null : html`, which is ${String(current)} now`}, and restart <code>serve</code>: the next run reads all held files of ${file.source} again under the new limit. Set it back afterwards, if later files should be held as before.</p>`;
}

/** What counts of the file: `: 12 rows, 1 rejected.` */
function sayCount({ state, rowsRead, rejectedRows }: ListedFile): string {
  if (state === 'held') return ': none of its rows count.';
  if (state !== 'read' || rowsRead === null) return '.';
  return `: ${plural(rowsRead, 'row')}${rejectedRows === 0 ? '' : `, of which ${formatCount(rejectedRows)} could not be used`}.`;
}

function forms({ sourceFileId, state }: ListedFile, visit: Visit): Html {
  const form = (path: ActionPath, title: string, about: string) => html`<h2>${title}</h2>
<p>${about}</p>
${actionForm(visit, path, { hidden: { file: sourceFileId, state }, button: title })}`;
  return html`${state === 'held' ? form('/files/release', 'Discard its rows', 'They are not needed: none of its rows ever count. A run still reads a new version under its name.') : null}
${state === 'reading' ? null : form('/files/reread', 'Read it again', 'The next run reads the file again if it still exists in the same version, for example after you corrected its layout. Posted orders stay posted. If the content of an order has changed, the change is recorded as an adjustment, and nothing is sent twice.')}`;
}
