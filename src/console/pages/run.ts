import { didOf, jobKinds, tallyOf } from '../../../jobs/index.ts';
import { fileName } from '../../core/text/file-name.ts';
import type { Html } from '../../core/text/html.ts';
import { type CountsBlock, column, number } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import { formatCount, formatDuration, plural } from '../../render/text.ts';
import { listRunFiles, type RunFile, type RunFiles } from '../../reports/runs/list-run-files.ts';
import { findRun, findRunBefore, type ListedRun } from '../../reports/runs/list-runs.ts';
import { readRunActivity } from '../../reports/runs/read-run-activity.ts';
import { findSlotOfRun } from '../../reports/runs/read-timeline.ts';
import { readRunUnits } from '../../reports/runs/read-units.ts';
import { answerRun, linkToTrace } from '../../reports/runs/runs.ts';
import type { ConsolePage, Visit } from '../console-page.ts';
import { type Share, shareBar } from '../markup/bars.ts';
import { compareRuns } from '../markup/compare-runs.ts';
import { amountList, anchor, answerBox, badge, factList, instant, missing, table } from '../markup/parts.ts';
import { runActivity } from '../markup/run-activity.ts';
import { runUnits } from '../markup/run-units.ts';

const SHOWN_FILES = 50;

/** One run: its files, its results, its activity, and a comparison with the previous run. */
export const runPage: ConsolePage = {
  path: '/runs/:run',
  place: 'System',
  tab: null,
  async show(visit) {
    const { db } = visit;
    const { run: id = '' } = visit.params;
    const run = /^\d{1,18}$/.test(id) ? await findRun(db, id) : null;
    if (run === null) return missing(`Run ${id}`, 'There is no run with this number.');
    const isReported = run.counts !== null;
    const [files, slot, before, activity, units] = await Promise.all([
      listRunFiles(db, { runId: run.runId, isReported, limit: SHOWN_FILES }),
      findSlotOfRun(db, run.runId),
      findRunBefore(db, run),
      readRunActivity(db, run.runId),
      readRunUnits(db, run.runId),
    ]);
    const byHand = run.job.startsWith('backfill:') ? 'backfill' : 'by hand';
    return {
      title: `Run ${run.runId} of ${run.job}`,
      content: html`${answerBox(answerRun(run, { did: didOf, left: leftOf(run) }), visit)}
${factList([
  ['Status', badge(run.status)],
  ['Exit code', run.exitCode === null ? null : String(run.exitCode)],
  ['Started', instant(run.startedAt, visit)],
  ['Finished', instant(run.finishedAt, visit)],
  ['Took', run.status === 'lost' ? null : formatDuration(run.seconds)],
  [
    'Due time',
    slot === null
      ? byHand
      : html`${instant(slot.slot, visit)}${slot.requestedBy === null ? null : ` requested by ${slot.requestedBy}`}${slot.attempts > 1 ? ` (${plural(slot.attempts, 'attempt')})` : null}`,
  ],
  ['Service', run.service],
  ['Trace', run.traceId === null ? null : traceOf(run.traceId, visit)],
  ['Job', anchor(visit.link('/runs', { job: run.job }), 'all its runs')],
])}
${accounting(run, visit)}
<h2>Files</h2>
${filesTable(files, run, visit)}
${runActivity(activity, run, visit)}
${runUnits(units, visit)}
<h2>Compared with the previous run</h2>
${before === null ? html`<p class="none">This is the first run of ${run.job}.</p>` : compareRuns(before, run, visit)}`,
    };
  },
};

function leftOf({ kind, counts }: ListedRun): readonly string[] {
  const { watched } = jobKinds.find((one) => one.kind === kind) ?? {};
  return counts === null ? [] : (watched?.leftForPerson?.(counts) ?? []);
}

/** The trace id, as a link if the configuration has an address for traces. */
function traceOf(traceId: string, { config }: Visit): Html | string {
  return config.console.traceUrl === '' ? traceId : anchor(linkToTrace(traceId, config), traceId);
}

/** What became of every row that the run read, and of every item that the job knows afterwards, each counted once. */
function accounting(run: ListedRun, visit: Visit): Html {
  if (run.counts === null)
    return html`<h2>Accounting</h2>
<p class="none">${run.status === 'running' ? 'The counts appear when the run ends.' : 'The run ended before it counted. The next run counts what it read.'}</p>
`;
  const { counts } = run;
  const sum = tallyOf(run.kind, counts);
  return html`<h2>Accounting</h2>
${
  !hasRows(counts) || counts.rows === 0
    ? html`<p class="none">The run read no rows.</p>`
    : html`<h3>${plural(counts.rows, 'row')} of ${plural(counts.files, 'file')}</h3>
${shareBar(
  [
    { name: 'used', count: counts.rows - counts.rejected_rows },
    {
      name: 'rejected',
      count: counts.rejected_rows,
      href: visit.link('/rejected', { run: run.runId }),
    },
  ],
  { label: 'Rows of its files' },
)}`
}
${
  sum === null || sum.count === 0
    ? null
    : html`<h3>${sum.whole} <small>after this run, each counted once</small></h3>
${shareBar(outcomes(sum), { label: `Results of ${sum.whole}` })}`
}
${
  (run.amounts ?? []).length === 0
    ? null
    : html`<p>Accepted in this run: ${amountList((run.amounts ?? []).map(({ currency, accepted }) => ({ currency, amount: accepted })))}</p>`
}
`;
}

/** The outcomes of a run. Items in no outcome were lost, so they are shown as unaccounted for. */
function outcomes({ count: whole, lines, parts = lines }: CountsBlock): readonly Share[] {
  const counted = parts.reduce((sum, [, count]) => sum + count, 0);
  return [...parts, ['unaccounted for', whole - counted] as const].map(([name, count]) => ({ name, count }));
}

type RowCounts = { readonly files: number; readonly rows: number; readonly rejected_rows: number };

function hasRows(counts: object): counts is RowCounts {
  return ['files', 'rows', 'rejected_rows'].every(
    (name) => typeof (counts as Readonly<Record<string, unknown>>)[name] === 'number',
  );
}

function fileHref({ source, uri }: RunFile, visit: Visit): string {
  return visit.link('/files', { source, file: fileName(uri) });
}

function filesTable({ files, total }: RunFiles, run: ListedRun, visit: Visit): Html {
  const shown = table(
    files,
    [
      column('File', (file) => anchor(fileHref(file, visit), fileName(file.uri))),
      column('Source', ({ source }) => source),
      column(
        'State',
        ({ state, holdMessage }) =>
          html`${badge(state)}${holdMessage === null ? null : html` <small>${holdMessage}</small>`}`,
      ),
      number('Rows', ({ rows }) => (rows === null ? '' : formatCount(rows))),
      number('Rejected', ({ rejectedRows, runId }) =>
        rejectedRows === 0 ? '0' : anchor(visit.link('/rejected', { run: runId }), formatCount(rejectedRows)),
      ),
      column('Read by', ({ runId }) =>
        runId === run.runId
          ? 'this run'
          : html`${anchor(visit.link(`/runs/${runId}`), `run ${runId}`)}, which ended before its report`,
      ),
    ],
    { about: 'Files of the run', none: 'The run read no new files.' },
  );
  return total > files.length
    ? html`${shown}<p class="dim">and ${formatCount(total - files.length)} more, with fewer rows</p>`
    : shown;
}
