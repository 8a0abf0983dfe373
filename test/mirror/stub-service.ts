import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request as it was received, and the answer to it. */
export type Question = { readonly path: string; readonly query: Readonly<Record<string, string>> };
export type StubAnswer = {
  readonly status?: number;
  /** A string is sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

type DealRecord = Readonly<Record<string, unknown>>;

/**
 * A service whose every answer the test decides. It can send responses that the sandbox, which follows the
 * contract, never sends.
 */
export type StubService = {
  readonly url: string;
  /** The complete answer of each listing. */
  brands: unknown;
  dealflows: unknown;
  /** Records by deal id. Any other id is answered with 404. */
  readonly deals: Map<string, DealRecord>;
  /** Maximum number of items in an autocomplete answer. */
  cut: number;
  /** Takes precedence over everything else if it returns an answer. */
  override: ((question: Question) => StubAnswer | null | Promise<StubAnswer | null>) | null;
  /** Every request received, in order. */
  readonly questions: Question[];
  /** Returns the requested deal ids, in order. */
  askedDeals(): readonly string[];
};

export async function startStubService(): Promise<StubService> {
  const service: StubService = {
    url: '',
    brands: [{ id: 4819, name: 'Acme' }],
    dealflows: [{ id: 'D_ONE', name: 'Ambassadors', brand_id: 4819 }],
    deals: new Map(),
    cut: 20,
    override: null,
    questions: [],
    askedDeals: () =>
      service.questions.flatMap(({ path, query }) =>
        path === '/v1/crm/get_deal_details' && query.deal_id !== undefined ? [query.deal_id] : [],
      ),
  };
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '/', 'http://stub');
      const question = { path: url.pathname, query: Object.fromEntries(url.searchParams) };
      service.questions.push(question);
      const answer = (await service.override?.(question)) ?? answerTo(service, question);
      const { status = 200, body = {}, headers = {} } = answer;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(service, { url });
}

function answerTo(service: StubService, { path, query }: Question): StubAnswer {
  switch (path) {
    case '/v1/account/hello':
      return { body: { message: 'You are logged in - ACC1 - USER1' } };
    case '/v1/account/search_brands':
      return { body: service.brands };
    case '/v1/account/search_dealflows':
      return { body: service.dealflows };
    case '/v1/crm/autocomplete':
      return { body: suggest(service, query.q ?? '') };
    case '/v1/crm/get_deal_details':
      return describe(service, query);
    default:
      return { status: 404, body: { message: 'no such path' } };
  }
}

function suggest({ deals, cut }: StubService, text: string): unknown {
  return [...deals]
    .filter(([, record]) => String(record.influencer_handle).includes(text))
    .slice(0, cut)
    .map(([id, record]) => ({ deal_id: id, influencer_handle: record.influencer_handle }));
}

function describe({ deals }: StubService, query: Question['query']): StubAnswer {
  const record =
    query.deal_id === undefined
      ? [...deals.values()].find((deal) => deal.influencer_handle === query.influencer_handle)
      : deals.get(query.deal_id);
  if (record === undefined) return { status: 404, body: { message: 'Deal not found.' } };
  const { collabs, ...deal } = record;
  const asks = query.return_collabs === 'true' && collabs !== undefined;
  return { body: { deal_info: asks ? { ...deal, collabs } : deal } };
}

/** Returns a deal record with the fields that the contract guarantees. */
export function dealRecord(id: string, more: DealRecord = {}): DealRecord {
  return { id, influencer_handle: `${id.toLowerCase()}.test`, brand_id: 4819, is_active: true, ...more };
}
