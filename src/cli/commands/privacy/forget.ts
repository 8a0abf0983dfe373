import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from '../command.ts';

export type ForgetOptions = ConfigOptions & { readonly dryRun?: boolean; readonly reason?: string };

/** `influencer-sync forget`: everything about one customer is removed, and no export brings them back. */
export const forgetCommand: CommandDefinition = {
  name: 'forget',
  define(command, act) {
    addConfigOptions(
      command.description(
        'forget a customer: delete what is known, print a certificate, and never submit them again',
      ),
    )
      .argument(
        '[address]',
        'e-mail address. Give - to read it from standard input, or omit it to be asked, so that no shell keeps it',
      )
      .option('--dry-run', 'say what would be removed, and change nothing')
      .option('--reason <text>', 'kept in the audit, for example the number of the request; not the address')
      .action(
        act(async (output, address: string | undefined, options: ForgetOptions) =>
          (await import('../../actions/privacy/forget-customer.ts')).forgetByAddress(
            output,
            address,
            options,
          ),
        ),
      );
    addExamples(command, [
      ['forget', 'asks for the address, so that no shell history has it'],
      ['forget - --json < address.txt > certificate.json', 'by the address in a file'],
      ['forget - --dry-run < address.txt', 'what is known, and what would be removed'],
    ]);
    command.addHelpText(
      'after',
      '\nExit codes: 0 forgotten, 3 forgotten, but something must be removed by hand,\n8 nothing was known (the tombstone is written), 5 a run reads or sends customers',
    );
  },
};
