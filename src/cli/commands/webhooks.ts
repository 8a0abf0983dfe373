import type { Command } from 'commander';
import { type Act, addConfigOptions, addExamples, type CommandDefinition, parsePort } from './command.ts';

/** `influencer-sync webhooks`: receives events; `register`, `list` and `delete` say where the service sends them. */
export const webhooksCommand: CommandDefinition = {
  name: 'webhooks',
  define(command, act) {
    command.enablePositionalOptions();
    addConfigOptions(
      command.description(
        'receive events of the service; register, list or delete the addresses that it sends them to',
      ),
    )
      .option('--port <number>', 'port to listen on instead of webhooks.port, 0 for a free one', parsePort)
      .action(
        act(async (output, options) =>
          (await import('../actions/receive-webhooks.ts')).receiveWebhooks(output, options),
        ),
      );
    addExamples(command, [
      ['webhooks', 'receive events until stopped; needs webhooks.secret'],
      ['webhooks register https://hooks.example.com/webhooks', 'register all kinds of events'],
      ['webhooks list', 'list the registered addresses'],
    ]);
    defineRegistration(command, act);
  },
};

function defineRegistration(command: Command, act: Act): void {
  const kinds = 'one kind of event only (repeatable); default: all';
  const collect = (kind: string, all: readonly string[] = []): readonly string[] => [...all, kind];
  addConfigOptions(command.command('register').description('register an address for events'))
    .argument('<url>', 'public address of the receiver, with its path')
    .option('--kind <kind>', kinds, collect)
    .option('--same-address', 'one address for all kinds, without the kind at its end', false)
    .action(
      act(async (output, url: string, options) =>
        (await import('../actions/manage-webhooks.ts')).registerWebhooks(output, url, options),
      ),
    );
  addConfigOptions(command.command('list').description('list the registered addresses')).action(
    act(async (output, options) =>
      (await import('../actions/manage-webhooks.ts')).listWebhooks(output, options),
    ),
  );
  addConfigOptions(command.command('delete').description('remove the registration of an address'))
    .argument('<url>', 'as it was registered, or as you gave it to `register`')
    .option('--kind <kind>', kinds, collect)
    .action(
      act(async (output, url: string, options) =>
        (await import('../actions/manage-webhooks.ts')).deleteWebhooks(output, url, options),
      ),
    );
}
