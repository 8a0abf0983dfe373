import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';
import { buildServer, type Context } from './build-server.ts';
import { createClock, REAL_TIME } from './clock.ts';
import { arm } from './control/control.ts';
import { createEventStream } from './events/event-stream.ts';
import { createFaultPlan } from './faults/fault-plan.ts';
import { type FaultRuleInput, faultRule } from './faults/fault-rule.ts';
import { createJournal } from './journal.ts';
import { listen, listensAgain, reachable } from './listen.ts';
import { openTenant, type Registered, registerAccounts, type Tenant } from './open-tenant.ts';
import type { Duplicates, Session } from './operations/operation.ts';
import { PLANS, type Plan } from './rate-limit.ts';
import { DEMO_ACCOUNT, readAccounts } from './read-accounts.ts';
import { createRequestLog, type RequestLog } from './request-log.ts';
import { createPopulation } from './search/population.ts';
import { createMemoryStore } from './state/memory-store.ts';
import { openStateStore } from './state/open-state-store.ts';
import type { Snapshot } from './state/snapshot.ts';

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

const DAY_MS = 86_400_000;

/** The accounts as they are now; a reset opens them anew. */
type Stage = Pick<Context, 'tenants' | 'sessions'>;

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
  const stateStore = (await openStateStore(options, seed)) ?? createMemoryStore();
  const clock = createClock();
  const stream = createEventStream();
  const register = () =>
    registerAccounts(data, {
      seed,
      stateStore,
      key: options.key,
      webhookSecret: options.webhookSecret,
    });
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
    headerPrefix: options.webhookHeaderPrefix ?? 'X-Service',
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
      // Someone else may have the port for a moment; then it stays down a little longer.
    } while (!isClosed && !(await listensAgain(http, { port: taken, host })));
  }

  const faults = createFaultPlan(seed, latencyMs);

  /** Puts the state of a snapshot in place of all; without one, the state of the start. */
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
  for (const { world } of tenants) {
    world.followUps.close();
    world.events.close();
  }
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
