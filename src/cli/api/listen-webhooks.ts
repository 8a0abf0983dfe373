import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { KnownError, refusal } from '../../core/known-error.ts';
import type { Output } from '../terminal/output.ts';
import { usageError } from '../usage-error.ts';

export type ListenOptions = {
  readonly forwardTo: string;
  readonly url: string;
  readonly account?: string;
  readonly kind?: readonly string[];
};

type SentEvent = {
  readonly webhook_type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** An event that is not answered within this time counts as not received. */
const TIMEOUT_MS = 10_000;

/**
 * Posts every event of a running sandbox to an address until stopped. The events are signed like the
 * service's, and no webhook needs to be registered.
 *
 * @throws KnownError `sandbox_unreachable` (exit 2), `sandbox_gone` (exit 1).
 */
export async function listenWebhooks(output: Output, options: ListenOptions): Promise<void> {
  const target = URL.parse(options.forwardTo);
  if (target === null || !/^https?:$/.test(target.protocol))
    throw usageError(
      'Events cannot be sent to this address.',
      'Write it like http://localhost:3000/webhooks.',
    );
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  const lines = await openStream(options, stopping.signal);
  output.emit({ event: 'listening', url: options.url, forward_to: options.forwardTo });
  output.print(`Forwarding events of ${options.url} to ${options.forwardTo}. Stop with Ctrl-C.`);
  try {
    for await (const line of createInterface({ input: lines })) {
      const event = JSON.parse(line) as SentEvent;
      if (options.kind !== undefined && !options.kind.includes(event.webhook_type)) continue;
      const { status, error } = await forward(target, event);
      output.emit({ event: 'forwarded', webhook_type: event.webhook_type, status, error });
      output.print(`${event.webhook_type}: ${status ?? error}`);
    }
  } catch (error) {
    if (!stopping.signal.aborted) throw sandboxGone(error);
  }
  if (!stopping.signal.aborted) throw sandboxGone();
}

async function openStream({ url, account }: ListenOptions, signal: AbortSignal): Promise<Readable> {
  const whose = account === undefined ? '' : `?account=${encodeURIComponent(account)}`;
  try {
    const answer = await fetch(new URL(`/_sandbox/events${whose}`, url), { signal, redirect: 'manual' });
    if (answer.status === 200 && answer.body !== null) return Readable.fromWeb(answer.body as ReadableStream);
    throw new Error(`status ${answer.status}`);
  } catch (cause) {
    throw refusal({
      code: 'sandbox_unreachable',
      message: 'No sandbox with this account answers at this address.',
      where: url,
      help: 'Start one with: npx influencer-sync sandbox. If it listens elsewhere, give its address with --url.',
      safe: 'Nothing was forwarded.',
      cause,
    });
  }
}

async function forward(
  target: URL,
  { headers, body }: SentEvent,
): Promise<{ readonly status: number | null; readonly error: string | null }> {
  try {
    const answer = await fetch(target, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'influencer-sync-sandbox' },
      body,
    });
    await answer.body?.cancel();
    return { status: answer.status, error: null };
  } catch (error) {
    const { name, cause } = error as Error;
    const reason =
      name === 'TimeoutError' ? 'no answer in time' : (cause as { code?: string } | undefined)?.code;
    return { status: null, error: reason ?? 'not sent' };
  }
}

function sandboxGone(cause?: unknown): KnownError {
  return new KnownError({
    code: 'sandbox_gone',
    message: 'The sandbox closed the connection.',
    help: 'Start the sandbox again, then run this command again.',
    safe: 'The events that were printed have been forwarded.',
    ...(cause === undefined ? {} : { cause }),
  });
}
