import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { column, say, table } from '../../render/block.ts';
import type { ApiError } from '../../service/api-error.ts';
import { webhookTypes } from '../../service/contract/webhook-types.ts';
import type { Api } from '../../service/create-api.ts';
import { defineCommand, parsePort } from '../command.ts';
import type { ConfigOptions } from '../open/open-config.ts';
import { usageError } from '../usage-error.ts';

const KIND = [
  '--kind <kind>',
  'one kind of event only (repeatable; default: all)',
  (kind: string, all: readonly string[] = []): readonly string[] => [...all, kind],
] as const;

const registerCommand = defineCommand({
  name: 'register',
  changes: true,
  description: 'register an address for events',
  takes: [
    ['<url>', 'public address of the receiver, with its path'],
    KIND,
    ['--same-address', 'one address for all kinds, without the kind at the end', undefined, false],
  ],
  /**
   * Registers webhooks for kinds of events: at the address itself with `--same-address`, otherwise at
   * `address/kind`. Existing registrations stay.
   */
  async action({ output }, options) {
    const { url } = options;
    const kinds = await readKinds(options.kind);
    const base = readAddress(url);
    return withApi(options, async ({ webhooks: { createWebhook } }) => {
      for (const kind of kinds) {
        const webhook_url = options.sameAddress === true ? base : `${base}/${kind}`;
        const state =
          options.dryRun === true
            ? `would be registered: ${webhook_url}`
            : (await unless(409, () => createWebhook({ webhook_url, webhook_type: kind })))
              ? 'registered'
              : 'already registered';
        output.emit({ event: 'webhook', webhook_url, webhook_type: kind, state });
        output.print(`${kind}: ${state}`);
      }
      return EXIT.ok;
    });
  },
});

const listCommand = defineCommand({
  name: 'list',
  description: 'list the registered addresses',
  async action({ output }, options) {
    return withApi(options, async ({ webhooks: { getWebhooks } }) => {
      const { webhooks } = await getWebhooks();
      // The specification does not show the items; a webhook consists of these two members.
      const rows = webhooks.map((item) => ({
        kind: textOf(item.webhook_type),
        url: textOf(item.webhook_url),
      }));
      for (const { kind, url } of rows)
        output.emit({ event: 'webhook', webhook_url: url, webhook_type: kind });
      const list = table(rows, [column('kind', ({ kind }) => kind), column('address', ({ url }) => url)]);
      output.show([rows.length === 0 ? say('No webhook is registered.') : list]);
      return EXIT.ok;
    });
  },
});

const deleteCommand = defineCommand({
  name: 'delete',
  changes: true,
  description: 'remove the registration of an address',
  takes: [['<url>', 'as it was registered, or as you gave it to `register`'], KIND],
  /** Deletes the webhooks of an address, including those at `address/kind`. */
  async action({ output }, options) {
    const { url } = options;
    const kinds = options.kind === undefined ? null : await readKinds(options.kind);
    const base = readAddress(url);
    return withApi(options, async ({ webhooks: { getWebhooks, deleteWebhook } }) => {
      const { webhooks } = await getWebhooks();
      let deleted = 0;
      for (const item of webhooks) {
        const webhook_url = textOf(item.webhook_url);
        const webhook_type = textOf(item.webhook_type);
        const isMeant = [url, base, `${base}/${webhook_type}`].includes(webhook_url);
        if (!isMeant || (kinds !== null && !kinds.some((kind) => kind === webhook_type))) continue;
        if (options.dryRun !== true) await unless(400, () => deleteWebhook({ webhook_url, webhook_type }));
        const state = options.dryRun === true ? 'would be deleted' : 'deleted';
        output.emit({ event: 'webhook', webhook_url, webhook_type, state });
        output.print(`${webhook_type}: ${state}`);
        deleted += 1;
      }
      if (deleted === 0) output.print('This address was not registered.');
      return EXIT.ok;
    });
  },
});

/**
 * `influencer-sync webhooks`: receives events; `register`, `list` and `delete` manage the addresses to which
 * the service sends them, and `listen` forwards the events of a sandbox.
 */
export const webhooksCommand = defineCommand({
  name: 'webhooks',
  summary: 'receive events of the service; register addresses for them',
  description:
    'receive events from the service; register, list or delete the addresses to which it sends them',
  takes: [['--port <number>', 'port to listen on instead of webhooks.port, 0 for a free one', parsePort]],
  examples: [
    ['webhooks', 'receive events until stopped (needs webhooks.secret)'],
    ['webhooks register https://hooks.example.com/webhooks', 'register all kinds of events'],
    ['webhooks listen --forward-to http://localhost:3000/hooks', 'forward the events of a sandbox'],
    ['webhooks list', 'list the registered addresses'],
  ],
  action: async ({ output }, options) =>
    (await import('./receive-webhooks.ts')).receiveWebhooks(output, options),
  commands: [
    defineCommand({
      name: 'listen',
      description: 'forward every event of a running sandbox to an address, without registering it',
      readsConfig: false,
      requires: [['--forward-to <url>', 'where your receiver listens']],
      takes: [
        ['--url <address>', 'base address of the sandbox', undefined, 'http://127.0.0.1:4010'],
        ['--account <id>', 'events of this account only'],
        KIND,
        ['--json', 'print NDJSON events'],
      ],
      action: async ({ output }, options) =>
        (await import('./listen-webhooks.ts')).listenWebhooks(output, options),
    }),
    registerCommand,
    listCommand,
    deleteCommand,
  ],
});

type WebhookType = (typeof webhookTypes)[number];

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

async function withApi(options: ConfigOptions, work: (api: Api) => Promise<ExitCode>): Promise<ExitCode> {
  const { findService, openClient } = await import('../open/open-service.ts');
  const { ApiError } = await import('../../service/api-error.ts');
  const { toApi } = await import('../../service/create-api.ts');
  const api = toApi(openClient(await findService(options, { needsKey: true })));
  try {
    return await work(api);
  } catch (error) {
    throw error instanceof ApiError ? toKnownError(error) : error;
  } finally {
    await api.close();
  }
}

/** @returns false if the service answers with the status that means that nothing needs to be done. */
async function unless(status: number, work: () => Promise<unknown>): Promise<boolean> {
  const { ApiError } = await import('../../service/api-error.ts');
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === status) return false;
    throw error;
  }
}

function toKnownError(error: ApiError): KnownError {
  const isRefused = error.isKeyRefused;
  return new KnownError({
    code: isRefused ? 'key_refused' : 'service_refused',
    message: error.message,
    help: error.safe,
    exitCode: isRefused ? EXIT.authentication : EXIT.crash,
    cause: error,
  });
}

async function readKinds(words: readonly string[] | undefined): Promise<readonly WebhookType[]> {
  const { didYouMean } = await import('../../core/text/did-you-mean.ts');
  if (words === undefined) return webhookTypes;
  return words.map((word) => {
    const kind = webhookTypes.find((one) => one === word);
    if (kind !== undefined) return kind;
    const near = didYouMean(word, webhookTypes);
    throw usageError(
      'There is no such kind of event.',
      `${near === null ? '' : `Did you mean ${near}? `}There are: ${webhookTypes.join(', ')}.`,
    );
  });
}

function readAddress(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '')
    return text.replace(/\/+$/, '');
  throw usageError(
    'Events cannot be sent to this address.',
    'Write it like https://hooks.example.com/webhooks, without ? and #.',
  );
}
