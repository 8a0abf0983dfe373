import type { AddressInfo, Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';
import { buildServer } from './build-server.ts';
import { arm } from './control/control.ts';
import { createFaultPlan } from './faults/fault-plan.ts';
import { type FaultRuleInput, faultRule } from './faults/fault-rule.ts';
import { openTenant, registerAccounts, type Tenant } from './open-tenant.ts';
import type { Duplicates, Session } from './operations/operation.ts';
import { PLANS, type Plan } from './rate-limit.ts';
import { DEMO_ACCOUNT, readAccounts } from './read-accounts.ts';
import { createRequestLog, type RequestLog } from './request-log.ts';
import { createPopulation } from './search/population.ts';
import { openStateStore } from './state/open-state-store.ts';

export type SandboxOptions = {
  /** 0: a free one. */
  readonly port: number;
  /** 127.0.0.1 when not given. */
  readonly host?: string;
  /** YAML file with the account, or with several; the built-in one when not given. */
  readonly data?: string;
  /** Of the first account, beside those that the data gives; made from the seed when there is none. */
  readonly key?: string;
  /** Same seed, same ids, key, account and faults. */
  readonly seed?: string;
  /** What happens to an order id that is there already from the same platform; accepted when not given. */
  readonly duplicates?: Duplicates;
  readonly faults?: readonly FaultRuleInput[];
  /** Of every request. */
  readonly latencyMs?: number;
  /** File that referrals are also written to, each before it is answered; continued when it exists. */
  readonly referralLog?: string;
  /** SQLite file that keeps the state and the request log, so that both survive a restart; made when it is missing. In memory when not given. */
  readonly db?: string;
  /** How many requests a minute an account may send; any number when not given. */
  readonly plan?: Plan;
  /** How long identifying customers takes; two seconds when not given. */
  readonly identifyDelayMs?: number;
  /** Lets webhooks go to this machine and to private networks, which the service refuses. */
  readonly allowPrivateWebhooks?: boolean;
  /** Signs events of the first account; made from the seed when not given. */
  readonly webhookSecret?: string;
  /** What the names of the headers of an event begin with; `X-Service` when not given. */
  readonly webhookHeaderPrefix?: string;
  /** Wait before an event is sent a second time, doubled each further time; a second when not given. */
  readonly webhookRetryMs?: number;
  /** Lets `/_sandbox` answer other machines too. */
  readonly openControl?: boolean;
  /** Refuses members that the contract does not name with 400; when not given, a header and a line say so. */
  readonly strict?: boolean;
  /** Told once of each unknown member of each operation: `get_search: filter.folowers …`. No values. */
  readonly onWarning?: (line: string) => void;
};

export type Sandbox = {
  /** Base address without a trailing slash. */
  readonly url: string;
  /** The first key of the first account. */
  readonly key: string;
  /** With which events of the first account are signed. */
  readonly webhookSecret: string;
  /** All accounts, the first one included. */
  readonly accounts: readonly SandboxAccount[];
  /** Ends all connections. */
  close(): Promise<void>;
};

/** Who can ask, and how its events are signed. */
export type SandboxAccount = {
  readonly id: string;
  readonly keys: readonly string[];
  readonly webhookSecret: string;
};

/** Long enough to be seen waiting, short enough to wait for. */
const IDENTIFY_DELAY_MS = 2_000;

const WEBHOOK_RETRY_MS = 1_000;

/** Whoever has not read these reads no more. */
const MAX_WARNINGS = 1_000;

/**
 * Runs the service locally: a stateful twin with a log of what it really did.
 *
 * @throws KnownError `sandbox_data_missing`, `sandbox_data_invalid`, `sandbox_log_unusable`, `sandbox_db_unusable`, `port_unusable` (exit 2).
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { port, host = '127.0.0.1', seed = '1', duplicates = 'accept', latencyMs = 0, referralLog } = options;
  const data = readAccounts(options.data ?? DEMO_ACCOUNT);
  const stateStore = await openStateStore(options, seed);
  const registered = registerAccounts(data, {
    seed,
    stateStore,
    key: options.key,
    webhookSecret: options.webhookSecret,
  });
  stateStore?.commit();
  const accounts = registered.map(({ account }) => account);
  const requestLog = openRequestLog(() =>
    createRequestLog(accounts, {
      stateStore,
      file: referralLog ?? null,
      notesOrders: duplicates !== 'accept',
    }),
  );
  const shared = {
    requestLog,
    duplicates,
    population: createPopulation(seed),
    identifyDelayMs: options.identifyDelayMs ?? IDENTIFY_DELAY_MS,
    allowsPrivateWebhooks: options.allowPrivateWebhooks ?? false,
    appUrl: () => url,
    headerPrefix: options.webhookHeaderPrefix ?? 'X-Service',
    retryMs: options.webhookRetryMs ?? WEBHOOK_RETRY_MS,
    requestsAMinute: PLANS[options.plan ?? 'off'],
  };
  const tenants = registered.map((one) => openTenant(one, shared));
  let url = '';
  let isClosed = false;

  function release(): void {
    silence(tenants);
    requestLog.close();
    stateStore?.close();
  }

  async function goDown(ms: number): Promise<void> {
    const { server: http } = server;
    const { port: taken } = http.address() as AddressInfo;
    http.close();
    http.closeIdleConnections();
    do {
      await sleep(ms);
      // Someone else may have the port for a moment; then it stays down a little longer.
    } while (!isClosed && !(await listensAgain(http, { port: taken, host })));
  }

  const context = {
    tenants,
    sessions: new Map(tenants.flatMap(({ sessions }): [string, Session][] => [...sessions])),
    requestLog,
    stateStore,
    faults: createFaultPlan(seed, latencyMs),
    goDown: (ms: number) => {
      if (server.server.listening) void goDown(ms);
    },
    isControlOpen: options.openControl ?? false,
    isStrict: options.strict ?? false,
    warn: warnOnce(options.onWarning ?? (() => {})),
  };
  const server = buildServer(context);
  await listen(() => server.listen({ port, host }), release);
  url = `http://${reachable(host)}:${(server.server.address() as AddressInfo).port}`;
  arm(
    context,
    (options.faults ?? []).map((rule) => faultRule.parse(rule)),
  );
  return {
    url,
    ...firstOf(tenants),
    accounts: tenants.map(({ world, keys, webhookSecret }) => ({
      id: world.account.id,
      keys,
      webhookSecret,
    })),
    async close() {
      if (isClosed) return;
      isClosed = true;
      silence(tenants);
      await server.close();
      release();
    },
  };
}

/** A client repeats its mistakes; the request log has each of them. */
function warnOnce(warn: (line: string) => void): (line: string) => void {
  const told = new Set<string>();
  return (line) => {
    if (told.has(line) || told.size >= MAX_WARNINGS) return;
    told.add(line);
    warn(line);
  };
}

function firstOf([first]: readonly Tenant[]): Pick<Sandbox, 'key' | 'webhookSecret'> {
  return { key: first?.keys[0] ?? '', webhookSecret: first?.webhookSecret ?? '' };
}

function silence(tenants: readonly Tenant[]): void {
  for (const { world } of tenants) world.events.close();
}

function listensAgain(
  http: Server,
  address: { readonly port: number; readonly host: string },
): Promise<boolean> {
  return new Promise((resolve) => {
    const onListening = (): void => {
      http.off('error', onError);
      resolve(true);
    };
    const onError = (): void => {
      http.off('listening', onListening);
      resolve(false);
    };
    http.once('listening', onListening).once('error', onError).listen(address);
  });
}

function openRequestLog(open: () => RequestLog): RequestLog {
  try {
    return open();
  } catch (cause) {
    throw new KnownError({
      code: 'sandbox_log_unusable',
      message: 'The file that --referral-log names cannot be read or written, or has other content.',
      help: 'Name another file with --referral-log, in a folder that exists.',
      safe: 'The sandbox was not started.',
      exitCode: EXIT.configuration,
      cause,
    });
  }
}

async function listen(start: () => Promise<unknown>, release: () => void): Promise<void> {
  try {
    await start();
  } catch (cause) {
    release();
    throw new KnownError({
      code: 'port_unusable',
      message: `The sandbox cannot listen there (${(cause as NodeJS.ErrnoException).code ?? 'unknown'}).`,
      help: 'Choose another port with --port, or --port 0 for a free one.',
      safe: 'The sandbox was not started.',
      exitCode: EXIT.configuration,
      cause,
    });
  }
}

/** An address under which this machine reaches itself. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
