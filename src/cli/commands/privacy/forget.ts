import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from '../../command.ts';

export type ForgetOptions = ConfigOptions & { readonly dryRun?: boolean; readonly reason?: string };

/**
 * `influencer-sync forget`: deletes all data of one customer and makes sure that no export submits that
 * customer again.
 */
export const forgetCommand: CommandDefinition = {
  name: 'forget',
  define(command, act) {
    addConfigOptions(
      command.description(
        'forget a customer: delete their data, print a certificate, and never submit them again',
      ),
    )
      .argument(
        '[address]',
        'e-mail address. Use - to read it from standard input, or omit it to be asked, so that your shell history does not contain it',
      )
      .option('--dry-run', 'show what would be removed, and change nothing')
      .option(
        '--reason <text>',
        'why, for example the number of the request, but not the address; kept in the audit',
      )
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
      ['forget', 'asks for the address, so that your shell history does not contain it'],
      ['forget - --json < address.txt > certificate.json', 'by the address in a file'],
      ['forget - --dry-run < address.txt', 'what is stored, and what would be removed'],
    ]);
    command.addHelpText(
      'after',
      '\nExit codes: 0 forgotten, 3 forgotten, but something must be removed by hand,\n8 nothing was stored (the tombstone is written), 5 a run reads or sends customers',
    );
  },
};
