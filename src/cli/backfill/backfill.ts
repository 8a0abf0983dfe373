import { InvalidArgumentError } from 'commander';
import { defineCommand, NO_WAIT, parseCount, parseDay, parseId, WAIT } from '../command.ts';

/** Which backfill a command changes, and why. */
const CHOICE = [
  ['[id]', 'number of the backfill; default: the one that is not finished', parseId],
  ['--reason <text>', 'why; kept in ops.audit'],
] as const;

const SHARE_OPTIONS = [
  ['--rate <number>', 'maximum requests per second (default: half of api.requests_per_second)', parseRate],
  ['--concurrency <count>', 'maximum requests in flight (default: half of api.concurrency)', parseCount],
  WAIT,
  NO_WAIT,
] as const;

/** `status`, `pause`, `resume` and `cancel` control a backfill from another terminal. */
export const backfillCommand = defineCommand({
  name: 'backfill',
  summary: 'credit the orders of a past period, by a plan that you see',
  description: 'credit the orders of a past period: make a plan, then execute exactly that plan',
  takes: [
    ['<job>', 'name of the job in the configuration'],
    ['--from <day>', 'first day, as 2023-01-01, in time_zone of the job', parseDay],
    ['--to <day>', 'last day', parseDay],
    ['--plan', 'post nothing; store the plan and what it read, so that you can approve exactly this plan'],
    ['--dry-run', 'the same as --plan: it stores the plan and what it read, and sends nothing'],
    ['--yes', 'execute the plan without asking: for scripts'],
    ...SHARE_OPTIONS,
  ],
  examples: [
    [
      'backfill attribute-orders --from 2023-01-01 --to 2024-12-31 --plan',
      'what would be posted, and how long it would take',
    ],
    [
      'backfill attribute-orders --from 2023-01-01 --to 2024-12-31',
      'make a plan, ask, post; after a kill, the same command continues',
    ],
    ['backfill pause', 'from another terminal'],
    ['backfill status', 'its progress'],
  ],
  action: async ({ output }, { job, dryRun, ...options }) =>
    (await import('./perform-backfill.ts')).performBackfill(output, job, {
      ...options,
      plan: options.plan === true || dryRun === true,
    }),
  commands: [
    defineCommand({
      name: 'status',
      description: 'list backfills with their progress',
      takes: [['[id]', 'number of one backfill', parseId]],
      action: async ({ output }, { id, ...options }) =>
        (await import('./perform-backfill.ts')).showBackfills(output, id, options),
    }),
    defineCommand({
      name: 'pause',
      changes: true,
      description: 'pause a backfill after its requests in flight',
      takes: CHOICE,
      action: async ({ output }, { id, ...options }) =>
        (await import('./perform-backfill.ts')).performPause(output, id, options),
    }),
    defineCommand({
      name: 'resume',
      changes: true,
      description: 'continue a paused or killed backfill, or execute a plan',
      takes: [...CHOICE, ['--yes', 'execute a plan without asking: for scripts'], ...SHARE_OPTIONS],
      action: async ({ output }, { id, ...options }) =>
        options.dryRun === true
          ? (await import('./perform-backfill.ts')).showBackfills(output, id, options)
          : (await import('./perform-backfill.ts')).performResume(output, id, options),
    }),
    defineCommand({
      name: 'cancel',
      changes: true,
      description: 'cancel a backfill: it posts no more orders, and you can plan the rest again',
      takes: CHOICE,
      action: async ({ output }, { id, ...options }) =>
        (await import('./perform-backfill.ts')).performCancel(output, id, options),
    }),
  ],
});

function parseRate(text: string): number {
  const rate = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || rate <= 0)
    throw new InvalidArgumentError('It should be a number above 0, for example 0.5.');
  return rate;
}
