import type { Command } from 'commander';
import type { RecoverOptions } from '../actions/recover-ledger.ts';
import {
  type Act,
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parseId,
} from '../command.ts';

export type SeedOptions = ConfigOptions & { readonly reason: string };

/**
 * `influencer-sync ledger`: records what the ledger cannot know: orders that were credited elsewhere, and
 * claims that the database lost.
 */
export const ledgerCommand: CommandDefinition = {
  name: 'ledger',
  define(command, act) {
    command
      .description(
        'record orders that were credited elsewhere, or recover claims that a restored database lost',
      )
      .enablePositionalOptions();
    addExamples(command, [
      [
        "ledger seed credited-in-2023.csv --reason 'by the shop integration'",
        'columns: order_platform,order_id and, optionally, amount,currency,deal_id,collab_id,reason',
      ],
      ['ledger seeds', 'the recorded files'],
      [
        "ledger recover --reason 'restored the backup of 2 May'",
        'record the orders posted since then as accepted or in doubt; then runs continue',
      ],
      [
        "ledger unseed 3 --reason 'the wrong file'",
        'withdraw a file: the next run decides about its orders again',
      ],
    ]);
    defineSeeds(command, act);
    defineRecover(command, act);
  },
};

function defineRecover(command: Command, act: Act): void {
  addConfigOptions(
    command
      .command('recover')
      .description(
        'continue with a database that was restored, failed over or replaced: the orders that it lost are not posted again',
      ),
  )
    .requiredOption('--reason <text>', 'what happened; kept with the decision')
    .option('--from <file>', 'list of orders that the service has, in the format of `ledger seed`')
    .option(
      '--accept-undescribed',
      'give up claims that no journal on this machine describes: their orders may be posted again',
    )
    .action(
      act(async (output, options: RecoverOptions) =>
        (await import('../actions/recover-ledger.ts')).recoverLostClaims(output, options),
      ),
    );
}

function defineSeeds(command: Command, act: Act): void {
  addConfigOptions(
    command
      .command('seed')
      .description('record a file of orders that were credited elsewhere, so that they are not posted'),
  )
    .argument('<file>', 'CSV with order_platform,order_id[,amount,currency,deal_id,collab_id,reason]')
    .requiredOption('--reason <text>', 'how you know; kept with the decision')
    .action(
      act(async (output, file: string, options: SeedOptions) =>
        (await import('../actions/manage-seeds.ts')).addSeed(output, file, options),
      ),
    );
  addConfigOptions(command.command('seeds').description('list the recorded files')).action(
    act(async (output, options: ConfigOptions) =>
      (await import('../actions/manage-seeds.ts')).showSeeds(output, options),
    ),
  );
  addConfigOptions(command.command('unseed').description('withdraw a file; this is recorded as a decision'))
    .argument('<id>', 'number of the seed, as `ledger seeds` shows it', parseId)
    .requiredOption('--reason <text>', 'why; kept with the decision')
    .action(
      act(async (output, id: string, options: SeedOptions) =>
        (await import('../actions/manage-seeds.ts')).takeSeedBack(output, id, options),
      ),
    );
}
