import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServiceDescription } from '../service/description/schema.ts';
import type { Tenant } from './account/open-tenant.ts';
import type { Clock } from './clock.ts';
import type { EventStream } from './events/events.ts';
import type { FaultPlan } from './faults.ts';
import type { Journal } from './journal.ts';
import type { Session } from './operations/operation.ts';
import type { RequestLog } from './request-log.ts';
import type { Kept, Snapshot } from './state/snapshot.ts';
import type { StateStore } from './state/state-store.ts';

/** Everything that a request can access. Its key determines the account. */
export type Context = {
  /** At least one. */
  readonly tenants: readonly Tenant[];
  /** Sessions of all tenants, by key. */
  readonly sessions: ReadonlyMap<string, Session>;
  readonly requestLog: RequestLog;
  readonly stateStore: StateStore;
  readonly clock: Clock;
  readonly stream: EventStream;
  /** The latest requests with their content. */
  readonly journal: Journal;
  readonly kept: Kept;
  /** Replaces the whole state with a snapshot. */
  readonly restore: (snapshot: Snapshot) => void;
  /** Resets everything to the initial state, faults included. */
  readonly reset: () => void;
  readonly faults: FaultPlan;
  /** Stops listening for this number of milliseconds. */
  readonly goDown: (ms: number) => void;
  /** Whether `/_sandbox` answers clients on other machines. */
  readonly isControlOpen: boolean;
  /** How the played service does what the specification leaves open. */
  readonly service: ServiceDescription;
  /** Whether members that are not in the contract are refused. */
  readonly isStrict: boolean;
  /** Prints a warning for the person who runs the sandbox. */
  readonly warn: (line: string) => void;
};

/** Refuses a request to `/_sandbox` that may not be answered. */
export type Guard = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;
