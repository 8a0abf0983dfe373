import { type Command, InvalidArgumentError } from 'commander';
import {
  type Act,
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parseCount,
  parseDay,
  parseId,
} from '../command.ts';

/** The limits of a backfill. */
export type ShareOptions = { readonly rate?: number; readonly concurrency?: number };

export type BackfillOptions = ConfigOptions &
  ShareOptions & {
    readonly from?: string;
    readonly to?: string;
    readonly plan?: boolean;
    readonly yes?: boolean;
  };

/** Why a person changes a backfill. */
export type ReasonOption = { readonly reason?: string };

export type ResumeOptions = ConfigOptions & ShareOptions & ReasonOption & { readonly yes?: boolean };

/**
 * `influencer-sync backfill`: plans and executes a backfill. `status`, `pause`, `resume` and `cancel` control
 * it from another terminal.
 */
export const backfillCommand: CommandDefinition = {
  name: 'backfill',
  define(command, act) {
    command.enablePositionalOptions();
    addShareOptions(
      addConfigOptions(
        command.description(
          'credit the orders of a past period: make a plan, then execute exactly that plan',
        ),
      )
        .argument('<job>', 'name of the job in the configuration')
        .option('--from <day>', 'first day, as 2023-01-01, in time_zone of the job', parseDay)
        .option('--to <day>', 'last day', parseDay)
        .option('--plan', 'stop after the plan')
        .option('--yes', 'execute the plan without asking: for scripts'),
    ).action(
      act(async (output, jobName: string, options: BackfillOptions) =>
        (await import('./perform-backfill.ts')).performBackfill(output, jobName, options),
      ),
    );
    addExamples(command, [
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
    ]);
    defineControls(command, act);
  },
};

const REASON = ['--reason <text>', 'why; kept in ops.audit'] as const;

function defineControls(command: Command, act: Act): void {
  const which = 'number of the backfill; default: the one that is not finished';
  addConfigOptions(command.command('status').description('list backfills with their progress'))
    .argument('[id]', 'number of one backfill', parseId)
    .action(
      act(async (output, id: string | undefined, options: ConfigOptions) =>
        (await import('./manage-backfill.ts')).showBackfills(output, id, options),
      ),
    );
  addConfigOptions(command.command('pause').description('pause a backfill after its requests in flight'))
    .argument('[id]', which, parseId)
    .option(...REASON)
    .action(
      act(async (output, id: string | undefined, options: ConfigOptions & ReasonOption) =>
        (await import('./manage-backfill.ts')).performPause(output, id, options),
      ),
    );
  addShareOptions(
    addConfigOptions(
      command.command('resume').description('continue a paused or killed backfill, or execute a plan'),
    )
      .argument('[id]', which, parseId)
      .option(...REASON)
      .option('--yes', 'execute a plan without asking: for scripts'),
  ).action(
    act(async (output, id: string | undefined, options: ResumeOptions) =>
      (await import('./perform-backfill.ts')).performResume(output, id, options),
    ),
  );
  addConfigOptions(
    command
      .command('cancel')
      .description('cancel a backfill: it posts no more orders, and you can plan the rest again'),
  )
    .argument('[id]', which, parseId)
    .option(...REASON)
    .action(
      act(async (output, id: string | undefined, options: ConfigOptions & ReasonOption) =>
        (await import('./manage-backfill.ts')).performCancel(output, id, options),
      ),
    );
}

function addShareOptions(command: Command): Command {
  return command
    .option(
      '--rate <number>',
      'maximum requests per second (default: half of api.requests_per_second)',
      parseRate,
    )
    .option(
      '--concurrency <count>',
      'maximum requests in flight (default: half of api.concurrency)',
      parseCount,
    );
}

function parseRate(text: string): number {
  const rate = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || rate <= 0)
    throw new InvalidArgumentError('It should be a number above 0, for example 0.5.');
  return rate;
}
