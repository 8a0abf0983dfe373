import type { z } from 'zod';
import type { Exchange } from '../core/http/exchange.ts';
import { ApiError, toApiError } from './api-error.ts';
import type { Client, ExchangeInput } from './client.ts';
import {
  type BodyInput,
  type OperationName,
  operationOf,
  type QueryInput,
  type ResponseOf,
} from './contract.ts';
import { joinPages } from './description/pages.ts';
import { explainIssues } from './explain-issues.ts';

/** The query and body of an operation, if it has them. */
export type CallInput<Name extends OperationName> = CallOptions & {
  readonly query?: QueryInput<Name>;
  readonly body?: BodyInput<Name>;
};

/**
 * The argument of an operation: its body or its query, or nothing if it has neither. No operation has both.
 */
export type InputOf<Name extends OperationName> =
  BodyInput<Name> extends null ? QueryInput<Name> : BodyInput<Name>;

/** What a call takes besides its input. */
export type CallOptions = {
  /** Aborts the call, which rejects with an `ApiError`: its fate says whether the service may have processed it. */
  readonly signal?: AbortSignal | undefined;
};

type Arguments<Input> = Input extends null
  ? readonly [input?: undefined, options?: CallOptions]
  : Record<never, never> extends Input
    ? readonly [input?: Input, options?: CallOptions]
    : readonly [input: Input, options?: CallOptions];

/**
 * Calls one operation. The input is checked before it is sent, the answer afterwards. Nothing is retried.
 * Amounts are JavaScript numbers: for an amount with more than 15 digits, write the JSON yourself and use
 * `client.exchange`.
 */
export type Call<Name extends OperationName> = (
  ...input: Arguments<InputOf<Name>>
) => Promise<ResponseOf<Name>>;

/**
 * Calls one operation. Checks the input against the contract before sending it, and the answer afterwards.
 *
 * Amounts in `body` are JavaScript numbers. To keep an amount exact, write the JSON text and use
 * `client.exchange`.
 *
 * @throws ApiError if the input does not fit the contract, if there is no answer, if the answer is not a 2xx,
 *   or if it does not fit the contract.
 */
export async function call<Name extends OperationName>(
  client: Client,
  name: Name,
  input: CallInput<Name> = {},
): Promise<ResponseOf<Name>> {
  return (await callWithList(client, name, input)).answer;
}

/** An answer, with the list that the client found in it and in its further pages. */
export type AnswerWithList<Name extends OperationName> = {
  readonly answer: ResponseOf<Name>;
  /** Null if there is no list. */
  readonly items: readonly unknown[] | null;
  /** Why other items exist, or may exist. Null if nothing says so; a list may only be as long as a page would be. */
  readonly problem: string | null;
};

/** Calls one operation, like `call`, and returns the list with all pages. */
export async function callWithList<Name extends OperationName>(
  client: Client,
  name: Name,
  input: CallInput<Name> = {},
): Promise<AnswerWithList<Name>> {
  const operation = operationOf(name);
  const query = check(name, operation.query, input.query);
  const body = check(name, operation.body, input.body);
  const sent: ExchangeInput = {
    ...(query === null ? {} : { query: query as NonNullable<ExchangeInput['query']> }),
    ...(body === null ? {} : { body: JSON.stringify(body) }),
    signal: input.signal,
  };
  const first = await client.exchange(name, sent);
  if (!isAnswered(first)) throw toApiError(name, first);
  const { exchange, problem } = await joinIfPaged(first, (page) =>
    client.exchange(name, { ...sent, query: { ...sent.query, ...page } }),
  );
  const answer = operation.response.safeParse(parse(exchange.text));
  if (answer.success) {
    // The list has exact numbers; the answer, and who reads it, plain ones.
    const items = exchange.list === undefined ? null : JSON.parse(JSON.stringify(exchange.list.items));
    return { answer: answer.data as ResponseOf<Name>, items: items as readonly unknown[] | null, problem };
  }
  throw toApiError(
    name,
    exchange,
    `the answer does not fit the contract: ${explainIssues(answer.error.issues)}`,
  );
}

type Answered = Extract<Exchange, { readonly kind: 'answer' }>;

/** True for a 2xx, unless it says no or, as the description of the service reads it, nothing about the request. */
function isAnswered(exchange: Exchange): exchange is Answered {
  if (exchange.kind === 'failure' || exchange.status < 200 || exchange.status > 299) return false;
  return exchange.verdict === undefined || exchange.verdict.kind === 'yes';
}

/** The answer with the items of all pages. A list that has no other page, as far as it shows, is as received. */
async function joinIfPaged(
  first: Answered,
  send: (page: Readonly<Record<string, string>>) => Promise<Exchange>,
): Promise<{ readonly exchange: Answered; readonly problem: string | null }> {
  if (first.list === undefined) return { exchange: first, problem: null };
  const { items, problem } = await joinPages(
    first.list,
    async (page) => {
      const next = await send(page);
      return (isAnswered(next) ? next.list : undefined) ?? { problem: 'it was not answered' };
    },
    { ignoresGuesses: first.list.next?.query === null },
  );
  if (!first.list.next?.query) return { exchange: first, problem };
  const list = { ...first.list, items, next: null };
  return {
    exchange: { ...first, text: JSON.stringify({ items, has_more: problem !== null }), list },
    problem,
  };
}

/**
 * Returns undefined for an answer that is not JSON. No schema with required members accepts it. `parseJson` would hand out
 * one value for the same text, and a caller may change what it gets.
 */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function check(name: OperationName, schema: z.ZodType | null, value: unknown): unknown {
  if (schema === null) return null;
  const result = schema.safeParse(value ?? {});
  if (result.success) return result.data;
  throw new ApiError({
    operation: name,
    status: null,
    text: explainIssues(result.error.issues),
    fate: 'not_sent',
    safe: 'Nothing was sent. Change the request.',
  });
}
