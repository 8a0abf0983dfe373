import { Command, InvalidArgumentError } from 'commander';
import { refusal } from '../../core/known-error.ts';
import { toPrintable } from '../../core/text/printable.ts';
import { webhookTypes } from '../../service/contract/webhook-types.ts';

type Flags = {
  readonly url: string;
  readonly account?: string;
  readonly set?: Readonly<Record<string, string>>;
  readonly dryRun?: true;
};

/** `influencer-sync sandbox trigger <kind>`: triggers an event in a running sandbox and prints it as one JSON line. */
export function triggerCommand(): Command {
  return new Command('trigger')
    .description('trigger an event in a running sandbox, which then calls the registered webhooks')
    .argument('<kind>', `one of ${webhookTypes.join(', ')}`)
    .option('--url <address>', 'base address of the sandbox', 'http://127.0.0.1:4010')
    .option('--account <id>', 'the account, if the sandbox has several')
    .option(
      '--set <name=value>',
      'a detail, for example deal_id=ETUNQ6ZTW1 or payout_amount=80 (repeatable; default: the first deal and invented details)',
      readSetting,
    )
    .option('--dry-run', 'show what it would send, and send nothing')
    .exitOverride()
    .showHelpAfterError('(add --help to see its arguments)')
    .action((kind: string, flags: Flags) => trigger(kind, flags));
}

async function trigger(kind: string, { url, account, set = {}, dryRun }: Flags): Promise<void> {
  const whose = account === undefined ? '' : `?account=${encodeURIComponent(account)}`;
  const path = `/_sandbox/trigger/${encodeURIComponent(kind)}${whose}`;
  const address = url.replace(/\/+$/, '') + path;
  if (dryRun === true) {
    process.stdout.write(
      `POST ${toPrintable(address)} ${toPrintable(JSON.stringify(set))}: nothing was sent.\n`,
    );
    return;
  }
  const answer = await post(address, set);
  const text = await answer.text();
  if (answer.ok) {
    process.stdout.write(`${toPrintable(text)}\n`);
    return;
  }
  throw refusal({
    code: 'trigger_refused',
    message: `The sandbox refused to trigger ${kind}: ${readMessage(text)}`,
    help: 'Correct the kind, or the details that --set gives.',
    safe: 'Nothing happened.',
  });
}

async function post(address: string, body: unknown): Promise<Response> {
  try {
    return await fetch(address, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  } catch (cause) {
    throw refusal({
      code: 'sandbox_unreachable',
      message: 'No sandbox answers at this address.',
      where: new URL(address).origin,
      help: 'Start one with: npx influencer-sync sandbox. If it listens elsewhere, give its address with --url.',
      safe: 'Nothing happened.',
      cause,
    });
  }
}

function readMessage(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === 'string' ? message : 'it gives no reason.';
  } catch {
    return 'it gives no reason. Is this a sandbox?';
  }
}

function readSetting(
  text: string,
  settings: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const [, name, value] = /^([a-z_]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('It must be a name and a value, such as payout_amount=80.');
  return { ...settings, [name]: value };
}
