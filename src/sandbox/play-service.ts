import { parseExactJson } from '../core/json/exact-json.ts';
import type { OperationName } from '../service/contract.ts';
import { putAt, valueAt } from '../service/description/member-paths.ts';
import type { Paging, ServiceDescription, Sign } from '../service/description/schema.ts';
import {
  fromServiceRequest,
  isAsSpecified,
  isList,
  operationAt,
  toServiceAnswer,
} from '../service/description/translate.ts';
import type { Body } from './answer-request.ts';
import { type Answer, refuse } from './operations/operation.ts';

/** What a request says in the words of the described service. */
type PlayedRequest = { readonly query: unknown; readonly body: Body | undefined | null };

/** Plays a service that does something differently: the operations themselves know only the contract. */
type PlayedService = {
  /** Reads a request in the words of the contract. */
  readRequest(name: OperationName, request: PlayedRequest): PlayedRequest;
  /** Refuses what is larger than this service allows. Null if it is not. @param request in the words of the contract. */
  refuseSize(name: OperationName, request: PlayedRequest): Answer | null;
  /** Writes an answer in the words of the service. @param asked the request as received. */
  writeAnswer(name: OperationName, answer: Answer, asked: PlayedRequest): Answer;
};

/** Items of a page, if the description does not state how many. */
const PAGE_ITEMS = 1;

/** @returns null for a service that does everything as specified. */
export function playService(service: ServiceDescription): PlayedService | null {
  if (isAsSpecified(service)) return null;
  return {
    readRequest: (name, { query, body }) => ({
      query: fromServiceRequest(service, name, query),
      body: body === undefined || body === null ? body : readBody(service, name, body),
    }),
    refuseSize: (name, { body }) => refuseLongList(service, name, body?.value),
    writeAnswer: (name, answer, asked) =>
      answer.isProcessed || answer.status < 300
        ? writeSuccess(service, name, { answer, query: asked.query })
        : writeRefusal(service, answer),
  };
}

function readBody(service: ServiceDescription, name: OperationName, body: Body): Body {
  if (body.value === undefined) return body;
  const text = JSON.stringify(fromServiceRequest(service, name, parseExactJson(body.text)));
  return { ...body, text, value: JSON.parse(text) };
}

const LIMITED = {
  identify_influencers: ['influencer_list', 'emails_per_call'],
  submit_influencers: ['influencer_ids', 'influencers_per_call'],
} as const;

function refuseLongList(service: ServiceDescription, name: OperationName, body: unknown): Answer | null {
  if (name !== 'identify_influencers' && name !== 'submit_influencers') return null;
  const [member, limit] = LIMITED[name];
  const list = valueAt(body, member);
  const most = service.limits[limit];
  return Array.isArray(list) && list.length > most
    ? refuse(400, `${member}: at most ${most} at a time.`)
    : null;
}

function writeSuccess(
  service: ServiceDescription,
  name: OperationName,
  { answer, query }: { answer: Answer; query: unknown },
): Answer {
  const { paging, yes } = operationAt(service, name);
  const status = yes?.statuses?.[0] ?? answer.status;
  if (paging === null || paging.by === 'none' || !isList(name) || !Array.isArray(answer.body))
    return { ...answer, status, body: toServiceAnswer(service, name, { body: answer.body }) };
  const { items, page, headers } = cutPage(paging, answer.body, query);
  return { ...answer, status, body: toServiceAnswer(service, name, { body: items, page }), headers };
}

type Page = {
  readonly items: readonly unknown[];
  /** Members of the answer that tell the next page, by their paths. */
  readonly page: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
};

function cutPage(
  paging: Exclude<Paging, { readonly by: 'none' }>,
  all: readonly unknown[],
  query: unknown,
): Page {
  const size = ('size' in paging ? paging.size : null) ?? PAGE_ITEMS;
  const name = paging.by === 'link' ? 'page' : paging.parameter;
  const asked = Number(valueAt(query, name) ?? Number.NaN);
  const first = paging.by === 'page' ? paging.first : paging.by === 'link' ? 1 : 0;
  const number = Number.isNaN(asked) ? first : asked;
  const isCounted = paging.by === 'page' || paging.by === 'link';
  const start = isCounted ? (number - first) * size : number;
  const end = start + size;
  const isLast = end >= all.length;
  return {
    items: all.slice(start, end),
    page: paging.by === 'cursor' ? { [paging.path]: isLast ? null : String(end) } : {},
    headers:
      paging.by === 'cursor'
        ? {}
        : paging.by !== 'link'
          ? { 'x-total-count': String(all.length) }
          : isLast
            ? {}
            : { link: `<?page=${number + 1}>; rel="next"` },
  };
}

/** A refusal in the status and the form of this service. */
function writeRefusal({ answers, authentication }: ServiceDescription, answer: Answer): Answer {
  const signs =
    answer.status === 401
      ? authentication.refused
      : answer.status === 429
        ? answers.rate_limited
        : answers.refused;
  const sign: Sign | undefined = signs.find(({ status }) => status === answer.status) ?? signs[0];
  const isNotFound = answer.status === 404 && answers.not_found[0] !== undefined;
  const status = isNotFound && !answers.not_found.includes(404) ? answers.not_found[0] : sign?.status;
  const said = String(valueAt(answer.body, 'message') ?? '');
  const text = sign?.text == null ? said : `${said} (${sign.text})`;
  const body = putAt({}, answers.reasons[0] ?? 'message', text);
  return { ...answer, status: status ?? answer.status, body };
}
