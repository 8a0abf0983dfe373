import { sayCheck } from '../../core/checks/expectations.ts';
import { fileName } from '../../core/text/file-name.ts';
import { column } from '../../render/block.ts';
import { type Html, html } from '../../render/html/html.ts';
import { capital, formatCount, plural } from '../../render/text.ts';
import {
  type CheckedFile,
  judgeArrivals,
  type KnownFinding,
  listCheckedFiles,
  listExpectedDates,
  listFindings,
  listFindingsBeside,
} from '../../reports/checks/read-checks.ts';
import { toFreshnessLine } from '../../reports/checks/render-checks.ts';
import { definePage, type Visit } from '../console-page.ts';
import { actionForm, notOffered } from '../markup/action-form.ts';
import { byText, readFilter } from '../markup/filter.ts';
import { anchor, badge, factList, missing, noted, nothing, pagedTable, table } from '../markup/parts.ts';
import { PAGE_ROWS, pageOf, wordOf } from '../read-query.ts';

const PATH = '/checks';

/** Open findings, and the results of all checks for the latest file of each source. */
export const checksPage = definePage(PATH, async (visit) => {
  const { db, config, now } = visit;
  const names = Object.keys(config.sources);
  const { filter, form } = readFilter(visit, { source: byText('Source', names) });
  const wanted = names.filter((name) => filter.source === null || name === filter.source);
  const [findings, files, expectedDates, arrivals] = await Promise.all([
    listFindings(db, { sources: wanted, ...pageOf(visit) }),
    listCheckedFiles(db, wanted),
    listExpectedDates(db),
    judgeArrivals(db, { sources: Object.values(config.sources), now }),
  ]);
  return {
    title: 'Unusual files',
    content: html`<p>Each file is compared with earlier files of its source before anything of it is posted. A warning is listed for 14 days, or until somebody acknowledges it.</p>
${form()}
<h2>Findings</h2>
${pagedTable(
  { rows: findings, visit, about: 'What is unusual', none: 'Nothing is unusual.', key: 'findingId' },
  [
    column('Finding', ({ findingId }) => anchor(visit.link(`${PATH}/${findingId}`), findingId)),
    column('Verdict', ({ verdict }) => badge(verdict)),
    column('What', ({ message }) => message),
    column('Seen', ({ seen }) => seen),
    column('Expected', ({ expected }) => expected),
    column('File', ({ uri, source }) => noted(fileName(uri), source)),
    column('Found', ({ foundAt }) => visit.instant(foundAt)),
  ],
)}
<h2>Freshness</h2>
${table(
  {
    rows: arrivals.filter((one) => wanted.includes(one.source)).map(toFreshnessLine),
    about: 'Freshness',
    visit,
    none: 'No source sets a time by which a new file should arrive (expect.freshness).',
  },
  [
    column('Source', ({ source }) => source),
    column('Verdict', ({ verdict }) => badge(verdict)),
    column('Latest file', ({ seen }) => (seen === null ? 'none' : visit.instant(seen))),
    column('Expected, in UTC', ({ expected }) => expected),
  ],
)}
<h2>Latest files</h2>
${files.map((file) => checkedFile(file, visit))}
${files.length > 0 ? null : nothing({ visit, none: 'No file was checked yet.' })}
<h2>Expected dates</h2>
<p>On an expected date and the next day, counts, codes and statuses are neither checked nor learnt from. All other checks still apply.</p>
${table({ rows: expectedDates, about: 'Expected dates', none: 'No date is expected to be unusual.' }, [
  column('Date', ({ day }) => day),
  column('Why', ({ name }) => name),
  column('Source', ({ source: of }) => of ?? 'all'),
])}
${actionForm(visit, '/checks/expect-date', {
  hidden: {},
  fields: html`<label>Date <input type="date" name="day" required></label>
<label>Source <select name="source"><option value="">all</option>${names.map((name) => html`<option value="${name}">${name}</option>`)}</select></label>`,
  reasonLabel: 'Why, for example Black Friday',
  button: 'Expect this date',
})}`,
  };
});

function checkedFile(
  { source, readFor, uri, arrivedAt, learntFrom, results }: CheckedFile,
  visit: Visit,
): Html {
  const title = `${source}, read for ${readFor}`;
  const counts = [...Map.groupBy(results, ({ verdict }) => wordOf(verdict))].map(
    ([word, { length }]) => `${length} ${word}`,
  );
  const isUnusual = results.some(({ verdict }) => verdict === 'warn' || verdict === 'held');
  return html`<details${isUnusual ? html` open data-open` : null}><summary>${title} <small>${counts.join(', ')}</small></summary>
<p>${fileName(uri)}, arrived ${visit.instant(arrivedAt)}; ${plural(learntFrom, 'file')} to learn from.</p>
${table({ rows: results, about: `Checks of ${title}`, none: 'No check applies.' }, [
  column('Check', ({ check, subject }) =>
    subject === null ? capital(sayCheck(check)) : noted(capital(sayCheck(check)), subject),
  ),
  column('Verdict', ({ verdict }) => badge(verdict)),
  column('Seen', ({ seen }) => seen),
  column('Expected', ({ expected }) => expected),
])}</details>
`;
}

/** One finding of a check, and the form to acknowledge it. */
export const findingPage = definePage('/checks/:finding', async (visit) => {
  const { finding: id = '' } = visit.params;
  const ofFile = /^\d{1,18}$/.test(id) ? await listFindingsBeside(visit.db, id) : [];
  const finding = ofFile.find(({ findingId }) => findingId === BigInt(id).toString());
  if (finding === undefined)
    return missing(`Finding ${id}`, 'There is no finding with this number, or its file was read again.');
  const { source, readFor, uri, check, subject, verdict, seen, expected, message, lines } = finding;
  const { acknowledgedAt, acknowledgedBy, acknowledgeReason, sourceFileId, runId, foundAt } = finding;
  return {
    title: `Finding ${finding.findingId}: ${sayCheck(check)}`,
    content: html`<p>${badge(acknowledgedAt === null ? verdict : 'acknowledged')} ${message} ${anchor(visit.link('/checks'), 'All checks')}</p>
${factList([
  ['Seen', seen],
  ['Expected', expected],
  ['About', subject],
  ['Lines that show it', lines.map(formatCount).join('; ')],
  ['File', anchor(visit.link(`/files/${sourceFileId}`), fileName(uri))],
  ['Source', `${source}, read for ${readFor}`],
  ['Run', anchor(visit.link(`/runs/${runId}`), runId)],
  ['Found', visit.instant(foundAt)],
  [
    'Acknowledged',
    acknowledgedAt === null ? null : html`${visit.instant(acknowledgedAt)} by ${acknowledgedBy}`,
  ],
  ['Why', acknowledgeReason],
])}
${acknowledgedAt === null ? acknowledgeForm(finding, { ofFile, visit }) : null}`,
  };
});

function acknowledgeForm(
  finding: KnownFinding,
  { ofFile, visit }: { ofFile: readonly KnownFinding[]; visit: Visit },
): Html | null {
  if (!visit.may('POST /checks/acknowledge'))
    return html`<p>${notOffered(visit, 'POST /checks/acknowledge')}</p>`;
  const others = ofFile.filter(
    ({ findingId, acknowledgedAt }) => acknowledgedAt === null && findingId !== finding.findingId,
  );
  const isHeld = ofFile.some(({ verdict, acknowledgedAt }) => verdict === 'held' && acknowledgedAt === null);
  return html`<h2>The file is right</h2>
<p>${isHeld ? 'The file is held. Once every finding that holds it is acknowledged, the next run reads it.' : 'The file is not held. Acknowledge the finding so that it is not reported again.'} If the file is wrong, put a corrected one under its name.${others.length > PAGE_ROWS ? ` The first ${PAGE_ROWS} of ${formatCount(others.length)} other findings are offered here.` : null}</p>
${actionForm(visit, '/checks/acknowledge', {
  hidden: { finding: finding.findingId },
  fields: others.slice(0, PAGE_ROWS).map(
    ({ findingId, check, message }) =>
      html`<p><label><input type="checkbox" name="finding" value="${findingId}"> Also ${findingId}, ${sayCheck(check)}: ${message}</label></p>
`,
  ),
  reasonLabel: 'Why the file is correct',
  button: 'Acknowledge',
  isMain: true,
})}`;
}
