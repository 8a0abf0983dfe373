import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type Reply = { readonly status: number; readonly body: string };

export type FakeServiceOptions = {
  /** The answer to a batch; by default, that it was queued. */
  readonly onBatch?: (addresses: readonly string[], call: BatchCall) => Reply | Promise<Reply>;
  /** The answer about one customer; by default, that there is no match. */
  readonly onLookup?: (address: string) => Reply | Promise<Reply>;
};

export type BatchCall = { readonly brand_id: unknown; readonly source_type: unknown };

export type FakeService = {
  readonly url: string;
  /** Addresses of every call in order, including refused calls. */
  readonly batches: (readonly string[])[];
  readonly calls: BatchCall[];
  readonly lookups: string[];
  /** From now on, every batch and every look-up gets this answer. */
  behave(answer: () => Reply): void;
};

const QUEUED: Reply = { status: 200, body: '{"message":"contacts queued"}' };
const NO_MATCH: Reply = { status: 200, body: '{"is_influencer":false}' };

/**
 * Starts a service with the three operations that the customers job calls and answers that the test decides,
 * because the sandbox never refuses a request.
 */
export async function startFakeService(options: FakeServiceOptions = {}): Promise<FakeService> {
  let { onBatch = () => QUEUED, onLookup = () => NO_MATCH } = options;
  const batches: (readonly string[])[] = [];
  const calls: BatchCall[] = [];
  const lookups: string[] = [];

  async function answer(request: IncomingMessage): Promise<Reply> {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname === '/v1/account/hello')
      return { status: 200, body: '{"message":"You are logged in - ACCOUNT1 - USER1"}' };
    if (url.pathname === '/v1/search/identify_influencers_real_time') {
      const address = url.searchParams.get('influencer_email') ?? '';
      lookups.push(address);
      return onLookup(address);
    }
    const { influencer_list, brand_id, source_type } = JSON.parse(await readBody(request)) as {
      influencer_list: string[];
    } & BatchCall;
    batches.push(influencer_list);
    calls.push({ brand_id, source_type });
    return onBatch(influencer_list, { brand_id, source_type });
  }

  const server = createServer((request, response) => {
    void answer(request).then(({ status, body }) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    batches,
    calls,
    lookups,
    behave(answer) {
      onBatch = answer;
      onLookup = answer;
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return text;
}
