import type { Command } from 'commander';
import { type Act, addConfigOptions, addExamples, type CommandDefinition, parsePort } from '../../command.ts';

/**
 * `influencer-sync webhooks`: receives events; `register`, `list` and `delete` manage the addresses to which
 * the service sends them, and `listen` forwards the events of a sandbox.
 */
export const webhooksCommand: CommandDefinition = {
  name: 'webhooks',
  define(command, act) {
    command.enablePositionalOptions();
    addConfigOptions(
      command.description(
        'receive events from the service; register, list or delete the addresses to which it sends them',
      ),
    )
      .option('--port <number>', 'port to listen on instead of webhooks.port, 0 for a free one', parsePort)
      .action(
        act(async (output, options) =>
          (await import('../../actions/api/receive-webhooks.ts')).receiveWebhooks(output, options),
        ),
      );
    addExamples(command, [
      ['webhooks', 'receive events until stopped (needs webhooks.secret)'],
      ['webhooks register https://hooks.example.com/webhooks', 'register all kinds of events'],
      ['webhooks listen --forward-to http://localhost:3000/hooks', 'forward the events of a sandbox'],
      ['webhooks list', 'list the registered addresses'],
    ]);
    defineListening(command, act);
    defineRegistration(command, act);
  },
};

function defineListening(command: Command, act: Act): void {
  command
    .command('listen')
    .description('forward every event of a running sandbox to an address, without registering it')
    .requiredOption('--forward-to <url>', 'where your receiver listens')
    .option('--url <address>', 'base address of the sandbox', 'http://127.0.0.1:4010')
    .option('--account <id>', 'events of this account only')
    .option('--kind <kind>', KINDS, collect)
    .option('--json', 'print NDJSON events')
    .action(
      act(async (output, options) =>
        (await import('../../actions/api/listen-webhooks.ts')).listenWebhooks(output, options),
      ),
    );
}

const KINDS = 'one kind of event only (repeatable; default: all)';
const collect = (kind: string, all: readonly string[] = []): readonly string[] => [...all, kind];

function defineRegistration(command: Command, act: Act): void {
  addConfigOptions(command.command('register').description('register an address for events'))
    .argument('<url>', 'public address of the receiver, with its path')
    .option('--kind <kind>', KINDS, collect)
    .option('--same-address', 'one address for all kinds, without the kind at the end', false)
    .action(
      act(async (output, url: string, options) =>
        (await import('../../actions/api/manage-webhooks.ts')).registerWebhooks(output, url, options),
      ),
    );
  addConfigOptions(command.command('list').description('list the registered addresses')).action(
    act(async (output, options) =>
      (await import('../../actions/api/manage-webhooks.ts')).listWebhooks(output, options),
    ),
  );
  addConfigOptions(command.command('delete').description('remove the registration of an address'))
    .argument('<url>', 'as it was registered, or as you gave it to `register`')
    .option('--kind <kind>', KINDS, collect)
    .action(
      act(async (output, url: string, options) =>
        (await import('../../actions/api/manage-webhooks.ts')).deleteWebhooks(output, url, options),
      ),
    );
}
