import type { Command } from 'commander';
import { type Act, addConfigOptions, addExamples, type CommandDefinition, parsePort } from './command.ts';

/** `influencer-sync webhooks`: receives events; `register`, `list` and `delete` say where the service sends them. */
export const webhooksCommand: CommandDefinition = {
  name: 'webhooks',
  define(command, act) {
    command.enablePositionalOptions();
    addConfigOptions(
      command.description('receive events of the service; register, list or delete where it sends them'),
    )
      .option('--port <number>', 'port to listen on instead of webhooks.port, 0 for a free one', parsePort)
      .action(
        act(async (output, options) =>
          (await import('../actions/receive-webhooks.ts')).receiveWebhooks(output, options),
        ),
      );
    addExamples(command, [
      ['webhooks', 'receive events until it is stopped; needs webhooks.secret'],
      ['webhooks register https://hooks.example.com/webhooks', 'have all kinds of events sent there'],
      ['webhooks list', 'what is registered'],
    ]);
    defineRegistration(command, act);
  },
};

function defineRegistration(command: Command, act: Act): void {
  const kinds = 'one kind of event only (repeatable); default: all';
  const collect = (kind: string, all: readonly string[] = []): readonly string[] => [...all, kind];
  addConfigOptions(command.command('register').description('have events sent to an address'))
    .argument('<url>', 'where the receiver can be reached from outside, with its path')
    .option('--kind <kind>', kinds, collect)
    .option('--same-address', 'one address for all kinds, without the kind at its end', false)
    .action(
      act(async (output, url: string, options) =>
        (await import('../actions/manage-webhooks.ts')).registerWebhooks(output, url, options),
      ),
    );
  addConfigOptions(command.command('list').description('where events are sent')).action(
    act(async (output, options) =>
      (await import('../actions/manage-webhooks.ts')).listWebhooks(output, options),
    ),
  );
  addConfigOptions(command.command('delete').description('have no more events sent to an address'))
    .argument('<url>', 'as it was registered, or as it was given to register')
    .option('--kind <kind>', kinds, collect)
    .action(
      act(async (output, url: string, options) =>
        (await import('../actions/manage-webhooks.ts')).deleteWebhooks(output, url, options),
      ),
    );
}
