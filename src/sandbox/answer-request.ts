import { explainIssues } from '../api/call.ts';
import type { Operation } from '../api/contract/operation.ts';
import { type OperationName, operationOf } from '../api/contract.ts';
import {
  createUnknownMemberFinder,
  explainUnknownMembers,
  type UnknownMember,
} from '../api/unknown-members.ts';
import { handlers } from './operations/index.ts';
import { type Answer, type Call, refuse, type Session } from './operations/operation.ts';

/** A JSON body as it came and as it was read; `value` is undefined when it is no JSON. */
export type Body = {
  readonly text: string;
  readonly value: unknown;
  /** Why it could not be read, where there is more to say than that it is no JSON object. */
  readonly problem?: string;
};

/** One request, as far as its operation can see it. */
export type Request = {
  readonly key: string | readonly string[] | undefined;
  /** To whom the key belongs; null: to no user. */
  readonly session: Session | null;
  readonly query: unknown;
  /** Whether the query is UTF-8; it is when not given. */
  readonly isQueryReadable?: boolean;
  /** Absent where none came. */
  readonly body: Body | undefined | null;
};

/**
 * Answers the requests of one operation: checks the key, the rate and the contract, then processes, in the account of the key and no other.
 * Null: the sandbox has no such operation.
 *
 * @param anonymous who asks where an operation needs no key.
 * @param isStrict whether members that the contract does not name are refused.
 */
export function createAnswerer(
  name: OperationName,
  anonymous: Session,
  isStrict = false,
): ((request: Request) => Answer) | null {
  const handle = handlers[name];
  if (handle === undefined) return null;
  const operation = operationOf(name);
  const findUnknown = unknownFinderOf(operation);
  // The name ties the schema to the handler; the compiler cannot see that across the list.
  const process = handle as (call: Call<OperationName>) => Answer;

  return (request) => {
    let session = anonymous;
    if (operation.sendsKey) {
      if (request.key === undefined || request.key === '')
        return refuse(401, 'Missing API key: send it in the header X-API-KEY.');
      if (request.session === null) return refuse(401, 'Invalid API key.');
      session = request.session;
      const waitSeconds = session.rateLimit?.take() ?? 0;
      if (waitSeconds > 0)
        return { ...refuse(429, 'Too many requests: try again later.'), retryAfterSeconds: waitSeconds };
    }
    const { world, userId } = session;
    const unknownMembers = findUnknown(request);
    if (isStrict && unknownMembers.length > 0)
      return refuse(400, `Not in the contract: ${explainUnknownMembers(unknownMembers)}.`);
    const answer = validated(operation, request, (query, body, bodyText) =>
      process({
        query,
        body,
        bodyText,
        userId,
        account: world.account,
        requestLog: world.requestLog,
        population: world.population,
        events: world.events,
        followUps: world.followUps,
        duplicates: world.duplicates,
        clock: world.clock,
        identifyDelayMs: world.identifyDelayMs,
        allowsPrivateWebhooks: world.allowsPrivateWebhooks,
        appUrl: world.appUrl,
      } as Call<OperationName>),
    );
    return unknownMembers.length === 0 ? answer : { ...answer, unknownMembers };
  };
}

/** What a request has beside the members that the contract names, in its query and in its body. */
function unknownFinderOf({ query, body }: Operation): (request: Request) => readonly UnknownMember[] {
  const inQuery = createUnknownMemberFinder(query);
  const inBody = body === null ? () => [] : createUnknownMemberFinder(body);
  return (request) => [...inQuery(request.query), ...inBody(request.body?.value)];
}

/** Checks a request against the contract; a 400 names each field that does not fit. */
function validated(
  operation: Operation,
  request: Request,
  then: (query: unknown, body: unknown, bodyText: string) => Answer,
): Answer {
  if (request.isQueryReadable === false) return refuse(400, 'The query must be UTF-8 text, percent-encoded.');
  const query = operation.query?.safeParse(request.query);
  if (query?.success === false) return refuse(400, explainIssues(query.error.issues));
  if (operation.body === null) return then(query?.data ?? null, null, '');
  const sent = request.body;
  if (sent === undefined || sent === null || sent.value === undefined)
    return refuse(400, sent?.problem ?? 'The body must be a JSON object.');
  const body = operation.body.safeParse(sent.value);
  if (!body.success) return refuse(400, explainIssues(body.error.issues));
  return then(query?.data ?? null, body.data, sent.text);
}
