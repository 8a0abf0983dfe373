import { Option } from 'commander';
import { RETURN_GROUPS, type ReturnGroup } from '../../../core/money/returns.ts';
import {
  addConfigOptions,
  addExamples,
  addMonthOptions,
  type CommandDefinition,
  type ConfigOptions,
  type MonthOptions,
  parseCount,
} from '../command.ts';

export type ReturnsOptions = ConfigOptions &
  MonthOptions & {
    readonly by: ReturnGroup;
    readonly oneCurrency?: boolean;
    readonly limit: number;
  };

export type CustomersWonOptions = ConfigOptions & MonthOptions & { readonly limit: number };

const DEFAULT_ROWS = 50;

export const returnsCommand: CommandDefinition = {
  name: 'returns',
  define(command, act) {
    // Both commands have options of the same names.
    command.enablePositionalOptions();
    addMonthOptions(
      addConfigOptions(
        command.description(
          'show what deals, creators, brands or campaigns brought and cost, net of refunds',
        ),
      ).addOption(new Option('--by <group>', 'what to add up').choices(RETURN_GROUPS).default('deal')),
    )
      .option('--one-currency', 'amounts of all currencies in statements.reporting_currency')
      .option('--limit <count>', 'maximum rows', parseCount, DEFAULT_ROWS)
      .action(
        act(async (output, options: ReturnsOptions) =>
          (await import('../../actions/money/returns.ts')).showReturns(output, options),
        ),
      );
    addExamples(command, [
      ['returns --by creator --from 2026-01', 'creators of this year, the highest net revenue first'],
      ['returns --by month', 'the sums of each month'],
      ['returns --by creator --one-currency', 'with amounts at the exchange rates of statements.fx'],
      ['returns customers --from 2026-01', 'new customers of this year, and what they have ordered since'],
    ]);
    command.addHelpText(
      'after',
      '\nIt says which orders carried a code or link, not what a creator caused. A number that cannot be known is shown as unknown, never as 0.',
    );
    addMonthOptions(
      addConfigOptions(
        command
          .command('customers')
          .description('show the new customers that deals won, and what they have ordered since'),
      ),
    )
      .option('--limit <count>', 'maximum rows', parseCount, DEFAULT_ROWS)
      .action(
        act(async (output, options: CustomersWonOptions) =>
          (await import('../../actions/money/returns.ts')).showCustomersWon(output, options),
        ),
      );
  },
};
