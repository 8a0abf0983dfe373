import type { AddressInfo, Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { hostInUrl } from '../core/http/is-loopback.ts';
import { configurationError } from '../core/known-error.ts';
import { DAY_MS } from '../core/time/day.ts';
import { type ServiceDescription, specifiedService } from '../service/description/schema.ts';
import { openTenant, type Registered, registerAccounts, type Tenant } from './account/open-tenant.ts';
import { DEMO_ACCOUNT, readAccounts } from './account/read-accounts.ts';
import { buildServer } from './build-server.ts';
import { createClock, REAL_TIME } from './clock.ts';
import type { Context } from './context.ts';
import { arm } from './control.ts';
import { createEventStream } from './events/events.ts';
import { createFaultPlan, type FaultRuleInput, faultRule } from './faults.ts';
import { createJournal } from './journal.ts';
import type { Duplicates, Session } from './operations/operation.ts';
import { PLANS, type Plan } from './rate-limit.ts';
import { createRequestLog, type RequestLog } from './request-log.ts';
import { createPopulation } from './search/population.ts';
import { openStateStore } from './state/open-state-store.ts';
import type { Snapshot } from './state/snapshot.ts';
import { createMemoryStore } from './state/state-store.ts';

export type SandboxOptions = {
  /** 0 for a free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** YAML file with one or several accounts. Default: the built-in account. */
  readonly data?: string;
  /** Additional key of the first account. If the account has no key at all, one is derived from the seed. */
  readonly key?: string;
  /** The same seed gives the same ids, keys, accounts and faults. */
  readonly seed?: string;
  /** What to do with an order id that was already received from the same platform. Default: accept it. */
  readonly duplicates?: Duplicates;
  readonly faults?: readonly FaultRuleInput[];
  /** Delay of every request. */
  readonly latencyMs?: number;
  /** File to which each referral is also written before it is answered. An existing file is continued. */
  readonly referralLog?: string;
  /**
   * SQLite file for the state and the request log, so that both survive a restart. It is created if it is
   * missing. Default: memory.
   */
  readonly db?: string;
  /** The plan that limits the requests per minute of an account. Default: no limit. */
  readonly plan?: Plan;
  /** How long the identification of customers takes. Default: two seconds. */
  readonly identifyDelayMs?: number;
  /** Allows webhooks to this machine and to private networks, which the service refuses. */
  readonly allowPrivateWebhooks?: boolean;
  /** Secret that signs the events of the first account. Default: derived from the seed. */
  readonly webhookSecret?: string;
  /** The service to play: how it does what the specification leaves open. Default: our reading of it. */
  readonly service?: ServiceDescription;
  /** Prefix of the names of an event's headers. Default: the names of the service. */
  readonly webhookHeaderPrefix?: string;
  /**
   * Delay before the second attempt to send an event, doubled before each further one. Default: one second.
   */
  readonly webhookRetryMs?: number;
  /** Allows other machines to use `/_sandbox`. */
  readonly openControl?: boolean;
  /**
   * Refuses members that are not in the contract with 400. By default, the sandbox only warns, in a header
   * and through `onWarning`.
   */
  readonly strict?: boolean;
  /**
   * Called once for each unknown member of each operation: `get_search: filter.folowers …`. The line contains
   * no values.
   */
  readonly onWarning?: (line: string) => void;
};

export type Sandbox = {
  /** Base address without a trailing slash. */
  readonly url: string;
  /** The first key of the first account. */
  readonly key: string;
  /** Secret that signs the events of the first account. */
  readonly webhookSecret: string;
  /** All accounts, the first one included. */
  readonly accounts: readonly SandboxAccount[];
  /** Stops the sandbox and closes all connections. */
  close(): Promise<void>;
};

/** An account, its keys, and the secret that signs its events. */
export type SandboxAccount = {
  readonly id: string;
  readonly keys: readonly string[];
  readonly webhookSecret: string;
};

/** Long enough to be noticeable, short enough to wait for. */
const IDENTIFY_DELAY_MS = 2_000;

const WEBHOOK_RETRY_MS = 1_000;

/** The current accounts. A reset opens them again. */
type Stage = Pick<Context, 'tenants' | 'sessions'>;

/** After this many different warnings, no more are printed. */
const MAX_WARNINGS = 1_000;

/** Runs a local copy of the service: stateful, with a log of what it really did. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { port, host = '127.0.0.1', seed = '1', duplicates = 'accept', latencyMs = 0, referralLog } = options;
  const { service = specifiedService, webhookHeaderPrefix: prefix } = options;
  const data = readAccounts(options.data ?? DEMO_ACCOUNT);
  const stateStore = (await openStateStore(options, seed)) ?? createMemoryStore();
  const clock = createClock();
  const stream = createEventStream();
  const register = () =>
    registerAccounts(data, { seed, stateStore, key: options.key, webhookSecret: options.webhookSecret });
  const registered = register();
  stateStore.commit();
  const accounts = registered.map(({ account }) => account);
  const requestLog = openRequestLog(() =>
    createRequestLog(accounts, {
      stateStore,
      file: referralLog ?? null,
      notesOrders: duplicates !== 'accept',
      now: clock.now,
    }),
  );
  const shared = {
    requestLog,
    duplicates,
    population: createPopulation(seed, () => Math.floor(clock.state().aheadMs / DAY_MS)),
    clock,
    stream,
    identifyDelayMs: options.identifyDelayMs ?? IDENTIFY_DELAY_MS,
    allowsPrivateWebhooks: options.allowPrivateWebhooks ?? false,
    appUrl: () => url,
    description:
      prefix === undefined
        ? service.events
        : {
            ...service.events,
            signature_header: `${prefix}-Signature`,
            timestamp_header: `${prefix}-Timestamp`,
          },
    retryMs: options.webhookRetryMs ?? WEBHOOK_RETRY_MS,
    requestsAMinute: PLANS[options.plan ?? 'off'],
  };
  let stage = openStage(registered);
  let url = '';
  let isClosed = false;

  function openStage(all: readonly Registered[]): Stage {
    const tenants = all.map((one) => openTenant(one, shared));
    return {
      tenants,
      sessions: new Map(tenants.flatMap(({ sessions }): [string, Session][] => [...sessions])),
    };
  }

  function release(): void {
    silence(stage.tenants);
    requestLog.close();
    stateStore.close();
  }

  async function goDown(ms: number): Promise<void> {
    const { server: http } = server;
    const { port: taken } = http.address() as AddressInfo;
    http.close();
    http.closeIdleConnections();
    do {
      await sleep(ms);
      // Another process may have taken the port in the meantime. The server then stays down a little longer.
    } while (!isClosed && !(await listensAgain(http, { port: taken, host })));
  }

  const faults = createFaultPlan(seed, latencyMs);

  /** Replaces the whole state with a snapshot; without one, with the initial state. */
  function restore(snapshot: Snapshot | null): void {
    silence(stage.tenants);
    const kept = stateStore.all('seed').map(([id, value]) => ['seed', id, value] as const);
    stateStore.replace(snapshot?.records ?? kept);
    requestLog.replace(snapshot?.logs ?? {});
    clock.set(snapshot?.clock ?? REAL_TIME);
    stage = openStage(register());
    stateStore.commit();
  }

  function reset(): void {
    restore(null);
    context.journal.clear();
    faults.clear();
    arm(context, initialFaults);
  }

  const initialFaults = (options.faults ?? []).map((rule) => faultRule.parse(rule));
  const context: Context = {
    get tenants() {
      return stage.tenants;
    },
    get sessions() {
      return stage.sessions;
    },
    requestLog,
    stateStore,
    faults,
    clock,
    stream,
    journal: createJournal(),
    kept: { seed, accountIds: accounts.map(({ id }) => id), stateStore, requestLog, clock },
    restore,
    reset,
    goDown: (ms: number) => {
      if (server.server.listening) void goDown(ms);
    },
    isControlOpen: options.openControl ?? false,
    service,
    isStrict: options.strict ?? false,
    warn: warnOnce(options.onWarning ?? (() => {})),
  };
  const server = buildServer(context);
  await listen(() => server.listen({ port, host }), release);
  url = `http://${reachable(host)}:${(server.server.address() as AddressInfo).port}`;
  arm(context, initialFaults);
  return {
    url,
    ...firstOf(stage.tenants),
    accounts: stage.tenants.map(({ world, keys, webhookSecret }) => ({
      id: world.account.id,
      keys,
      webhookSecret,
    })),
    async close() {
      if (isClosed) return;
      isClosed = true;
      silence(stage.tenants);
      await server.close();
      release();
    },
  };
}

/** Prints each warning once, because a client repeats its mistakes. The request log has every occurrence. */
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
  for (const { world } of tenants) {
    world.followUps.close();
    world.events.close();
  }
}

function openRequestLog(open: () => RequestLog): RequestLog {
  try {
    return open();
  } catch (cause) {
    throw configurationError({
      code: 'sandbox_log_unusable',
      message: 'The file that --referral-log names cannot be read or written, or has other content.',
      help: 'Name another file with --referral-log, in a folder that exists.',
      safe: 'The sandbox was not started.',
      cause,
    });
  }
}

/**
 * Starts to listen.
 * @throws KnownError `port_unusable` (exit 2), after calling `release`.
 */
export async function listen(start: () => Promise<unknown>, release: () => void): Promise<void> {
  try {
    await start();
  } catch (cause) {
    release();
    throw configurationError({
      code: 'port_unusable',
      message: `The sandbox cannot listen there (${(cause as NodeJS.ErrnoException).code ?? 'unknown'}).`,
      help: 'Choose another port with --port, or --port 0 for a free one.',
      safe: 'The sandbox was not started.',
      cause,
    });
  }
}

/**
 * Listens again after the server was down.
 * @returns true if the port was free.
 */
function listensAgain(http: Server, address: { readonly port: number; readonly host: string }) {
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

/** Returns an address at which this machine can reach the host that it listens on. */
export function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return hostInUrl(host);
}
