import type { PipelineConfig } from '../../config/schema.ts';
import { formatAmounts, formatMoney } from '../../core/money.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { wrap } from '../../core/text/wrap.ts';
import type { NextSlot } from '../../ops/schedule/next-slots.ts';
import { renderBlocks, renderCommands, renderPart } from '../../render/render-blocks.ts';
import { renderTable } from '../../render/table.ts';
import type { Terminal } from '../../render/terminal.ts';
import { formatCount, plural } from '../../render/text.ts';
import { describeFindings } from '../checks/describe-findings.ts';
import { describeDoubleCredits, describeDoubt, reviewCommand } from '../doubts/doubts.ts';
import { describeHeldFile } from '../files/read-files.ts';
import { describeHeldOrders } from '../held/describe-held-orders.ts';
import { renderNotified } from '../notices/notices.ts';
import { type DidOfRun, renderRuns } from '../runs/runs.ts';
import { renderSchedule } from '../runs/slots.ts';
import { commandOfUnit, describeUnit } from '../runs/units.ts';
import type { Status } from './read-status.ts';

export type StatusInput = {
  readonly status: Status;
  readonly config: PipelineConfig;
  readonly did: DidOfRun;
  /** The next slots, according to the schedules in the configuration. */
  readonly next?: readonly NextSlot[];
};

/** Renders the current state. What needs a person comes last, next to the prompt. */
export function renderStatus(input: StatusInput, terminal: Terminal): string {
  const sections = [
    renderTarget(input, terminal),
    renderLastRuns(input, terminal),
    renderSchedule(input.next ?? [], input.status, terminal),
    renderBacklog(input, terminal),
    renderCustomers(input, terminal),
    renderQueues(input, terminal),
    renderWork(input, terminal),
    renderWorkers(input, terminal),
    renderGivenUp(input, terminal),
    renderProblems(input, terminal),
    renderHeldOrders(input, terminal),
    renderHeld(input, terminal),
    renderBlocks(describeFindings(input.status.warnings), terminal),
    renderWaitingClaims(input, terminal),
    renderBlocks(describeDoubleCredits(input.status.doubleCredits), terminal),
    renderDoubts(input, terminal),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function renderTarget({ config, status }: StatusInput, terminal: Terminal): string {
  const { api, database } = config;
  const service = api.url === '' ? 'none: `run` needs INFLUENCER_API_URL' : api.url;
  const account = status.account === null ? 'unknown before the first run' : status.account;
  const place =
    database.url === ''
      ? `embedded, in ${database.dataFolder}`
      : `Postgres at ${URL.parse(database.url)?.host ?? '?'}`;
  const line = (name: string, text: string): string =>
    wrap(text, { width: terminal.columns, firstIndent: name.padEnd(10), indent: ' '.repeat(10) });
  return [line('service', service), line('account', account), line('database', place)].join('\n');
}

function renderLastRuns({ status, config, did }: StatusInput, terminal: Terminal): string {
  const never = Object.keys(config.jobs).filter((job) => !status.lastRuns.some((run) => run.job === job));
  const lines = never.map((job) => `${job}: has not run yet. npx influencer-sync run ${job}`);
  const runs = status.lastRuns.length === 0 ? [] : [renderRuns(status.lastRuns, { terminal, did }).trimEnd()];
  return [terminal.style('bold', 'Last run of each job'), ...runs, ...lines].join('\n');
}

function renderBacklog({ status }: StatusInput, terminal: Terminal): string {
  if (status.backlog.length === 0) return '';
  const columns = [
    { title: 'job' },
    { title: 'state', cutAt: 'never' },
    { title: 'orders', align: 'right' },
    { title: 'amount', align: 'right' },
    { title: 'oldest (UTC)', cutAt: 'never' },
  ] as const;
  const rows = status.backlog.map(({ job, state, backfillId, entries, amount, currency, oldest, isPart }) => [
    job,
    `${state.replaceAll('_', ' ')}${backfillId === null ? '' : `, by backfill ${backfillId}`}`,
    `${formatCount(entries)}${isPart ? '+' : ''}`,
    `${isPart ? 'more than ' : ''}${formatMoney(amount, currency)}`,
    formatInstant(oldest).slice(0, 16),
  ]);
  const table = `${terminal.style('bold', 'Ledger')}\n${renderTable(columns, rows, { terminal })}`;
  if (!status.backlog.some(({ isPart }) => isPart)) return table;
  return `${table.trimEnd()}\n${terminal.style('dim', '+ there are more. Count all: npx influencer-sync status --exact')}`;
}

function renderCustomers({ status }: StatusInput, terminal: Terminal): string {
  if (status.customers.length === 0) return '';
  const columns = [
    { title: 'brand' },
    { title: 'state', cutAt: 'never' },
    { title: 'customers', align: 'right' },
    { title: 'oldest (UTC)', cutAt: 'never' },
  ] as const;
  const rows = status.customers.map(({ brandId, state, customers, oldest }) => [
    brandId,
    state === 'staged' ? 'to be submitted' : state,
    formatCount(customers),
    formatInstant(oldest).slice(0, 16),
  ]);
  return `${terminal.style('bold', 'Customers')}\n${renderTable(columns, rows, { terminal })}`;
}

/** Renders which files queues have announced, and when all names were last listed. */
function renderQueues({ status }: StatusInput, terminal: Terminal): string {
  if (status.queues.length === 0) return '';
  const columns = [
    { title: 'source' },
    { title: 'announced files to read', align: 'right' },
    { title: 'oldest (UTC)', cutAt: 'never' },
    { title: 'all names listed (UTC)', cutAt: 'never' },
  ] as const;
  const isoMinute = (at: Date | null, otherwise: string): string =>
    at === null ? otherwise : formatInstant(at).slice(0, 16);
  const rows = status.queues.map(({ source, announced, oldest, listedAt }) => [
    source,
    formatCount(announced),
    isoMinute(oldest, ''),
    isoMinute(listedAt, 'not yet'),
  ]);
  return `${terminal.style('bold', 'Queues of S3 events')}\n${renderTable(columns, rows, { terminal })}`;
}

function renderWork({ status }: StatusInput, terminal: Terminal): string {
  // Units of work are shown with their worker.
  const leases = status.leases.filter(({ name }) => !name.startsWith('unit:'));
  if (leases.length === 0) return '';
  const lines = leases.map(
    ({ name, host, pid, secondsLeft }) =>
      `  ${name.replace(/^serve:.*/, 'serve')}  pid ${pid} on ${host}, lease valid for ${secondsLeft} s`,
  );
  return [terminal.style('bold', 'At work now'), ...lines].join('\n');
}

function renderWorkers({ status }: StatusInput, terminal: Terminal): string {
  if (status.workers.length === 0) return '';
  const columns = [
    { title: 'worker' },
    { title: 'version', cutAt: 'never' },
    { title: 'takes' },
    { title: 'doing now', align: 'right' },
    { title: 'since (UTC)', cutAt: 'never' },
  ] as const;
  const rows = status.workers.map(({ host, pid, version, kinds, units, startedAt, drainingSince }) => [
    `pid ${pid} on ${host}`,
    version,
    kinds.join(', '),
    `${formatCount(units)}${drainingSince === null ? '' : ', stopping'}`,
    formatInstant(startedAt).slice(0, 16),
  ]);
  return `${terminal.style('bold', 'Workers')}\n${renderTable(columns, rows, { terminal })}`;
}

/** Renders work of the last runs that no worker could complete. */
function renderGivenUp({ status }: StatusInput, terminal: Terminal): string {
  if (status.givenUpUnits.length === 0) return '';
  const lines = status.givenUpUnits.map((unit) =>
    wrap(`${unit.job}, run ${unit.runId}: ${describeUnit(unit)} failed because each worker died.`, {
      ...{ width: terminal.columns, indent: '  ', firstIndent: '  ' },
    }),
  );
  const commands = status.givenUpUnits.map(commandOfUnit);
  return [
    terminal.style(['bold', 'yellow'], `Work that no worker could do (${status.givenUpUnits.length})`),
    ...lines,
    '  The log of the workers says why. Fix the cause and run again; that does the rest:',
    ...[...new Set(commands)].map((command) => `  ${command}`),
  ].join('\n');
}

/** Kinds of problems that `status` shows in their own section, in more detail than a notice. */
const SHOWN_ELSEWHERE: readonly string[] = [
  'job_failed',
  'job_stalled',
  'job_late',
  'job_missed',
  'files_held',
  'doubts',
  'credited_twice',
  'ledger_went_back',
];

function renderProblems({ status, config }: StatusInput, terminal: Terminal): string {
  const { channels } = config.notify;
  const problems = channels.length === 0 ? [] : status.problems;
  return renderNotified(
    problems.filter(({ kind }) => !SHOWN_ELSEWHERE.includes(kind)),
    status.channelTroubles.filter(({ channel }) => channels.some(({ name }) => name === channel)),
    terminal,
  );
}

function renderHeldOrders({ status }: StatusInput, terminal: Terminal): string {
  return renderBlocks(describeHeldOrders({ groups: status.heldOrders }), terminal);
}

function renderHeld({ status }: StatusInput, terminal: Terminal): string {
  if (status.heldFiles.length === 0) return '';
  const lines = status.heldFiles.flatMap((file) => renderPart(describeHeldFile(file), terminal));
  return [terminal.style(['bold', 'yellow'], `Held files (${status.heldFiles.length})`), ...lines].join('\n');
}

/** Renders claims that the database lost and whose orders no file has contained since. */
function renderWaitingClaims({ status: { waitingClaims } }: StatusInput, terminal: Terminal): string {
  const { claims, accepted, amounts } = waitingClaims;
  if (claims === 0) return '';
  const text = `${plural(claims, 'order')} (${formatAmounts(amounts)}) were sent, but their claims were lost with an earlier state of the database, and no file has stated the orders since. The service accepted ${formatCount(accepted)} of them. They are not posted again.`;
  return terminal.style('yellow', wrap(text, { width: terminal.columns, indent: '  ', firstIndent: '' }));
}

function renderDoubts({ status }: StatusInput, terminal: Terminal): string {
  if (status.doubts.length === 0) return terminal.style('dim', 'No order is in doubt.');
  const inDoubt = status.backlog.filter(({ state }) => state === 'in_doubt');
  const count = inDoubt.reduce((sum, { entries }) => sum + entries, 0);
  const more = inDoubt.some(({ isPart }) => isPart) ? '+' : '';
  const lines = status.doubts.flatMap((doubt) => renderPart(describeDoubt(doubt), terminal));
  const title = terminal.style(['bold', 'red'], `In doubt (${formatCount(count)}${more})`);
  const todo = 'look up each order in the service, then settle it';
  const command = renderCommands(reviewCommand(todo), terminal);
  return [title, ...lines, ...command].join('\n');
}
