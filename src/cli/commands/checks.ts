import { type Command, InvalidArgumentError } from 'commander';
import {
  type Act,
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parseId,
} from '../command.ts';

export type ChecksOptions = ConfigOptions & { readonly source?: string };
export type AcknowledgeOptions = ConfigOptions & { readonly reason: string };
export type ExpectDateOptions = ConfigOptions & { readonly source?: string };

export const checksCommand: CommandDefinition = {
  name: 'checks',
  define(command, act) {
    addConfigOptions(command.description('list the checks of the files of each source, and what they found'))
      .option('--source <name>', 'one source only')
      .action(
        act(async (output, options: ChecksOptions) =>
          (await import('../actions/manage-checks.ts')).showChecks(output, options),
        ),
      );
    addExamples(command, [
      ['checks', 'the latest file of each source, check by check'],
      ['checks --json | jq \'select(.event == "check_finding")\'', 'for a program'],
      ["checks acknowledge 12 --reason 'a campaign'", 'the unusual file is correct'],
      ['checks expect-date 2026-11-27 "Black Friday"', 'a date on which you sell more than usual'],
    ]);
    defineDecisions(command, act);
  },
};

function defineDecisions(command: Command, act: Act): void {
  const acknowledge = addConfigOptions(
    command
      .command('acknowledge')
      .description('confirm that an unusual file is correct; if it is held, the next run reads it'),
  )
    .argument(
      '<id...>',
      'numbers of the findings, as `checks` lists them',
      (text: string, before: string[] = []) => [...before, parseId(text)],
    )
    .requiredOption('--reason <text>', 'why; kept with the finding')
    .action(
      act(async (output, ids: readonly string[], options: AcknowledgeOptions) =>
        (await import('../actions/manage-checks.ts')).acknowledge(output, ids, options),
      ),
    );
  addExamples(acknowledge, [["checks acknowledge 12 13 --reason 'a campaign'", 'confirm two findings']]);
  const expectDate = addConfigOptions(
    command
      .command('expect-date')
      .description(
        'expect unusual numbers of orders on a date: counts, codes and statuses in files of that day and the next are neither checked nor learnt from',
      ),
  )
    .argument('<date>', 'YYYY-MM-DD', parseDate)
    .argument('<name>', 'why, for example "Black Friday"')
    .option('--source <name>', 'one source only (default: all)')
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
