import { type ClientRequestArgs, Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { EventDescription } from '../../service/description/schema.ts';
import { signBody } from '../../service/description/signature.ts';
import { isPrivateHost, lookUpPublic } from './private-address.ts';

export type PostedEvent = { readonly url: string; readonly body: string };

/** The result of one attempt: the status, or the reason why there is none. */
export type Receipt = { readonly status: number | null; readonly error: string | null };

export type Poster = {
  /** Sends one event. It follows no redirect and never throws. */
  post(event: PostedEvent): Promise<Receipt>;
  close(): void;
};

export type PosterOptions = {
  readonly secret: string;
  /** How the service signs. */
  readonly description: EventDescription;
  /** Whether events may be sent to this machine and to private networks. */
  readonly allowsPrivate: boolean;
  /** Returns the time in Unix milliseconds; the machine's by default. */
  readonly now?: () => number;
};

/** An event that is not acknowledged within this time counts as not received. */
const TIMEOUT_MS = 10_000;

/** Creates the sender of events: section Events, "Delivery and verification". */
export function createPoster({ secret, description, allowsPrivate, now = Date.now }: PosterOptions): Poster {
  const agents = {
    'http:': new HttpAgent({ keepAlive: true }),
    'https:': new HttpsAgent({ keepAlive: true }),
  } as const;

  function headersOf(body: string): Readonly<Record<string, string | number>> {
    return {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'influencer-sync-sandbox',
      ...signBody(body, { secret, events: description, nowMs: now() }),
    };
  }

  return {
    post({ url, body }) {
      const address = new URL(url);
      if (!allowsPrivate && isPrivateHost(address.hostname))
        return Promise.resolve({ status: null, error: 'a private address is refused' });
      const isSecure = address.protocol === 'https:';
      const options: ClientRequestArgs = {
        method: 'POST',
        agent: agents[isSecure ? 'https:' : 'http:'],
        headers: headersOf(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(allowsPrivate ? {} : { lookup: lookUpPublic }),
      };
      return new Promise((resolve) => {
        const request = isSecure ? requestHttps(address, options) : requestHttp(address, options);
        request.on('response', (response) => {
          response.resume();
          response.on('error', () => {});
          resolve({ status: response.statusCode ?? null, error: null });
        });
        request.on('error', (error: NodeJS.ErrnoException) =>
          resolve({ status: null, error: reasonOf(error) }),
        );
        request.end(body);
      });
    },
    close() {
      agents['http:'].destroy();
      agents['https:'].destroy();
    },
  };
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'no answer in time';
  return error.code ?? error.message;
}
