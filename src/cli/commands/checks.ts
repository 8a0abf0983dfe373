import { type Command, InvalidArgumentError } from 'commander';
import {
  type Act,
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parseId,
} from './command.ts';

export type ChecksOptions = ConfigOptions & { readonly source?: string };
export type AcknowledgeOptions = ConfigOptions & { readonly reason: string };
export type ExpectDateOptions = ConfigOptions & { readonly source?: string };

export const checksCommand: CommandDefinition = {
  name: 'checks',
  define(command, act) {
    addConfigOptions(
      command.description('list what is checked on the files of each source, and what is unusual'),
    )
      .option('--source <name>', 'of one source')
      .action(
        act(async (output, options: ChecksOptions) =>
          (await import('../actions/manage-checks.ts')).showChecks(output, options),
        ),
      );
    addExamples(command, [
      ['checks', 'the latest file of each source, check by check'],
      ['checks --json | jq \'select(.event == "check_finding")\'', 'for a program'],
      ["checks acknowledge 12 --reason 'a campaign'", 'an unusual file is right'],
      ['checks expect-date 2026-11-27 "Black Friday"', 'a date on which more is sold'],
    ]);
    defineDecisions(command, act);
  },
};

function defineDecisions(command: Command, act: Act): void {
  const acknowledge = addConfigOptions(
    command
      .command('acknowledge')
      .description('say that an unusual file is right; the next run reads it if it was held'),
  )
    .argument('<id...>', 'numbers from the listing', (text: string, before: string[] = []) => [
      ...before,
      parseId(text),
    ])
    .requiredOption('--reason <text>', 'why; kept with the finding')
    .action(
      act(async (output, ids: readonly string[], options: AcknowledgeOptions) =>
        (await import('../actions/manage-checks.ts')).acknowledge(output, ids, options),
      ),
    );
  addExamples(acknowledge, [["checks acknowledge 12 13 --reason 'a campaign'", 'both are right']]);
  const expectDate = addConfigOptions(
    command
      .command('expect-date')
      .description(
        'expect unusual numbers of orders on a date: counts, codes and statuses in files of it and of the next day are neither judged nor learnt from',
      ),
  )
    .argument('<date>', 'YYYY-MM-DD', parseDate)
    .argument('<name>', 'why, for example "Black Friday"')
    .option('--source <name>', 'of one source; otherwise of all')
    .action(
      act(async (output, day: string, name: string, options: ExpectDateOptions) =>
        (await import('../actions/manage-checks.ts')).expectDateOf(output, { day, name }, options),
      ),
    );
  addExamples(expectDate, [['checks expect-date 2026-11-27 "Black Friday"', 'for all sources']]);
}

function parseDate(text: string): string {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text);
  if (isDate !== true) throw new InvalidArgumentError('It should be a day, like 2026-11-27.');
  return text;
}
