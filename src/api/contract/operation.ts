import type { z } from 'zod';

/** What an operation without a query or body has in its place. */
export type Nothing = null;

export type Group =
  | 'test'
  | 'search'
  | 'identify'
  | 'import'
  | 'influencer page'
  | 'affiliate tracking'
  | 'account search'
  | 'webhooks';

/** One operation of the service as its specification (version 1.4.2) gives it. Everything else is drawn from this. */
export type Operation<
  Query extends z.ZodType | Nothing = z.ZodType | Nothing,
  Body extends z.ZodType | Nothing = z.ZodType | Nothing,
  Response extends z.ZodType = z.ZodType,
> = {
  readonly group: Group;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Other paths under which the specification names it. The client never uses them; the sandbox answers them. */
  readonly otherPaths: readonly string[];
  /** Whether `X-API-KEY` is sent. Where the specification does not say that a key is needed, one is sent all the same. */
  readonly sendsKey: boolean;
  readonly query: Query;
  readonly body: Body;
  /** Of a 2xx answer. Loose: what the specification marks "not shown" is kept as it comes. */
  readonly response: Response;
  /** Whether sending it twice does no harm. Where the specification is silent, it may not be repeated. */
  readonly repeatable: boolean;
  /** What it costs, in the words of section Limits; null when nothing. */
  readonly credits: string | null;
  /** One sentence, then the section of the specification that says so. */
  readonly description: string;
};

/** Keeps the exact types of its schemas. */
export function defineOperation<
  Query extends z.ZodType | Nothing,
  Body extends z.ZodType | Nothing,
  Response extends z.ZodType,
>(operation: Operation<Query, Body, Response>): Operation<Query, Body, Response> {
  return operation;
}
