import type { z } from 'zod';

/** Stands for the query or body of an operation that has none. */
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

/** What the operations of each group are for. */
export const GROUPS: Readonly<Record<Group, string>> = {
  test: 'Tests whether a request arrives, and to which account its key belongs.',
  search: 'Finds influencers, and the handles, tags and places to search by. Costs credits.',
  identify: 'Finds out which contacts are influencers.',
  import: 'Brings influencers into the CRM or into an outreach campaign.',
  'influencer page': 'One deal: its data, notes, tasks, stage and capture of posts.',
  'affiliate tracking': 'Clicks and orders, from a server. Never repeat these.',
  'account search': 'Lists the brands, dealflows and deals of the account.',
  webhooks: 'Where the service sends its events.',
};

/**
 * One operation of the service as its specification (version 1.4.2) defines it. The client, the sandbox and
 * the reference are all derived from it.
 */
export type Operation<
  Query extends z.ZodType | Nothing = z.ZodType | Nothing,
  Body extends z.ZodType | Nothing = z.ZodType | Nothing,
  Response extends z.ZodType = z.ZodType,
> = {
  readonly group: Group;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /**
   * Other paths that the specification gives for the operation. The client never uses them; the sandbox
   * answers them.
   */
  readonly otherPaths: readonly string[];
  /**
   * Whether `X-API-KEY` is sent. The key is also sent if the specification does not say whether one is
   * needed.
   */
  readonly sendsKey: boolean;
  readonly query: Query;
  readonly body: Body;
  /**
   * Schema of a 2xx answer. It is loose: members that the specification marks "not shown" are kept as
   * received.
   */
  readonly response: Response;
  /** Whether sending the request twice does no harm. False if the specification does not say. */
  readonly repeatable: boolean;
  /**
   * Words with which it usually answers, though they leave other requests in doubt. `any`: a search that finds nothing
   * says so in many ways.
   */
  readonly usualWords: readonly string[] | 'any';
  /** What the operation costs, in the words of section Limits; null if it costs nothing. */
  readonly credits: string | null;
  /** One sentence, then the section of the specification that it is taken from. */
  readonly description: string;
};

/** Words with which the service answers what it works through later, and where it skips what it has. */
export const wordsOfQueue: readonly string[] = [
  'queued',
  'pending',
  'processing',
  'scheduled',
  'later',
  'already',
  'duplicate',
  'duplicated',
  'duplicates',
  'exist',
  'exists',
  'existing',
  'ignored',
  'skipped',
];

/** What an operation need not state: most send the key, cost nothing, have one path, and answer in no words of doubt. */
type Default = 'otherPaths' | 'sendsKey' | 'usualWords' | 'credits' | 'query' | 'body';

/** Defines an operation and keeps the exact types of its schemas. Without a query or body, it has none. */
export function defineOperation<
  Response extends z.ZodType,
  Query extends z.ZodType | Nothing = Nothing,
  Body extends z.ZodType | Nothing = Nothing,
>(
  operation: Omit<Operation<Query, Body, Response>, Default> &
    Partial<Pick<Operation<Query, Body, Response>, Default>>,
): Operation<Query, Body, Response> {
  // Null is the type of a query or body that is not given, which the compiler does not know of a parameter of a type.
  const defaults = {
    otherPaths: [],
    sendsKey: true,
    usualWords: [],
    credits: null,
    query: null as Query,
    body: null as Body,
  };
  return { ...defaults, ...operation };
}

/**
 * The first sentence of a description: `Adds a note to a deal` for `Adds a note to a deal. Endpoints,
 * Influencer page (CRM).`
 */
export function firstSentence(description: string): string {
  return description.split(/\.(?: |$)/)[0] ?? description;
}
