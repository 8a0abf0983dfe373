import { hostname } from 'node:os';
import type { ApiSettings } from '../../config/schema.ts';
import { configurationError, type KnownErrorDetails } from '../../core/known-error.ts';
import type { RunStop } from '../../core/run.ts';
import type { SpreadOptions, Unit, UnitEnd, UnitPayload } from '../../core/work.ts';
import { type OpenLedger, openLedger } from '../../ledger/open-ledger.ts';
import type { Run } from '../../ops/run.ts';
import type { Client } from '../../service/client.ts';
import type { RunnableKind } from '../runnable-kind.ts';

/** The run that a unit belongs to, as far as the unit needs it. */
export type UnitRun = { readonly run: Run; readonly kind: RunnableKind; readonly unit: Unit };

/**
 * Approximate duration of a share at the limit of the account, which all places share. A run queues two
 * shares for each place, so another run waits about twice as long for its first share.
 */
const SHARE_SECONDS = 20;
/** Minimum number of shares per place, so that all places finish at about the same time. */
const SHARES_PER_PLACE = 2;
/** Starting a share takes as long as about twenty requests. */
const SMALLEST_SHARE = 50;
const LARGEST_SHARE = 2_000;

/** Number of requests in a share of work that several places do in parallel. */
export function shareSize(
  { requestsPerSecond }: Pick<ApiSettings, 'requestsPerSecond'>,
  { requests, places }: { requests: number; places: number },
): number {
  const bySeconds = requestsPerSecond === 0 ? LARGEST_SHARE : (requestsPerSecond * SHARE_SECONDS) / places;
  const largest = Math.min(LARGEST_SHARE, bySeconds, requests / (places * SHARES_PER_PLACE));
  return Math.max(SMALLEST_SHARE, Math.ceil(largest));
}

/** The part of a unit's payload that says which account and ledger it is for. */
export function toUnitAccount(
  { config }: Run,
  { accountId, ledgerId }: Pick<OpenLedger, 'accountId' | 'ledgerId'>,
): UnitPayload {
  return { accountId, ledgerId, service: config.api.url };
}

/**
 * Opens the ledger of a unit that sends requests.
 *
 * @throws KnownError `worker_differs`, and the errors of `openLedger`. Nothing was sent then, except the
 * question about the account.
 */
export async function openUnitLedger(
  run: Run,
  payload: UnitPayload,
): Promise<{ readonly client: Client; readonly ledger: OpenLedger }> {
  const { client } = run;
  if (client === null) throw new Error('a worker has no client of the service');
  requireSame('service', { here: run.config.api.url, there: payload.service });
  const ledger = await openLedger(run, client);
  requireSame('account', { here: ledger.accountId, there: payload.accountId });
  requireSame('ledger', { here: ledger.ledgerId, there: payload.ledgerId });
  return { client, ledger };
}

/**
 * So many given-up shares of a run mean that the cause lies with all workers or all shares, so no further
 * share begins.
 */
const GIVEN_UP_AT_MOST = 3;

/**
 * Hands out units of a run, as `Spread` explains, and shows their progress and their notes as those of the run.
 *
 * @param options.onEnd as in `SpreadOptions`.
 */
export async function spreadUnits(
  { spread, progress, draining: signal, isLeaseHeld }: Run,
  { onEnd, ...options }: Pick<SpreadOptions, 'kind' | 'cut' | 'onEnd'>,
): Promise<readonly UnitEnd[] | null> {
  if (spread === undefined) return null;
  return spread({
    ...options,
    signal,
    isLeaseHeld,
    onProgress: (count) => progress.advance(count),
    onEnd(end) {
      if (end.kind === 'done') for (const note of end.result.notes) progress.note(note);
      return onEnd(end);
    },
  });
}

/** What became of the shares of a run. */
export type SpreadShares = {
  /** How each of them ended, in their order. Null if nothing was handed out. */
  readonly ends: readonly UnitEnd[] | null;
  /** Why the first share was cut short. Null if none was before one failed. */
  readonly stop: RunStop | null;
  /** The error of the share that failed first, also if one was cut short before. Null if none failed. */
  readonly problem: KnownErrorDetails | null;
  /** Why the run must end with a failure once the other shares are done. Null if no share was given up. */
  readonly givenUp: RunStop | null;
  /** True if so many were given up that no further share was to begin. */
  readonly areManyGivenUp: boolean;
};

/**
 * Has workers do the shares of a run. If one was cut short or failed, no further share begins. If one was given up, the
 * others are done all the same, unless there are many.
 *
 * @param options.consequence a sentence about what was not done if a share was given up.
 * @param options.isLast further ends after which no share begins.
 * @param options.onStop called with `stop` as soon as it is known, while other shares may still be in progress.
 */
export async function spreadShares(
  run: Run,
  {
    consequence,
    isLast = () => false,
    onStop,
    ...options
  }: Pick<SpreadOptions, 'kind' | 'cut'> & {
    readonly consequence: string;
    readonly isLast?: SpreadOptions['onEnd'];
    readonly onStop?: (stop: RunStop) => void;
  },
): Promise<SpreadShares> {
  let stop: RunStop | null = null;
  let problem: KnownErrorDetails | null = null;
  const messages: string[] = [];
  const areMany = (): boolean => messages.length >= GIVEN_UP_AT_MOST;
  const ends = await spreadUnits(run, {
    ...options,
    onEnd(end) {
      if (end.kind === 'done' && stop === null && problem === null) {
        stop = (end.result.stop as RunStop | null | undefined) ?? null;
        if (stop !== null) onStop?.(stop);
      }
      if (end.kind === 'failed') problem ??= end.problem;
      if (end.kind === 'given_up') messages.push(end.message);
      return areMany() || stop !== null || problem !== null || isLast(end);
    },
  });
  const last = messages.at(-1);
  const givenUp: RunStop | null =
    last === undefined ? null : { kind: 'units_given_up', message: `${consequence} ${last}` };
  return { ends, stop, problem, givenUp, areManyGivenUp: areMany() };
}

/** Stops that affect only this worker. Another worker may still be able to do the share. */
const ONLY_HERE: readonly RunStop['kind'][] = ['lease_lost', 'database_lost', 'journal_lost'];

/** Throws if only this worker had to stop, so that another one starts the share again. */
export function throwIfOnlyHere(stop: RunStop | null): void {
  if (stop !== null && ONLY_HERE.includes(stop.kind))
    throw new Error(`the share was cut short: ${stop.kind}`);
}

/** @throws KnownError `worker_differs` if this worker would not do the same as the run. */
export function requireSame(what: string, { here, there }: { here: unknown; there: unknown }): void {
  if (here === there) return;
  throw configurationError({
    code: 'worker_differs',
    message: `A worker (process ${process.pid} on ${hostname()}) has a different ${what} than the run.`,
    help: 'Give all processes that run jobs, and all workers, the same configuration, layouts and environment, and restart them.',
    safe: 'This unit changed nothing.',
  });
}
