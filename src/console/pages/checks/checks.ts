import type { CheckFinding } from '../../../core/checks/check-result.ts';
import type { ExpectedDate } from '../../../core/checks/expectations.ts';
import { fileName } from '../../../core/text/file-name.ts';
import type { Html } from '../../../core/text/html.ts';
import { column } from '../../../render/block.ts';
import { html } from '../../../render/html/html.ts';
import { plural } from '../../../render/text.ts';
import { judgeArrivals } from '../../../reports/checks/judge-arrivals.ts';
import {
  type CheckedFile,
  listCheckedFiles,
  listExpectedDates,
  listFindings,
} from '../../../reports/checks/read-checks.ts';
import { type FreshnessLine, toFreshnessLine, VERDICT_WORDS } from '../../../reports/checks/render-checks.ts';
import type { ConsolePage, Visit } from '../../console-page.ts';
import { actionForm } from '../../markup/action-form.ts';
import { anchor, badge, filterForm, instant, pagedTable, table } from '../../markup/parts.ts';
import { idOf, PAGE_ROWS, textOf } from '../../read-query.ts';

const PATH = '/checks';

/** Open findings, and the results of all checks for the latest file of each source. */
export const checksPage: ConsolePage = {
  path: PATH,
  place: 'Fix',
  tab: 'Unusual files',
  async show(visit) {
    const source = textOf(visit, 'source');
    const { db, config, now } = visit;
    const names = Object.keys(config.sources);
    const wanted = names.filter((name) => source === null || name === source);
    const [findings, files, expectedDates, arrivals] = await Promise.all([
      listFindings(db, {
        sources: wanted,
        limit: PAGE_ROWS + 1,
        after: idOf(visit, 'after'),
      }),
      listCheckedFiles(db, wanted),
      listExpectedDates(db),
      judgeArrivals(db, { sources: Object.values(config.sources), now }),
    ]);
    return {
      title: 'Unusual files',
      content: html`<p>Each file is compared with earlier files of its source before anything of it is posted. A warning is listed for 14 days, or until somebody acknowledges it.</p>
${filterForm(visit, [{ name: 'source', label: 'Source', options: names }])}
<h2>Findings</h2>
${findingTable(findings, visit)}
<h2>Freshness</h2>
${freshnessTable(arrivals.filter((one) => wanted.includes(one.source)).map(toFreshnessLine), visit)}
<h2>Latest files</h2>
${files.map((file) => checkedFile(file, visit))}
${files.length > 0 ? null : html`<p class="none">No file was checked yet.</p>`}
<h2>Expected dates</h2>
<p>On an expected date and the next day, counts, codes and statuses are neither checked nor learnt from. All other checks still apply.</p>
${dateTable(expectedDates)}
${expectForm(visit, names)}`,
    };
  },
};

function findingTable(findings: readonly CheckFinding[], visit: Visit): Html {
  return pagedTable(
    findings,
    [
      column('Finding', ({ findingId }) => anchor(visit.link(`${PATH}/${findingId}`), findingId)),
      column('Verdict', ({ verdict }) => badge(verdict)),
      column('What', ({ message }) => message),
      column('Seen', ({ seen }) => seen),
      column('Expected', ({ expected }) => expected),
      column('File', ({ uri, source }) => html`${fileName(uri)} <small>${source}</small>`),
      column('Found', ({ foundAt }) => instant(foundAt, visit)),
    ],
    { visit, about: 'What is unusual', none: 'Nothing is unusual.', keyOf: ({ findingId }) => findingId },
  );
}

function freshnessTable(lines: readonly FreshnessLine[], visit: Visit): Html {
  return table(
    lines,
    [
      column('Source', ({ source }) => source),
      column('Verdict', ({ verdict }) => badge(VERDICT_WORDS[verdict] ?? verdict)),
      column('Latest file', ({ seen }) => (seen === null ? 'none' : instant(seen, visit))),
      column('Expected, in UTC', ({ expected }) => expected),
    ],
    {
      about: 'Freshness',
      none: 'No source sets a time by which a new file should arrive (expect.freshness).',
    },
  );
}

function checkedFile(
  { source, readFor, uri, arrivedAt, learntFrom, results }: CheckedFile,
  visit: Visit,
): Html {
  const title = `${source}, read for ${readFor}`;
  return html`<h3>${title}</h3>
<p>${fileName(uri)}, arrived ${instant(arrivedAt, visit)}; ${plural(learntFrom, 'file')} to learn from.</p>
${table(
  results,
  [
    column('Check', ({ check, subject }) =>
      subject === null ? check : html`${check} <small>${subject}</small>`,
    ),
    column('Verdict', ({ verdict }) => badge(VERDICT_WORDS[verdict] ?? verdict)),
    column('Seen', ({ seen }) => seen),
    column('Expected', ({ expected }) => expected),
  ],
  { about: `Checks of ${title}`, none: 'No check applies.' },
)}`;
}

function dateTable(dates: readonly ExpectedDate[]): Html {
  return table(
    dates,
    [
      column('Date', ({ day }) => day),
      column('Why', ({ name }) => name),
      column('Source', ({ source }) => source ?? 'all'),
    ],
    { about: 'Expected dates', none: 'No date is expected to be unusual.' },
  );
}

function expectForm(visit: Visit, sources: readonly string[]): Html | null {
  return actionForm(visit, '/checks/expect-date', {
    hidden: {},
    fields: html`<label>Date <input type="date" name="day" required></label>
<label>Source <select name="source"><option value="">all</option>${sources.map((name) => html`<option value="${name}">${name}</option>`)}</select></label>`,
    reasonLabel: 'Why, for example Black Friday',
    button: 'Expect this date',
  });
}
