import type { PipelineConfig } from '../../config/schema.ts';
import { formatMoney } from '../../core/money.ts';
import { formatMinute } from '../../core/text/format-instant.ts';
import type { NextSlot } from '../../ops/schedule/next-slots.ts';
import { type Block, column, item, more, number, say, section, table, whole } from '../../render/block.ts';
import { formatCount } from '../../render/text.ts';
import { describeFindings } from '../checks/describe-findings.ts';
import { describeDoubleCredits, describeDoubt, reviewCommand } from '../doubts/doubts.ts';
import { describeWaitingClaims } from '../doubts/waiting-claims.ts';
import { describeHeldFile, describeRejectedCauses } from '../files/read-files.ts';
import { describeHeldOrders } from '../held/describe-held-orders.ts';
import { describeNotified } from '../notices/notices.ts';
import { type DidOfRun, describeRuns, describeSchedule } from '../runs/runs.ts';
import { commandOfUnit, describeUnit } from '../runs/units.ts';
import type { Status } from './read-status.ts';

export type StatusInput = {
  readonly status: Status;
  readonly config: PipelineConfig;
  readonly did: DidOfRun;
  /** The next slots, according to the schedules in the configuration. */
  readonly next?: readonly NextSlot[];
};

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

/** Describes the current state. What needs a person comes last, next to the prompt. */
export function describeStatus({ status, config, did, next = [] }: StatusInput): readonly Block[] {
  const { api, database, notify } = config;
  const place =
    database.url === ''
      ? `embedded, in ${database.dataFolder}`
      : `Postgres at ${URL.parse(database.url)?.host ?? '?'}`;
  const never = Object.keys(config.jobs).filter((job) => !status.lastRuns.some((run) => run.job === job));
  const waitingClaims = describeWaitingClaims(status.waitingClaims);
  return [
    {
      kind: 'facts',
      facts: [
        ['service', api.url === '' ? 'none: `run` needs INFLUENCER_API_URL' : api.url],
        ['account', status.account ?? 'unknown before the first run'],
        ['database', place],
      ],
    },
    ...section('Last run of each job', {
      parts: [
        ...describeRuns(status.lastRuns, did),
        ...never.map((job) => item(`${job}: has not run yet. npx influencer-sync run ${job}`)),
      ],
    }),
    ...describeSchedule(next, status),
    ...describeBacklog(status),
    ...section('Customers', {
      parts: [
        table(status.customers, [
          column('brand', ({ brandId }) => brandId),
          whole('state', ({ state }) => (state === 'staged' ? 'to be submitted' : state)),
          number('customers', ({ customers }) => formatCount(customers)),
          whole('oldest (UTC)', ({ oldest }) => formatMinute(oldest)),
        ]),
      ],
    }),
    // Which files queues have announced, and when all names were last listed.
    ...section('Queues of S3 events', {
      parts: [
        table(status.queues, [
          column('source', ({ source }) => source),
          number('announced files to read', ({ announced }) => formatCount(announced)),
          whole('oldest (UTC)', ({ oldest }) => formatMinute(oldest)),
          whole('all names listed (UTC)', ({ listedAt }) => formatMinute(listedAt) || 'not yet'),
        ]),
      ],
    }),
    ...describeWork(status),
    ...describeNotified(
      notify.channels.length === 0
        ? []
        : status.problems.filter(({ kind }) => !SHOWN_ELSEWHERE.includes(kind)),
      status.channelTroubles.filter(({ channel }) => notify.channels.some(({ name }) => name === channel)),
    ),
    ...describeHeldOrders({ groups: status.heldOrders }),
    ...section('Held files', {
      count: status.heldFiles.length,
      tone: 'yellow',
      parts: status.heldFiles.map(describeHeldFile),
    }),
    ...describeRejectedCauses(status.rejected),
    ...describeFindings(status.warnings),
    ...(waitingClaims === null ? [] : [say(waitingClaims, { tone: 'yellow' })]),
    ...describeDoubleCredits(status.doubleCredits),
    ...section('Mails that may not have arrived', {
      tone: 'red',
      parts: status.unclearMails.map(({ month, dealId }) =>
        item(`The statement of ${month} for deal ${dealId}.`),
      ),
      commands: { about: 'ask the creator, then decide', lines: ['npx influencer-sync statement mails'] },
    }),
    ...describeDoubts(status),
  ];
}

function describeBacklog({ backlog }: Status): readonly Block[] {
  const isPart = backlog.some((group) => group.isPart);
  return section('Ledger', {
    parts: [
      table(backlog, [
        column('job', ({ job }) => job),
        whole(
          'state',
          ({ state, backfillId }) =>
            `${state.replaceAll('_', ' ')}${backfillId === null ? '' : `, by backfill ${backfillId}`}`,
        ),
        number('orders', ({ entries, isPart }) => `${formatCount(entries)}${isPart ? '+' : ''}`),
        number(
          'amount',
          ({ amount, currency, isPart }) => `${isPart ? 'more than ' : ''}${formatMoney(amount, currency)}`,
        ),
        whole('oldest (UTC)', ({ oldest }) => formatMinute(oldest)),
      ]),
      ...more(isPart, '+ there are more. Count all: npx influencer-sync status --exact'),
    ],
  });
}

/** Describes who works now, and work of the last runs that no worker could complete. */
function describeWork({ leases, workers, givenUpUnits }: Status): readonly Block[] {
  // Units of work are shown with their worker.
  const shown = leases.filter(({ name }) => !name.startsWith('unit:'));
  const facts = shown.map(
    ({ name, host, pid, secondsLeft }) =>
      [
        name.replace(/^serve:.*/, 'serve'),
        `pid ${pid} on ${host}, lease valid for ${secondsLeft} s`,
      ] as const,
  );
  return [
    ...section('At work now', { parts: facts.length === 0 ? [] : [{ kind: 'facts', facts }] }),
    ...section('Workers', {
      parts: [
        table(workers, [
          column('worker', ({ host, pid }) => `pid ${pid} on ${host}`),
          whole('version', ({ version }) => version),
          column('takes', ({ kinds }) => kinds.join(', ')),
          number(
            'doing now',
            ({ units, drainingSince }) =>
              `${formatCount(units)}${drainingSince === null ? '' : ', stopping'}`,
          ),
          whole('since (UTC)', ({ startedAt }) => formatMinute(startedAt)),
        ]),
      ],
    }),
    ...section('Work that no worker could do', {
      count: givenUpUnits.length,
      tone: 'yellow',
      parts: givenUpUnits.map((unit) =>
        item(`${unit.job}, run ${unit.runId}: ${describeUnit(unit)} failed because each worker died.`),
      ),
      help: 'The log of the workers says why. Fix the cause and run again; that does the rest:',
      commands: { lines: [...new Set(givenUpUnits.map(commandOfUnit))] },
    }),
  ];
}

function describeDoubts({ doubts, backlog }: Status): readonly Block[] {
  if (doubts.length === 0) return [say('No order is in doubt.', { tone: 'dim' })];
  const inDoubt = backlog.filter(({ state }) => state === 'in_doubt');
  const count = inDoubt.reduce((sum, { entries }) => sum + entries, 0);
  return section(`In doubt (${formatCount(count)}${inDoubt.some(({ isPart }) => isPart) ? '+' : ''})`, {
    tone: 'red',
    parts: doubts.map(describeDoubt),
    commands: reviewCommand('look up each order in the service, then settle it'),
  });
}
