import type { Exchange } from '../../core/http/exchange.ts';
import { isObject, numberText, parseJson } from '../../core/json/exact-json.ts';
import { plural } from '../../core/text/plural.ts';
import type { Client, ExchangeInput } from '../../service/client.ts';
import type { OperationName } from '../../service/contract.ts';
import { putAt, valueAt } from '../../service/description/member-paths.ts';
import type { ServiceDescription } from '../../service/description/schema.ts';
import { fromServiceAnswer, operationAt } from '../../service/description/translate.ts';
import { judge } from '../../service/description/verdict.ts';

/** One point of the description, compared with what the service answered. */
export type Compared = {
  /** The name of the setting: `authentication.refused`. */
  readonly point: string;
  readonly status: 'fits' | 'differs' | 'unclear';
  /** What the service did, without any value of a record. */
  readonly seen: string;
  /** Settings that describe it, from section `service` on. Null if it fits, or if it is unclear. */
  readonly proposal: Readonly<Record<string, unknown>> | null;
};

export type CompareOptions = {
  readonly service: ServiceDescription;
  /** Clients that return answers as received: with the key of the account, and with one that is none. */
  readonly client: Pick<Client, 'exchange'>;
  readonly stranger: Pick<Client, 'exchange'>;
};

type Answer = Extract<Exchange, { readonly kind: 'answer' }>;
type Asked = { readonly answer: Answer; readonly value: unknown } | { readonly problem: string };

/** Names that services give to a search term. */
const TERMS = ['q', 'query', 'search', 'term', 'text', 'name', 'keyword', 'handle'];

/** Finds nobody. */
const NONSENSE = 'zqxjkv-no-such-handle';

/**
 * Compares a real service with its description, by reading calls that change nothing and cost nothing. Points about
 * orders and other changes cannot be compared so; the first real answers show them.
 */
export async function* compareService(options: CompareOptions): AsyncGenerator<Compared> {
  yield await compareKey(options);
  yield await compareRefusedKey(options);
  yield await compareList(options, 'search_brands');
  yield await compareList(options, 'search_dealflows');
  const term = await compareTerm(options);
  yield term.compared;
  yield await compareMissingDeal(options);
  if (term.dealId !== null) yield await compareDeal(options, term.dealId);
}

async function ask(
  client: Pick<Client, 'exchange'>,
  operation: OperationName,
  input?: ExchangeInput,
): Promise<Asked> {
  const exchange = await client.exchange(operation, input);
  if (exchange.kind === 'failure') return { problem: `there was no answer: ${exchange.reason}` };
  return { answer: exchange, value: parseJson(exchange.text) };
}

async function compareKey({ client, service }: CompareOptions): Promise<Compared> {
  const point = 'answers.envelope';
  const asked = await ask(client, 'account_hello');
  if ('problem' in asked) return unclear(point, asked.problem);
  if (asked.answer.status > 299) return unclear(point, `HTTP ${asked.answer.status} to the configured key`);
  const found = findMember(asked.value, ({ value }) => /^You are logged in/i.test(String(value)));
  const path = found?.path.replace(/\.?message$/, '') ?? null;
  if (path === null) return unclear(point, 'account_hello says nothing that is known');
  if (path === (service.answers.envelope ?? '')) return fits(point, 'account_hello answers as described');
  return differs(point, `the content of account_hello is in ${path || 'no member'}`, {
    answers: { envelope: path === '' ? null : path },
  });
}

async function compareRefusedKey({ stranger, service }: CompareOptions): Promise<Compared> {
  const point = 'authentication.refused';
  const asked = await ask(stranger, 'account_hello');
  if ('problem' in asked) return unclear(point, asked.problem);
  const { status, text } = asked.answer;
  if (judge(asked.answer, service).kind === 'key_refused')
    return fits(point, `HTTP ${status} to a wrong key`);
  const reason = judge({ status: 401, text }, service).reason ?? firstText(asked.value)?.value ?? null;
  const isSpecific = status === 401 || status === 403 || status === 419;
  if (!isSpecific && reason === null) return unclear(point, `HTTP ${status} without a reason to a wrong key`);
  const sign = isSpecific ? status : { status, text: String(reason).slice(0, 60) };
  return differs(point, `HTTP ${status} to a wrong key`, {
    authentication: { refused: [...service.authentication.refused.map(shorten), sign] },
  });
}

async function compareList(
  { client, service }: CompareOptions,
  operation: 'search_brands' | 'search_dealflows',
): Promise<Compared> {
  const point = `operations.${operation}`;
  const asked = await ask(client, operation);
  if ('problem' in asked) return unclear(point, asked.problem);
  if (asked.answer.status > 299) return unclear(point, `HTTP ${asked.answer.status}`);
  const records = findRecords(asked.value);
  if (records === null) return unclear(point, 'the answer has no list of records');
  const described = operationAt(service, operation);
  const envelope = described.envelope ?? service.answers.envelope ?? '';
  const known = ['', envelope, ...service.lists.keys.flatMap((key) => [key, `${envelope}.${key}`])];
  const isFound = described.list === null ? known.includes(records.path) : described.list === records.path;
  const [first = {}] = records.items;
  const items = proposeItems(first, described.items);
  const cursor = findMember(asked.value, isCursor);
  const proposal = {
    ...(isFound ? {} : { list: records.path }),
    ...(Object.keys(items).length === 0 ? {} : { items }),
    ...(cursor === null || described.paging !== null
      ? {}
      : { paging: { by: 'cursor', parameter: 'cursor', path: cursor.path } }),
  };
  const seen = `${plural(records.items.length, 'record')} in ${records.path === '' ? 'a bare list' : records.path}`;
  const next = fromServiceAnswer(service, operation, { answer: asked.answer, input: {} }).list?.next ?? null;
  if (Object.keys(proposal).length > 0)
    return differs(point, seen, { operations: { [operation]: proposal } });
  if (next?.query === null) return unclear(point, `${seen}, but ${next.why}: describe its paging`);
  return fits(point, seen);
}

/** A member that reads like the key of a next page. */
function isCursor({ path, value }: Member): boolean {
  return (
    /(^|\.)(next_cursor|cursor|next_token|next_page_token|end_cursor)$/i.test(path) && isFilledText(value)
  );
}

/** Proposes names for the id and the name of a record that has neither under the described names. */
function proposeItems(
  record: Readonly<Record<string, unknown>>,
  described: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = Object.keys(record);
  const find = (ours: string, pattern: RegExp): readonly (readonly [string, string])[] => {
    const theirs = described[ours] ?? ours;
    if (valueAt(record, theirs) !== undefined) return [];
    const found = names.find((name) => pattern.test(name));
    return found === undefined ? [] : [[ours, found]];
  };
  const hasId = names.some((name) => ['brand_id', 'dealflow_id', 'dashboard_id'].includes(name));
  const hasName = names.some((name) => ['brand_name', 'dealflow_name'].includes(name));
  return Object.fromEntries([
    ...(hasId ? [] : find('id', /(^id|[_-]id|Id|ID|uuid|key)$/)),
    ...(hasName ? [] : find('name', /(name|title|label)$/i)),
  ]);
}

async function compareTerm({
  client,
  service,
}: CompareOptions): Promise<{ readonly compared: Compared; readonly dealId: string | null }> {
  const point = 'operations.autocomplete.request.q';
  const configured = operationAt(service, 'autocomplete').request.q ?? 'q';
  const plain = await ask(client, 'autocomplete');
  const records = 'problem' in plain ? null : findRecords(plain.value);
  const [record = {}] = records?.items ?? [];
  const { deal_id: dealId, id } = record;
  const known = { dealId: textOf(dealId) ?? textOf(id) };
  for (const name of [configured, ...TERMS.filter((term) => term !== configured)]) {
    const asked = await ask(client, 'autocomplete', { query: { [name]: NONSENSE } });
    if ('problem' in asked) return { ...known, compared: unclear(point, asked.problem) };
    const found = asked.answer.status <= 299 ? findRecords(asked.value) : null;
    const isEmpty = asked.answer.status <= 299 && (found?.items.length ?? 0) === 0;
    if (!isEmpty || (records?.items.length ?? 0) === 0) continue;
    if (name === configured) return { ...known, compared: fits(point, `"${name}" narrows the search`) };
    const proposal = { operations: { autocomplete: { request: { q: name } } } };
    return {
      ...known,
      compared: differs(point, `"${name}" narrows the search, "${configured}" does not`, proposal),
    };
  }
  return {
    ...known,
    compared: unclear(point, 'no parameter narrows the search, or there is nothing to find'),
  };
}

async function compareMissingDeal({ client, service }: CompareOptions): Promise<Compared> {
  const point = 'answers.not_found';
  const asked = await ask(client, 'get_deal_details', { query: dealQuery(service, NONSENSE) });
  if ('problem' in asked) return unclear(point, asked.problem);
  const { status } = asked.answer;
  const verdict = judge(asked.answer, service);
  if (verdict.isNotFound && verdict.isOwnWord) return fits(point, `HTTP ${status} to an unknown deal`);
  if (status < 400 || status > 499 || !isObject(asked.value))
    return unclear(point, `HTTP ${status} to an unknown deal`);
  const reason = verdict.isOwnWord ? null : firstText(asked.value);
  return differs(point, `HTTP ${status} to an unknown deal`, {
    answers: {
      ...(verdict.isNotFound ? {} : { not_found: [...service.answers.not_found, status] }),
      ...(reason === null ? {} : { reasons: [...service.answers.reasons, reason.path] }),
    },
  });
}

async function compareDeal({ client, service }: CompareOptions, dealId: string): Promise<Compared> {
  const point = 'operations.get_deal_details';
  const asked = await ask(client, 'get_deal_details', { query: dealQuery(service, dealId) });
  if ('problem' in asked) return unclear(point, asked.problem);
  if (asked.answer.status > 299) return unclear(point, `HTTP ${asked.answer.status}`);
  const { answer, envelope: own } = operationAt(service, 'get_deal_details');
  const envelope = own ?? service.answers.envelope;
  const id = findMember(
    asked.value,
    ({ path, value }) => /(^|\.)(id|deal_id)$/.test(path) && textOf(value) === dealId,
  );
  if (id === null) return unclear(point, 'the answer does not name the deal that was asked for');
  const path = id.path.replace(/\.?(id|deal_id)$/, '');
  const record = answer.deal_info ?? 'deal_info';
  const isKnown = ['', envelope ?? '', record, `${envelope}.${record}`].includes(path);
  if (isKnown) return fits(point, `the record of a deal is in ${path || 'the answer itself'}`);
  const proposal = { operations: { get_deal_details: { answer: { deal_info: path } } } };
  return differs(point, `the record of a deal is in ${path}`, proposal);
}

function dealQuery(service: ServiceDescription, dealId: string): Readonly<Record<string, string>> {
  return { [operationAt(service, 'get_deal_details').request.deal_id ?? 'deal_id']: dealId };
}

/** Joins all proposals to one section `service`. */
export function joinProposals(compared: readonly Compared[]): Readonly<Record<string, unknown>> {
  let joined: unknown = {};
  for (const { proposal } of compared)
    for (const { path, value } of leavesOf(proposal)) joined = putAt(joined, path, value);
  return joined as Readonly<Record<string, unknown>>;
}

function leavesOf(value: unknown, path = ''): readonly Member[] {
  if (!isObject(value)) return path === '' ? [] : [{ path, value }];
  return Object.entries(value).flatMap(([name, inner]) =>
    leavesOf(inner, path === '' ? name : `${path}.${name}`),
  );
}

function shorten({ status, text }: { status: number; text: string | null }): unknown {
  return text === null ? status : { status, text };
}

function firstText(value: unknown): Member | null {
  return findMember(value, ({ value: text }) => isFilledText(text));
}

function isFilledText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : numberText(value);
}

function fits(point: string, seen: string): Compared {
  return { point, status: 'fits', seen, proposal: null };
}

function unclear(point: string, seen: string): Compared {
  return { point, status: 'unclear', seen, proposal: null };
}

function differs(point: string, seen: string, proposal: Compared['proposal']): Compared {
  return { point, status: 'differs', seen, proposal };
}

/** A value in an answer, and its path of member names. */
type Member = { readonly path: string; readonly value: unknown };

/** Deeper answers are not searched. */
const MAX_DEPTH = 5;

/** Finds the first member, the outermost first, for which a condition holds. Lists are not searched. */
function findMember(value: unknown, isMeant: (member: Member) => boolean): Member | null {
  return membersOf(value).find(isMeant) ?? null;
}

/** Finds the outermost list of records. Its path is empty if the answer itself is the list. */
function findRecords(
  value: unknown,
): { readonly path: string; readonly items: readonly Readonly<Record<string, unknown>>[] } | null {
  const lists = [{ path: '', value }, ...membersOf(value)].filter(({ value: list }) => Array.isArray(list));
  const found = lists.find(({ value: list }) => (list as readonly unknown[]).some(isObject)) ?? lists[0];
  return found === undefined
    ? null
    : { path: found.path, items: (found.value as readonly unknown[]).filter(isObject) };
}

/** All members, those of the outer objects first. */
function membersOf(value: unknown): readonly Member[] {
  const found: Member[] = [];
  let level: readonly Member[] = [{ path: '', value }];
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    level = level.flatMap(({ path, value: outer }) =>
      isObject(outer)
        ? Object.entries(outer).map(([name, inner]) => ({
            path: path === '' ? name : `${path}.${name}`,
            value: inner,
          }))
        : [],
    );
    found.push(...level);
  }
  return found;
}
