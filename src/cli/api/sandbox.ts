import { Command, InvalidArgumentError, Option } from 'commander';
import { refusal } from '../../core/known-error.ts';
import type { FaultRule } from '../../sandbox/faults.ts';
import type { SandboxOptions } from '../../sandbox/start-sandbox.ts';
import { parsePort } from '../command.ts';
import { triggerCommand } from './trigger-event.ts';

type Flags = Omit<
  SandboxOptions,
  'faults' | 'latencyMs' | 'identifyDelayMs' | 'webhookRetryMs' | 'service' | 'onWarning'
> & {
  readonly fault: readonly string[];
  readonly latency: number;
  readonly identifyDelay: number;
  readonly service?: string;
  readonly webhookRetry: number;
};

/**
 * `influencer-sync sandbox`: prints its URL and key as one JSON line, and serves until SIGTERM or SIGINT, or
 * until the npx process that started it ends.
 */
export function sandboxCommand(): Command {
  return new Command('sandbox')
    .summary('run a copy of the service on this machine, without an account')
    .description('run a copy of the service on this machine, for trials and tests without an account')
    .option('--port <number>', 'port to listen on, 0 for a free one', parsePort, 4010)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--data <file>',
      'YAML with brands, dealflows, deals, campaigns and credits, or with several accounts (default: a small account with brand 4819)',
    )
    .option(
      '--key <key>',
      'API key of the first account, in addition to those in the data (default: derived from the seed)',
    )
    .option('--seed <text>', 'the same seed gives the same ids, key, faults and influencers', '1')
    .addOption(
      new Option('--duplicates <what>', 'what happens to an order id that already exists')
        .choices(['accept', 'ignore', '409'])
        .default('accept'),
    )
    .option(
      '--fault <rule>',
      'a fault to inject, for example reset_after:probability=0.1,operation=new_influencer_referral (repeatable)',
      (rule: string, rules: readonly string[]) => [...rules, rule],
      [],
    )
    .option('--latency <ms>', 'delay every answer by this much', readMilliseconds, 0)
    .option('--referral-log <file>', 'also write each referral to this file before it is answered')
    .option('--db <file>', 'SQLite file that keeps the state across restarts (default: in memory)')
    .addOption(
      new Option('--plan <name>', 'limit of requests: standard 240 a minute, plus 480')
        .choices(['off', 'standard', 'plus'])
        .default('off'),
    )
    .option('--identify-delay <ms>', 'how long identifying customers takes', readMilliseconds, 2_000)
    .option('--allow-private-webhooks', 'allow webhooks to this machine and to private networks', false)
    .option(
      '--webhook-secret <text>',
      'secret that signs events of the first account (default: derived from the seed)',
    )
    .option(
      '--webhook-header-prefix <text>',
      'prefix of the header names of an event (default: X-Service, or as --service says)',
      readHeaderPrefix,
    )
    .option(
      '--service <file>',
      'play a service that does what the specification leaves open as this file says (default: config/service.yaml of the package)',
    )
    .option(
      '--webhook-retry <ms>',
      'delay before an event is sent again, doubled each time',
      readMilliseconds,
      1_000,
    )
    .option('--open-control', 'let /_sandbox answer other machines', false)
    .option('--strict', 'refuse members that the contract does not name, instead of warning', false)
    .addHelpText('after', HELP)
    .addCommand(triggerCommand())
    .action(async (flags: Flags) => serve(flags));
}

const HELP = `
It also answers, on this machine only:
  POST /_sandbox/faults            sets faults (JSON, one rule or a list); DELETE clears them, GET lists them
  GET  /_sandbox/log/referrals     every referral it processed, as NDJSON; also log/clicks and log/requests
  GET  /_sandbox/requests          the last 1,000 requests with headers, query and body; ?text=… searches
  GET  /_sandbox/events            a stream of events, which "webhooks listen" forwards
  POST /_sandbox/reset             back to the start; GET /_sandbox/snapshot and POST /_sandbox/restore
  POST /_sandbox/clock             {"at": …, "advance_seconds": …, "stopped": …}
  GET  /_sandbox/customers         customers that were sent to be identified, and the results
  GET  /_sandbox/deliveries        every event that it sent, with each attempt, as NDJSON
  GET  /_sandbox/accounts          the accounts, their users and remaining credits
  GET  /_sandbox/deals/<deal_id>   notes, tasks, stage and active status of a deal
  GET  /_sandbox/store             codes and links: made in the shop, or only on the deal page
  GET  /_sandbox/outreach          influencers that were added to campaigns
  GET  /_sandbox/planned           mails, replies, posts and payout requests to come, with their times
  GET  /_sandbox/credits           remaining credits; POST {"search": 100, "reports": 5} sets them
  POST /_sandbox/trigger/<kind>    triggers an event, as "sandbox trigger" does
  GET  /_sandbox/health
With several accounts, ?account=<id> selects one; without it, lists and logs contain all.`;

async function serve(flags: Flags): Promise<void> {
  const isStopped = new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
  // Imported only here, so that `--help` does not load a web server.
  const { startSandbox } = await import('../../sandbox/start-sandbox.ts');
  const { untilNpxEnds } = await import('./watch-npx.ts');
  const { readServiceFile } = await import('../../config/service-file.ts');
  const { fault, latency, identifyDelay, webhookRetry, service, ...rest } = flags;
  const sandbox = await startSandbox({
    ...rest,
    ...(service === undefined
      ? {}
      : { service: readServiceFile(service, { env: process.env, stored: new Map() }) }),
    latencyMs: latency,
    identifyDelayMs: identifyDelay,
    webhookRetryMs: webhookRetry,
    faults: await readFaults(fault),
    onWarning: (line) => process.stderr.write(`Warning: ${line}\n`),
  });
  const { url, key, webhookSecret: webhook_secret } = sandbox;
  const accounts = sandbox.accounts.map(({ id, keys, webhookSecret }) => ({
    account_id: id,
    keys,
    webhook_secret: webhookSecret,
  }));
  process.stdout.write(`${JSON.stringify({ url, key, webhook_secret, accounts })}\n`);
  await Promise.race([isStopped, untilNpxEnds()]);
  await sandbox.close();
}

async function readFaults(texts: readonly string[]): Promise<readonly FaultRule[]> {
  const { explainIssues } = await import('../../service/explain-issues.ts');
  const { FAULT_KINDS, parseFaultFlag } = await import('../../sandbox/faults.ts');
  return texts.flatMap((text) => {
    const read = parseFaultFlag(text);
    if (read.kind === 'rules') return read.rules;
    throw refusal({
      code: 'fault_invalid',
      message: `--fault ${JSON.stringify(text)} is not a fault: ${explainIssues(read.issues)}.`,
      help: `Write kind:setting=value,… with one of the kinds ${Object.keys(FAULT_KINDS).join(', ')}.`,
      safe: 'The sandbox was not started.',
    });
  });
}

function readMilliseconds(text: string): number {
  if (/^\d{1,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of milliseconds.');
}

function readHeaderPrefix(text: string): string {
  if (/^[A-Za-z][A-Za-z0-9-]*$/.test(text)) return text;
  throw new InvalidArgumentError('It must be the beginning of a header name, such as X-Service.');
}
