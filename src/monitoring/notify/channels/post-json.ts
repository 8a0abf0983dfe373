import { parseRetryAfter } from '../../../service/retry-after.ts';
import type { Attempt, SendOptions } from './channel.ts';

/** Time limit of one attempt. */
const TIMEOUT_MS = 10_000;

/**
 * Posts a JSON body. A 2xx status is a success. Does not follow redirects, because the body is meant only for
 * the configured address.
 */
export async function postJson(
  url: string,
  body: string,
  { signal, now, headers = {} }: SendOptions & { readonly headers?: Readonly<Record<string, string>> },
): Promise<Attempt> {
  return request(url, {
    signal,
    now,
    init: { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } },
  });
}

export async function request(
  url: string,
  { signal, now, init }: SendOptions & { readonly init: RequestInit },
): Promise<Attempt> {
  try {
    const answer = await fetch(url, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    // The answer is not needed, and may quote the notice.
    await answer.body?.cancel();
    if (answer.ok) return { kind: 'sent' };
    const retryAfter = answer.headers.get('retry-after') ?? undefined;
    return {
      kind: 'failed',
      reason: `HTTP ${answer.status}`,
      retryAfterMs: parseRetryAfter(retryAfter, now),
    };
  } catch (error) {
    return { kind: 'failed', reason: reasonOf(error), retryAfterMs: null };
  }
}

/** Returns a code such as ECONNREFUSED. A message may contain the address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'no answer in time';
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
