import type { Operation } from '../service/contract/operation.ts';
import { type OperationName, operationOf } from '../service/contract.ts';
import { explainIssues } from '../service/explain-issues.ts';
import {
  createUnknownMemberFinder,
  explainUnknownMembers,
  type UnknownMember,
} from '../service/unknown-members.ts';
import { handlers } from './operations/index.ts';
import { type Answer, type Call, refuse, type Session } from './operations/operation.ts';

/** A JSON body as text and parsed. `value` is undefined if the text is not JSON. */
export type Body = {
  readonly text: string;
  readonly value: unknown;
  /** Why the body could not be read, if "not a JSON object" does not explain it. */
  readonly problem?: string;
};

/** The parts of a request that operations use. */
export type Request = {
  readonly key: string | readonly string[] | undefined;
  /** The user and account of the key; null if the key belongs to no user. */
  readonly session: Session | null;
  readonly query: unknown;
  /** Whether the query is UTF-8. Default: true. */
  readonly isQueryReadable?: boolean;
  /** Undefined or null if the request has no body. */
  readonly body: Body | undefined | null;
};

/**
 * Creates the function that answers the requests of one operation. It checks the key, the rate limit and the
 * contract, then runs the operation in the account of the key only.
 *
 * @param anonymous the session that is used if the operation needs no key.
 * @param isStrict whether to refuse members that are not in the contract.
 * @returns null if the sandbox does not implement the operation.
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
  // The name determines both the schema and the handler, but the compiler cannot see that.
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

/** Finds the members of a request's query and body that are not in the contract. */
function unknownFinderOf({ query, body }: Operation): (request: Request) => readonly UnknownMember[] {
  const inQuery = createUnknownMemberFinder(query);
  const inBody = body === null ? () => [] : createUnknownMemberFinder(body);
  return (request) => [...inQuery(request.query), ...inBody(request.body?.value)];
}

/** Checks a request against the contract. A 400 answer names each field that does not fit. */
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
