import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { DEMO_ACCOUNT } from '../../src/sandbox/account/read-accounts.ts';
import { startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { type OperationName, operationNames, operationOf } from '../../src/service/contract.ts';
import { exampleOf } from '../../src/service/reference/examples.ts';

/**
 * The service to test. By default the suite starts its own sandbox and runs everything. CONFORMANCE_URL and
 * CONFORMANCE_KEY name another service; then only read operations run, unless CONFORMANCE_SCOPE=all allows
 * writes (for a sandbox with its own account of config/demo). CONFORMANCE_DEAL_ID names a deal of that
 * account, and CONFORMANCE_OTHER_KEY is the key of another account.
 */
const {
  CONFORMANCE_URL = '',
  CONFORMANCE_KEY = '',
  CONFORMANCE_OTHER_KEY = null,
  CONFORMANCE_SCOPE,
  CONFORMANCE_DEAL_ID,
} = process.env;

export const isOwnSandbox = CONFORMANCE_URL === '';
export const isAllowedToWrite = isOwnSandbox || CONFORMANCE_SCOPE === 'all';

/** Operations that change nothing and cost nothing. */
const readOperations = operationNames.filter((name) => {
  const { method, repeatable, credits } = operationOf(name);
  return method === 'GET' && repeatable && credits === null;
});

/** True if there is a second account, to check that it sees no data of the first. */
export const hasNeighbour = isOwnSandbox || CONFORMANCE_OTHER_KEY !== null;

/** The operations that the suite may call. */
export const tested: readonly OperationName[] = isAllowedToWrite ? operationNames : readOperations;

export type Answer = { readonly status: number; readonly body: unknown; readonly text: string };

export type Request = {
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  /** A string is sent unchanged. */
  readonly body?: unknown;
  /** Null sends no key. */
  readonly key?: string | null;
  readonly path?: string;
  readonly method?: string;
};

export type Service = {
  /** Returns the key of the other account; null if there is none. */
  neighbourKey(): string | null;
  call(name: OperationName, request?: Request): Promise<Answer>;
  /** Returns a request that should succeed. */
  example(name: OperationName): { query?: Record<string, unknown>; body?: Record<string, unknown> };
};

/** Starts or connects to the service for the tests of a file. */
export function useService(): Service {
  let url = CONFORMANCE_URL.replace(/\/+$/, '');
  let key = CONFORMANCE_KEY;
  let otherKey = CONFORMANCE_OTHER_KEY;
  let close = async (): Promise<void> => {};
  beforeAll(async () => {
    if (!isOwnSandbox) return;
    const sandbox = await startSandbox({ port: 0, data: writeTwins() });
    ({ url, key, close } = sandbox);
    otherKey = sandbox.accounts[1]?.keys[0] ?? null;
  });
  afterAll(() => close());
  return {
    neighbourKey: () => otherKey,
    example(name) {
      const { query, body } = exampleOf(name);
      const deal = CONFORMANCE_DEAL_ID === undefined ? {} : { deal_id: CONFORMANCE_DEAL_ID };
      const named = name === 'get_deal_details' ? { ...query, ...deal } : query;
      return {
        ...(named === null || named === undefined ? {} : { query: { ...named } }),
        ...(body === null || body === undefined ? {} : { body: { ...body } }),
      };
    },
    async call(name, request = {}) {
      const operation = operationOf(name);
      const sent = request.key === undefined ? key : request.key;
      const { body } = request;
      const answer = await fetch(url + (request.path ?? operation.path) + queryOf(request.query), {
        method: request.method ?? operation.method,
        redirect: 'manual',
        headers: {
          ...(sent === null ? {} : { 'x-api-key': sent }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, text, body: parse(text) };
    },
  };
}

/**
 * Writes the account of config/demo twice. Both have the same ids, so only the key identifies the account.
 */
function writeTwins(): string {
  const demo = readFileSync(DEMO_ACCOUNT, 'utf8').replace(/^(?=.)/gm, '    ');
  const file = join(mkdtempSync(join(tmpdir(), 'conformance-')), 'twins.yaml');
  writeFileSync(file, `accounts:\n  - keys: [first-key]\n${demo}  - keys: [other-key]\n${demo}`);
  return file;
}

function queryOf(query: Readonly<Record<string, unknown>> = {}): string {
  const entries = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Checks section Errors of the specification: status 4xx, a JSON object, and a text in `message` or `error`
 * that gives the reason.
 */
export function isRefusal({ status, body }: Answer): boolean {
  if (status < 400 || status > 499 || typeof body !== 'object' || body === null) return false;
  const { message, error } = body as { readonly message?: unknown; readonly error?: unknown };
  return [message, error].some((text) => typeof text === 'string' && text.trim() !== '');
}
