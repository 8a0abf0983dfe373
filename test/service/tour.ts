import { onTestFinished } from 'vitest';
import { askPages } from '../../jobs/mirror-account/open-questions.ts';
import type { WebhookEvent } from '../../src/core/http/webhook-event.ts';
import type { ClaimedEntry, Effect } from '../../src/core/ledger.ts';
import { type DeliveryFate, startReceiver } from '../../src/ledger/receiver/start-receiver.ts';
import { type Ask, createAsk, createBudget } from '../../src/ledger/sending/ask.ts';
import { readBatchAnswer, readLookupAnswer, readUpdateAnswer } from '../../src/ledger/sending/classify.ts';
import { readProfile } from '../../src/ledger/sending/read-profile.ts';
import type { RequestGate } from '../../src/ledger/sending/request-gate.ts';
import { createSender } from '../../src/ledger/sending/send.ts';
import { sendRepeatable } from '../../src/ledger/sending/send-repeatable.ts';
import { openDealAnswer, readDealAnswer } from '../../src/mirror/read-deal-answer.ts';
import { readRecords } from '../../src/mirror/read-records.ts';
import { readSuggestions } from '../../src/mirror/read-suggestions.ts';
import { brandShape, dealflowShape, type RecordShape } from '../../src/mirror/record-shapes.ts';
import { createPopulation } from '../../src/sandbox/search/population.ts';
import { hello } from '../../src/service/account.ts';
import { ApiError } from '../../src/service/api-error.ts';
import { call } from '../../src/service/call.ts';
import { type Client, createClient, type ExchangeInput } from '../../src/service/client.ts';
import type { OperationName } from '../../src/service/contract.ts';
import type { ServiceDescription } from '../../src/service/description/schema.ts';
import type { TestSandbox } from '../sandbox/start-test-sandbox.ts';

/** What one step of the tour came to: `ok`, how it failed, or what is wrong although it seemed to succeed. */
export type Result = string;
export type Step = keyof typeof steps;
export type Place = {
  readonly sandbox: TestSandbox;
  /** How the client and the receiver believe that the service works. */
  readonly service: ServiceDescription;
};

/** Does one thing as the jobs do it, and compares what the code concluded with what the sandbox really did. */
export function take(step: Step, place: Place): Promise<Result> {
  return steps[step](place);
}

const DEAL = 'ETUNQ6ZTW1';
/** An influencer whom the sandbox knows. */
const [KNOWN] = createPopulation('1', () => 0).of('tiktok');
const BODIES: Readonly<Record<Effect, string>> = {
  referral: `{"deal_id":"${DEAL}","order_id":"7001","order_revenue":12.50,"order_platform":"shopify","currency":"EUR"}`,
  click: `{"deal_id":"${DEAL}","increase_clicks":7}`,
  create_deal:
    '{"influencer_handle":"nova.test","platform":"tiktok","brand_id":4819,"dealflow_id":"D_FSSI4P"}',
  note: `{"deal_id":"${DEAL}","note_description":"hello"}`,
  task: `{"deal_id":"${DEAL}","tasktype":"todo_task","task_title":"hello","task_description":"there","deadline":"01-12-2026","assigned_to":null}`,
  outreach: '{"outreach_id":"O_SPRING1","influencer_ids":["INFLUENCER"],"platform":"tiktok"}',
};
const OPERATIONS: Readonly<Record<Effect, OperationName>> = {
  referral: 'new_influencer_referral',
  click: 'new_influencer_click',
  create_deal: 'create_deal',
  note: 'create_note',
  task: 'create_task',
  outreach: 'submit_influencers',
};

const steps = {
  hello: async (place: Place) => {
    const said = await hello(open(place)).catch((error: ApiError) => error);
    if (said instanceof ApiError) return said.isKeyRefused ? 'key refused' : 'failed';
    const { accountId } = said;
    const [account] = place.sandbox.accounts;
    return accountId === account?.id ? 'ok' : 'wrong: another account';
  },
  wrong_key: async (place: Place) => {
    try {
      await hello(open(place, 'not-the-key'));
      return 'wrong: the key was accepted';
    } catch (error) {
      return error instanceof ApiError && error.isKeyRefused ? 'ok' : 'failed';
    }
  },
  wrong_key_post: async (place: Place) => {
    const outcome = await post(open(place, 'not-the-key'), 'referral');
    if (outcome.kind === 'accepted') return 'wrong: accepted';
    return outcome.kind === 'rejected' && outcome.stopsGate ? 'ok' : outcome.kind;
  },
  referral: (place: Place) => postAndCompare(place, 'referral'),
  click: (place: Place) => postAndCompare(place, 'click'),
  create_deal: (place: Place) => postAndCompare(place, 'create_deal'),
  note: (place: Place) => postAndCompare(place, 'note'),
  task: (place: Place) => postAndCompare(place, 'task'),
  outreach: (place: Place) => postAndCompare(place, 'outreach'),
  identify: (place: Place) =>
    repeatable(place, {
      operation: 'identify_influencers',
      input: { body: '{"influencer_list":["a@example.com","b@example.com"],"brand_id":4819}' },
    }),
  update_deal: async (place: Place) => {
    const body = `{"deal_id":"${DEAL}","new_deal_info":{"funnel_step":3}}`;
    const result = await repeatable(place, { operation: 'update_deal_info', input: { body } });
    const step = await funnelStep(place);
    // The job reads the deal back.
    return result === 'ok' && step !== 3 ? 'not seen' : result;
  },
  update_stage: async (place: Place) => {
    const body = `{"deal_id":"${DEAL}","new_stage":4,"dashboard_id":"D_FSSI4P"}`;
    const result = await repeatable(place, { operation: 'update_dealstage', input: { body } });
    const step = await funnelStep(place);
    return result === 'ok' && step !== 4 ? 'not seen' : result;
  },
  lookup: async (place: Place) => {
    const profile = await lookUp(place, KNOWN?.email ?? '');
    if (typeof profile === 'string') return profile;
    return profile?.userId === KNOWN?.userId ? 'ok' : 'wrong: no match';
  },
  lookup_of_nobody: async (place: Place) => {
    const profile = await lookUp(place, 'nobody');
    if (typeof profile === 'string') return profile;
    return profile === null ? 'ok' : 'wrong: a match';
  },
  brands: (place: Place) => list(place, 'search_brands', brandShape, ['4819', '5207']),
  dealflows: (place: Place) => list(place, 'search_dealflows', dealflowShape, ['D_FSSI4P', 'D_K2WQ7N']),
  search: async (place: Place) => {
    const questions = { ask: (...asked: Parameters<Ask>) => ask(place, ...asked) };
    const answer = await askPages(questions, { operation: 'autocomplete', query: { q: 'mira' } });
    if (answer.kind !== 'list') return answer.kind;
    const read = readSuggestions(answer.list);
    if (!('deals' in read)) return 'failed';
    const found = read.deals.map(({ dealId }) => dealId);
    if (found.length === 1 && found[0] === DEAL) return 'ok';
    return found.length === 0 ? 'nothing' : 'other deals';
  },
  deal: async (place: Place) => {
    const answer = await ask(place, 'get_deal_details', { query: { deal_id: DEAL } });
    if (answer.kind !== 'answer') return answer.kind;
    const opened = openDealAnswer(answer.text);
    const read = 'body' in opened ? readDealAnswer(opened, DEAL) : opened;
    if (!('deal' in read)) return 'failed';
    return read.deal.fields.influencer_handle === 'mira.glow.test' ? 'ok' : 'incomplete';
  },
  no_deal: async (place: Place) => {
    const answer = await ask(place, 'get_deal_details', { query: { deal_id: 'NONE' } });
    if (answer.kind === 'not_found') return 'ok';
    return answer.kind === 'answer' ? 'wrong: an answer' : answer.kind;
  },
  event: receiveEvent,
} as const;

function open({ sandbox, service }: Place, key = sandbox.key): Client {
  const client = createClient({
    url: sandbox.url,
    key,
    service,
    connections: 1,
    timeoutMs: 5_000,
    connectTimeoutMs: 1_000,
  });
  onTestFinished(() => client.destroy());
  return client;
}

function post(client: Client, effect: Effect) {
  const body = BODIES[effect].replace('INFLUENCER', KNOWN?.userId ?? '');
  return createSender(client)({ effect, body } as unknown as ClaimedEntry);
}

async function postAndCompare(place: Place, effect: Effect): Promise<Result> {
  const outcome = await post(open(place), effect);
  const isProcessed = await wasProcessed(place, OPERATIONS[effect]);
  if (outcome.kind === 'accepted') {
    if (!isProcessed) return 'wrong: accepted, and nothing was processed';
    const isNamed = outcome.dealId === null || effect === 'create_deal' || outcome.dealId === DEAL;
    return isNamed ? 'ok' : `wrong: accepted for ${outcome.dealId}`;
  }
  if (outcome.kind === 'rejected' && outcome.stopsGate) return 'key refused';
  if (isProcessed && outcome.kind !== 'in_doubt') return `wrong: ${outcome.kind}, and it was processed`;
  return outcome.kind;
}

/** Every turn is granted at once, and one request is enough: the tests of delivery are about the rest. */
const gate: RequestGate = {
  enter: async () => true,
  report() {},
  mayWrite: () => true,
  stop() {},
  stopped: () => null,
  leaveUnanswered() {},
  unfinished: () => null,
  concurrency: () => 1,
  signal: AbortSignal.abort(),
};

async function repeatable(
  place: Place,
  { operation, input }: { readonly operation: OperationName; readonly input: ExchangeInput },
): Promise<Result> {
  const sent = await sendRepeatable(
    { client: open(place), gate },
    {
      operation,
      input,
      read: (text, verdict) =>
        operation.startsWith('update_')
          ? readUpdateAnswer(text, verdict)
          : readBatchAnswer(text, verdict, input.body ?? ''),
    },
  );
  const isProcessed = await wasProcessed(place, operation);
  const kind = sent?.outcome.kind ?? 'not_asked';
  if (kind !== 'accepted') return kind;
  return isProcessed ? 'ok' : 'wrong: accepted, and nothing was processed';
}

async function lookUp(place: Place, email: string) {
  const input = { query: { brand_id: 4819, influencer_email: email } };
  const operation = 'identify_influencers_real_time';
  const sent = await sendRepeatable(
    { client: open(place), gate },
    {
      operation,
      input,
      read: (text, verdict, status) => readLookupAnswer(text, verdict, { status, asked: input.query }),
    },
  );
  if (sent?.outcome.kind !== 'accepted' || sent.exchange.kind !== 'answer') return sent?.outcome.kind ?? '';
  return readProfile(sent.exchange.text);
}

function ask(place: Place, operation: OperationName, input: ExchangeInput = {}) {
  const options = { client: open(place), gate, budget: createBudget(1_000), clock: () => new Date() };
  return createAsk(options)(operation, input);
}

async function list(
  place: Place,
  operation: OperationName,
  shape: RecordShape,
  expected: readonly string[],
): Promise<Result> {
  const answer = await askPages({ ask: (...asked) => ask(place, ...asked) }, { operation });
  if (answer.kind !== 'list') return answer.kind;
  const { records, problem } = readRecords(shape, answer.list);
  if (problem !== null) return 'not whole';
  const ids = records.map(({ id }) => id);
  const isAll = expected.every((id) => ids.includes(id));
  if (!isAll) return `wrong: whole with ${ids.join() || 'nothing'}`;
  return records.every(({ fields }) => fields.name !== undefined) ? 'ok' : 'incomplete';
}

async function wasProcessed({ sandbox }: Place, operation: OperationName): Promise<boolean> {
  const requests = await sandbox.log('requests');
  return requests.some((request) => request.operation === operation && request.processed === true);
}

async function funnelStep({ sandbox }: Place): Promise<unknown> {
  const { body } = await sandbox.request('GET', `/_sandbox/deals/${DEAL}`, { key: null });
  return body.funnel_step;
}

/** Lets the sandbox send the event of an order to a receiver that works as described. */
async function receiveEvent(place: Place): Promise<Result> {
  const { sandbox, service } = place;
  const events: WebhookEvent[] = [];
  let settle = (_fate: DeliveryFate): void => {};
  const delivered = new Promise<DeliveryFate>((resolve) => {
    settle = resolve;
  });
  const receiver = await startReceiver({
    settings: {
      host: '127.0.0.1',
      port: 0,
      path: '/webhooks',
      secrets: [sandbox.webhookSecret],
      events: service.events,
      maxBodyBytes: 65_536,
      maxConnectionsPerAddress: 10,
      maxAgeSeconds: 0,
    },
    store: async (event) => events.push(event) > 0,
    onDelivery: (fate) => settle(fate),
  });
  onTestFinished(() => receiver.close());
  const client = open(place);
  const webhook = { webhook_url: receiver.url, webhook_type: 'new_influencer_order' } as const;
  await call(client, 'create_webhook', { body: webhook });
  await post(client, 'referral');
  const fate = await delivered;
  if (fate !== 'stored') return fate;
  const [event] = events;
  if (event?.kind !== 'new_influencer_order' || event.order === null) return 'unread';
  const { orderId, amount, currency } = event.order;
  return orderId === '7001' && amount === '12.5' && currency === 'EUR' && event.dealId === DEAL
    ? 'ok'
    : 'wrong: another order';
}
