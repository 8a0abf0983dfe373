import { onTestFinished } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start-sandbox.ts';

export type TestSandbox = Sandbox & {
  /** Sends one request as any client could, without retries or redirects. */
  request(method: string, path: string, options?: RequestOptions): Promise<TestAnswer>;
  /** Sends a referral of the demo account with the given changes. */
  refer(body?: Record<string, unknown> | string): Promise<TestAnswer>;
  setFaults(...rules: readonly Record<string, unknown>[]): Promise<TestAnswer>;
  log(kind: 'referrals' | 'clicks' | 'submissions' | 'requests'): Promise<readonly Record<string, unknown>[]>;
};

type RequestOptions = { readonly body?: unknown; readonly key?: string | null; readonly type?: string };
export type TestAnswer = {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly text: string;
  readonly headers: Headers;
};

export const REFERRAL = {
  deal_id: 'ETUNQ6ZTW1',
  order_id: '1001',
  order_revenue: 12.5,
  order_platform: 'shopify',
  currency: 'EUR',
  order_notes: 'note 1',
};

/** Starts the sandbox in this process on a free port; it closes when the test ends. */
export async function startTestSandbox(options: Partial<SandboxOptions> = {}): Promise<TestSandbox> {
  const sandbox = await startSandbox({ port: 0, ...options });
  onTestFinished(() => sandbox.close());

  async function request(
    method: string,
    path: string,
    { body, key, type }: RequestOptions = {},
  ): Promise<TestAnswer> {
    const answer = await fetch(sandbox.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(key === null ? {} : { 'x-api-key': key ?? sandbox.key }),
        ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, text, headers: answer.headers, body: readJson(text) };
  }

  return {
    ...sandbox,
    request,
    refer: (body = {}) =>
      request('POST', '/v1/crm/new_influencer_referral', {
        body: typeof body === 'string' ? body : { ...REFERRAL, ...body },
      }),
    setFaults: (...rules) => request('POST', '/_sandbox/faults', { body: rules, key: null }),
    async log(kind) {
      const { text } = await request('GET', `/_sandbox/log/${kind}`, { key: null });
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    },
  };
}

function readJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
