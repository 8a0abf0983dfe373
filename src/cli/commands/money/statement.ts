import { Option } from 'commander';
import {
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parseMonth,
} from '../command.ts';

export const STATEMENT_FORMATS = ['table', 'csv', 'html', 'pdf'] as const;

export type StatementOptions = ConfigOptions & {
  readonly month?: string;
  readonly brand?: string;
  readonly deal?: string;
  readonly format: (typeof STATEMENT_FORMATS)[number];
};
export type CloseOptions = ConfigOptions & { readonly month: string; readonly reason: string };

export const statementCommand: CommandDefinition = {
  name: 'statement',
  define(command, act) {
    addConfigOptions(
      command.description('show what influencers earned in a month, net of refunds and cancellations'),
    )
      .option('--month <month>', 'such as 2026-10 (default: last month)', parseMonth)
      .option('--brand <id>', 'one brand only')
      .option('--deal <id>', 'one deal only, with every order')
      .addOption(new Option('--format <format>', 'what to print').choices(STATEMENT_FORMATS).default('table'))
      .action(
        act(async (output, options: StatementOptions) =>
          (await import('../../actions/money/manage-statements.ts')).showStatement(output, options),
        ),
      );
    addExamples(command, [
      ['statement', 'what each deal earned last month'],
      ['statement --month 2026-10 --deal D1', 'every order of one deal'],
      ['statement --month 2026-10 --format csv > october.csv', 'every line, for a spreadsheet'],
      ['statement --month 2026-10 --deal D1 --format pdf > october.pdf', 'a document for the creator'],
      [
        "statement close --month 2026-10 --reason 'paid out'",
        'freeze it; later changes go into the next statement',
      ],
      ['statement verify', 'check that closed statements have not been changed'],
    ]);
    addConfigOptions(
      command
        .command('close')
        .description('freeze a month: later changes are corrections in the next statement'),
    )
      .requiredOption('--month <month>', 'such as 2026-10', parseMonth)
      .requiredOption('--reason <text>', 'why; kept with the statement')
      .action(
        act(async (output, options: CloseOptions) =>
          (await import('../../actions/money/manage-statements.ts')).performClosing(output, options),
        ),
      );
    addConfigOptions(
      command.command('verify').description('check closed statements against their hashes'),
    ).action(
      act(async (output, options: ConfigOptions) =>
        (await import('../../actions/money/manage-statements.ts')).performVerifying(output, options),
      ),
    );
  },
};
