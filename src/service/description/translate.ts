import type { Exchange, Verdict } from '../../core/http/exchange.ts';
import { exactNumber, isObject, numberText, parseExactJson } from '../../core/json/exact-json.ts';
import { accountSearchOperations } from '../contract/account-search.ts';
import { type Move, moveMembers, putAt, valueAt } from './member-paths.ts';
import { findNextPage, firstPage } from './pages.ts';
import { type OperationDescription, type ServiceDescription, specifiedService } from './schema.ts';
import { findDoubt, judge } from './verdict.ts';

/*
 * The one place where the contract's words and the service's words meet. The client writes requests in the words of
 * the service and reads its answers in those of the contract; the sandbox does the reverse. All other code, the
 * ledger and its frozen bodies know only the contract.
 */

export type Input = {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: string;
};

type Answer = Extract<Exchange, { readonly kind: 'answer' }>;

/** True for an operation that lists records of the account. */
export function isList(operation: string): operation is keyof typeof accountSearchOperations {
  return Object.hasOwn(accountSearchOperations, operation);
}

/** Members of requests that are ids of the service. */
const IDS = ['deal_id', 'collab_id', 'brand_id', 'dealflow_id', 'dashboard_id', 'outreach_id', 'assigned_to'];
const ID_LISTS = ['influencer_ids'];

const AS_SPECIFIED: OperationDescription = {
  path: null,
  method: null,
  request: {},
  answer: {},
  items: {},
  envelope: null,
  list: null,
  paging: null,
  yes: null,
};

/** What is particular to an operation; the members of `operations` that it leaves out are as specified. */
export function operationAt(service: ServiceDescription, operation: string): OperationDescription {
  const operations: Readonly<Record<string, OperationDescription | undefined>> = service.operations;
  return Object.hasOwn(operations, operation) ? (operations[operation] ?? AS_SPECIFIED) : AS_SPECIFIED;
}

/** Writes a request of the contract in the words of the service. Amounts keep their digits. */
export function toServiceRequest(service: ServiceDescription, operation: string, input: Input): Input {
  const described = operationAt(service, operation);
  const moves = movesOf(described.request);
  const query = { ...firstPage(described.paging), ...renamed(input.query ?? {}, moves) };
  const hasQuery = Object.keys(query).length > 0;
  const isPlain = moves.length === 0 && service.ids === 'as_specified';
  if (input.body === undefined) return hasQuery ? { query } : {};
  const body = isPlain
    ? input.body
    : JSON.stringify(moveMembers(withIds(parseExactJson(input.body), service.ids), moves));
  return { ...(hasQuery ? { query } : {}), body };
}

/** Reads a request in the words of the service as one of the contract. @param value the query or the parsed body. */
export function fromServiceRequest(service: ServiceDescription, operation: string, value: unknown): unknown {
  const { request } = operationAt(service, operation);
  // A member under our name is not known to a service that has another one.
  const unknown = movesOf(request).map(({ from }) => ({ from, to: null }));
  const own = moveMembers(value, [...reversed(request), ...unknown]);
  if (service.ids === 'as_specified') return own;
  // brand_id is a number, the other ids are text.
  const text = withIds(own, 'text');
  const brand = valueAt(text, 'brand_id');
  return typeof brand === 'string' && /^\d{1,15}$/.test(brand)
    ? putAt(text, 'brand_id', Number(brand))
    : text;
}

/**
 * Reads an answer of the service in the words of the contract: the content without its envelope, members under their
 * names, and the list. The verdict is about the answer as it was received.
 */
export function fromServiceAnswer(
  service: ServiceDescription,
  operation: string,
  { answer, input }: { answer: Answer; input: Input },
): Answer {
  const described = operationAt(service, operation);
  const verdict = judge(answer, service, described.yes);
  const received = parse(answer.text);
  if (answer.status < 200 || answer.status > 299 || received === undefined) return { ...answer, verdict };
  const content = openEnvelope(received, described.envelope ?? service.answers.envelope);
  const found = isList(operation) ? findItems(service, described, { received, content }) : null;
  const items = found?.map((item) => moveMembers(item, reversed(described.items)));
  const isPlain = content === received && described.list === null && movesOf(described.items).length === 0;
  const own =
    items === undefined
      ? withTextIds(moveMembers(content, reversed(described.answer)), service.ids)
      : isPlain
        ? received
        : { ...withoutLists(content), items };
  const text = own === received ? answer.text : JSON.stringify(own);
  // A no within the envelope is one, too.
  const inner = own === received ? verdict : judge({ status: answer.status, text }, service);
  const read = { ...answer, text, verdict: withInner(verdict, inner) };
  if (items === undefined || !isList(operation)) return read;
  const next = findNextPage(service, described.paging, {
    query: input.query ?? {},
    received,
    content,
    headers: answer.headers,
    items: items.length,
    path: described.path ?? accountSearchOperations[operation].path,
  });
  const doubt = findDoubt(read.verdict, accountSearchOperations[operation]);
  return { ...read, list: { items, next, ...(doubt !== undefined && { doubt }) } };
}

/** A no or a doubt in the content counts, unless the description states what a yes is, and the answer is one. */
function withInner(verdict: Verdict, inner: Verdict): Verdict {
  if (verdict.kind !== 'yes') return verdict;
  if (inner.kind === 'no') return inner;
  if (verdict.isStated || inner.doubts === undefined) return verdict;
  return { ...verdict, doubts: [...(verdict.doubts ?? []), ...inner.doubts] };
}

/**
 * Writes the body of an answer of the contract in the words of the service.
 *
 * @param content.page members of paging, by their paths.
 */
export function toServiceAnswer(
  service: ServiceDescription,
  operation: string,
  content: { readonly body: unknown; readonly page?: Readonly<Record<string, unknown>> },
): unknown {
  const { body, page = {} } = content;
  const described = operationAt(service, operation);
  const envelope = described.envelope ?? service.answers.envelope;
  const isBareList = isList(operation) && Array.isArray(body);
  const own = isBareList
    ? body.map((item) => moveMembers(item, movesOf(described.items)))
    : moveMembers(body, movesOf(described.answer));
  const members = Object.entries(page);
  const path = (isBareList ? described.list : null) ?? envelope ?? (members.length > 0 ? 'items' : null);
  let written = path === null ? own : putAt({}, path, own);
  for (const [at, value] of members) written = putAt(written, at, value);
  return withYes(written, described);
}

function withYes(written: unknown, { yes }: OperationDescription): unknown {
  if (yes === null || yes.path === null || !isObject(written)) return written;
  return putAt(written, yes.path, yes.values?.[0] ?? true);
}

/** True if requests and answers are those of the specification, so that nothing needs to be translated. */
export function isAsSpecified(service: ServiceDescription): boolean {
  const { events: _events, duplicate_orders: _duplicates, ...own } = service;
  const { events: _own, duplicate_orders: _default, ...specified } = specifiedService;
  return JSON.stringify(own) === JSON.stringify(specified);
}

function movesOf(names: Readonly<Record<string, string | null>>): readonly Move[] {
  return Object.entries(names).flatMap(([from, to]) => (from === to ? [] : [{ from, to }]));
}

function reversed(names: Readonly<Record<string, string | null>>): readonly Move[] {
  return movesOf(names).flatMap(({ from, to }) => (to === null ? [] : [{ from: to, to: from }]));
}

/** Query parameters have no paths: their names are whole. */
function renamed(query: NonNullable<Input['query']>, moves: readonly Move[]): NonNullable<Input['query']> {
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => {
      const move = moves.find(({ from }) => from === name);
      if (move === undefined) return [[name, value]];
      return move.to === null ? [] : [[move.to, value]];
    }),
  );
}

function openEnvelope(received: unknown, envelope: string | null): unknown {
  const inner = envelope === null ? undefined : valueAt(received, envelope);
  if (envelope === null || inner === undefined) return received;
  const outer = moveMembers(received, [{ from: envelope, to: null }]);
  const around = isObject(outer) ? outer : {};
  if (isObject(inner)) return { ...around, ...inner };
  return Array.isArray(inner) ? { ...around, items: inner } : received;
}

function findItems(
  { lists }: ServiceDescription,
  { list }: OperationDescription,
  { received, content }: { received: unknown; content: unknown },
): readonly unknown[] | null {
  if (Array.isArray(content)) return content;
  const inner = isObject(content) ? Object.values(content).filter(isObject) : [];
  const paths = list === null ? ['items', ...lists.keys] : [list];
  const among = (values: readonly unknown[]) =>
    paths.flatMap((path) => values.map((value) => valueAt(value, path))).find(Array.isArray);
  const named = among([received, content]);
  if (named !== undefined || list !== null) return named ?? null;
  return onlyListIn(content) ?? (inner.length === 1 ? (among(inner) ?? onlyListIn(inner[0])) : null);
}

function onlyListIn(value: unknown): readonly unknown[] | null {
  const lists = isObject(value) ? Object.values(value).filter(Array.isArray) : [];
  return lists.length === 1 ? (lists[0] ?? null) : null;
}

function withoutLists(content: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(content)) return {};
  return Object.fromEntries(Object.entries(content).filter(([, one]) => !Array.isArray(one)));
}

function withIds(value: unknown, ids: ServiceDescription['ids']): unknown {
  if (!isObject(value) || ids === 'as_specified') return value;
  const write = (id: unknown): unknown => {
    const digits = numberText(id) ?? id;
    if (typeof digits !== 'string' || !/^\d{1,18}$/.test(digits)) return id;
    return ids === 'text' ? digits : exactNumber(digits);
  };
  return Object.fromEntries(
    Object.entries(value).map(([name, id]) => {
      if (IDS.includes(name)) return [name, write(id)];
      return [name, ID_LISTS.includes(name) && Array.isArray(id) ? id.map(write) : id];
    }),
  );
}

/** Ids in answers are text in the contract, also those of the record of a deal. */
function withTextIds(value: unknown, ids: ServiceDescription['ids']): unknown {
  if (ids !== 'number' || !isObject(value)) return value;
  const own = textIds(value);
  const deal = valueAt(own, 'deal_info');
  return isObject(deal) ? putAt(own, 'deal_info', textIds(deal)) : own;
}

function textIds(record: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      ['id', 'deal_id', 'collab_id', 'dealflow_id'].includes(name) ? (numberText(value) ?? value) : value,
    ]),
  );
}

function parse(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}
