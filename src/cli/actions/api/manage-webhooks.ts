import { EXIT, type ExitCode } from '../../../core/exit-code.ts';
import { KnownError } from '../../../core/known-error.ts';
import { didYouMean } from '../../../core/text/did-you-mean.ts';
import { renderTable } from '../../../render/table.ts';
import { ApiError } from '../../../service/api-error.ts';
import { webhookTypes } from '../../../service/contract/webhook-types.ts';
import { type Api, toApi } from '../../../service/create-api.ts';
import type { ConfigOptions } from '../../command.ts';
import { findService, openClient } from '../../open/open-service.ts';
import type { Output } from '../../terminal/output.ts';
import { usageError } from '../../usage-error.ts';

export type ManageOptions = ConfigOptions & {
  readonly kind?: readonly string[];
  readonly sameAddress?: boolean;
};

type WebhookType = (typeof webhookTypes)[number];

/**
 * Registers webhooks for kinds of events: at the address itself with `--same-address`, otherwise at
 * `address/kind`. Existing registrations stay.
 */
export async function registerWebhooks(
  output: Output,
  url: string,
  options: ManageOptions,
): Promise<ExitCode> {
  const kinds = readKinds(options.kind);
  const base = readAddress(url);
  return withApi(options, async ({ webhooks: { createWebhook } }) => {
    for (const kind of kinds) {
      const webhook_url = options.sameAddress === true ? base : `${base}/${kind}`;
      const isNew = await unless(409, () => createWebhook({ webhook_url, webhook_type: kind }));
      const state = isNew ? 'registered' : 'already registered';
      output.emit({ event: 'webhook', webhook_url, webhook_type: kind, state });
      output.print(`${kind}: ${state}`);
    }
    return EXIT.ok;
  });
}

/** Lists the registered webhooks. */
export async function listWebhooks(output: Output, options: ManageOptions): Promise<ExitCode> {
  return withApi(options, async ({ webhooks: { getWebhooks } }) => {
    const { webhooks } = await getWebhooks();
    // The specification does not show the items; a webhook consists of these two members.
    const rows = webhooks.map((item) => [textOf(item.webhook_type), textOf(item.webhook_url)]);
    for (const [type, url] of rows) output.emit({ event: 'webhook', webhook_url: url, webhook_type: type });
    output.print(
      rows.length === 0
        ? 'No webhook is registered.'
        : renderTable([{ title: 'Kind' }, { title: 'Address' }], rows, { terminal: output.terminal }),
    );
    return EXIT.ok;
  });
}

/** Deletes the webhooks of an address, including those at `address/kind`. */
export async function deleteWebhooks(output: Output, url: string, options: ManageOptions): Promise<ExitCode> {
  const kinds = options.kind === undefined ? null : readKinds(options.kind);
  const base = readAddress(url);
  return withApi(options, async ({ webhooks: { getWebhooks, deleteWebhook } }) => {
    const { webhooks } = await getWebhooks();
    let deleted = 0;
    for (const item of webhooks) {
      const webhook_url = textOf(item.webhook_url);
      const webhook_type = textOf(item.webhook_type);
      const isMeant = [url, base, `${base}/${webhook_type}`].includes(webhook_url);
      if (!isMeant || (kinds !== null && !kinds.some((kind) => kind === webhook_type))) continue;
      await unless(400, () => deleteWebhook({ webhook_url, webhook_type }));
      output.emit({ event: 'webhook', webhook_url, webhook_type, state: 'deleted' });
      output.print(`${webhook_type}: deleted`);
      deleted += 1;
    }
    if (deleted === 0) output.print('This address was not registered.');
    return EXIT.ok;
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

async function withApi(options: ConfigOptions, work: (api: Api) => Promise<ExitCode>): Promise<ExitCode> {
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

function readKinds(words: readonly string[] | undefined): readonly WebhookType[] {
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
