import type { z } from 'zod';
import { firstSentence, GROUPS, type Operation } from '../contract/operation.ts';
import { webhookEvents } from '../contract/webhook-events.ts';
import { type OperationName, operationNames, operationOf } from '../contract.ts';
import { exampleOf } from './examples.ts';
import { atLeastOneOf, rulesOf, toJsonSchema } from './json-schema.ts';

/** Version of the API, from section Versioning of the specification. */
const VERSION = '1.4.2';

/**
 * Generates the OpenAPI 3.1 document of the contract, pretty-printed, with a line break at its end. `npm run
 * openapi` writes it to docs/openapi.json. Members that the specification marks "not shown" carry
 * `x-not-shown`; members that are not in the specification carry `x-not-in-specification`.
 */
export function openApiDocument(): string {
  return `${JSON.stringify(describeService(), null, 2)}\n`;
}

function describeService(): object {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Influencer-marketing service',
      version: VERSION,
      summary: 'Every operation of the service, as influencer-sync calls it and its sandbox implements it.',
      description:
        'Drawn from the contract in src/service/contract. Amounts are exact JSON numbers. Where the specification says "not shown", schemas stay open.',
      license: { name: 'Not licensed for others', identifier: 'LicenseRef-UNLICENSED' },
    },
    servers: [
      {
        url: '{base_url}',
        description: 'The service, or a sandbox on this machine (npx influencer-sync sandbox --port 4010).',
        variables: {
          base_url: { default: 'http://127.0.0.1:4010', description: 'Base address, without /v1.' },
        },
      },
    ],
    security: [{ apiKey: [] }],
    tags: Object.entries(GROUPS).map(([name, description]) => ({ name, description })),
    paths: describePaths(),
    webhooks: Object.fromEntries(
      Object.entries(webhookEvents).map(([kind, event]) => [
        kind,
        {
          post: {
            operationId: `receive_${kind}`,
            tags: ['webhooks'],
            summary: firstSentence(event.description ?? kind),
            description: event.description,
            security: [],
            parameters: EVENT_HEADERS,
            requestBody: {
              required: true,
              content: { 'application/json': { schema: toJsonSchema(event, 'output') } },
            },
            responses: {
              '2XX': { description: 'Acknowledged.' },
              '4XX': { description: 'Not acknowledged. Whether it is sent again: not shown.' },
            },
          },
        },
      ]),
    ),
    components: COMPONENTS,
  };
}

function describePaths(): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  for (const name of operationNames) {
    const operation = operationOf(name);
    const method = operation.method.toLowerCase();
    paths[operation.path] = { ...paths[operation.path], [method]: describeOperation(name, operation) };
    for (const path of operation.otherPaths) {
      const other = {
        ...describeOperation(name, operation),
        operationId: path.split('/').at(-1),
        deprecated: true,
      };
      paths[path] = { ...paths[path], [method]: other };
    }
  }
  return paths;
}

function describeOperation(name: OperationName, operation: Operation): object {
  const { group, query, body, response, sendsKey, repeatable, credits, description } = operation;
  return {
    operationId: name,
    tags: [group],
    summary: firstSentence(description),
    description: [description, ...rulesIn(query), ...rulesIn(body), repeatable ? [] : NOT_REPEATABLE]
      .flat()
      .join('\n\n'),
    'x-repeatable': repeatable,
    ...(credits === null ? {} : { 'x-credits': credits }),
    ...(sendsKey ? {} : { security: [] }),
    ...(query === null ? {} : { parameters: describeQuery(name, query) }),
    ...(body === null
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: describeBody(body),
                examples: { one: { value: exampleOf(name).body } },
              },
            },
          },
        }),
    responses: {
      '200': {
        description: 'Done.',
        content: { 'application/json': { schema: toJsonSchema(response, 'output') } },
        ...(LEADS_TO_DEAL.includes(name) ? { links: DEAL_LINK } : {}),
      },
      ...describeRefusals(name, operation),
      '4XX': { $ref: '#/components/responses/Refused' },
      '5XX': { $ref: '#/components/responses/Failed' },
    },
  };
}

/** Operations that answer with the id of a deal. */
const LEADS_TO_DEAL: readonly OperationName[] = [
  'create_deal',
  'new_influencer_click',
  'new_influencer_referral',
];

const DEAL_LINK = {
  deal: {
    operationId: 'get_deal_details',
    parameters: { deal_id: '$response.body#/deal_id' },
    description: 'The deal of this answer.',
  },
};

/**
 * Statuses that refuse a particular operation, in addition to those common to all. The specification lists
 * none; these are the sandbox's.
 */
const REFUSALS: Partial<Readonly<Record<OperationName, readonly (keyof typeof REASONS)[]>>> = {
  get_search: ['402'],
  get_analytics_page: ['402', '404'],
  identify_influencers: ['404'],
  identify_influencers_real_time: ['404'],
  create_deal: ['404'],
  submit_influencers: ['402', '404'],
  get_deal_details: ['404'],
  create_note: ['404'],
  create_task: ['404'],
  update_dealstage: ['404'],
  update_deal_info: ['404'],
  update_post_capture: ['404'],
  new_influencer_click: ['404'],
  new_influencer_referral: ['404', '409'],
  create_webhook: ['409'],
};

const REASONS = {
  '400': 'A field is missing or does not fit; the message names it.',
  '401': 'The key is missing or invalid.',
  '402': 'Not enough credits.',
  '404': 'A resource that the request names does not exist.',
  '409': 'It exists already.',
  '413': 'The body is too large.',
  '415': 'The body is not application/json.',
} as const;

function describeRefusals(name: OperationName, { body, sendsKey }: Operation): Record<string, object> {
  const statuses: readonly (keyof typeof REASONS)[] = [
    '400',
    ...(sendsKey ? (['401'] as const) : []),
    ...(REFUSALS[name] ?? []),
    ...(body === null ? [] : (['413', '415'] as const)),
  ];
  return {
    ...Object.fromEntries(
      statuses.map((status) => [
        status,
        { description: REASONS[status], content: { 'application/json': { schema: ERROR } } },
      ]),
    ),
    ...(sendsKey ? { '429': { $ref: '#/components/responses/TooManyRequests' } } : {}),
  };
}

/** The schema of a body, with the rule that at least one of several members is required. */
function describeBody(body: z.ZodType): object {
  const members = atLeastOneOf(body);
  const schema = toJsonSchema(body, 'input', { keepsBounds: true });
  if (members === null) return schema;
  const anyOf = members.map((name) => ({ required: [name], properties: { [name]: { pattern: '\\S' } } }));
  return { ...schema, anyOf };
}

/** Headers of an event: section Events, "Delivery and verification". */
const EVENT_HEADERS = [
  {
    name: 'X-Service-Timestamp',
    in: 'header',
    required: true,
    description: 'Unix seconds of sending. Not signed.',
    schema: { type: 'string' },
  },
  {
    name: 'X-Service-Signature',
    in: 'header',
    required: true,
    description: 'HMAC-SHA256 of the raw body with the signing secret, in lower-case hex.',
    schema: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  },
];

const NOT_REPEATABLE =
  'Must not be repeated: if the answer is lost, it is unknown whether the request was processed.';

function rulesIn(schema: z.ZodType | null): readonly string[] {
  return schema === null ? [] : rulesOf(schema).map((rule) => `Rule: ${rule}.`);
}

function describeQuery(name: OperationName, query: z.ZodType): readonly object[] {
  const { properties = {}, required = [] } = toJsonSchema(query, 'input', { keepsBounds: true });
  const example = exampleOf(name).query ?? {};
  return Object.entries(properties).map(([member, { description, ...schema }]) => ({
    name: member,
    in: 'query',
    required: required.includes(member),
    ...(description === undefined ? {} : { description }),
    schema,
    ...(example[member] === undefined ? {} : { example: example[member] }),
  }));
}

const ERROR = { $ref: '#/components/schemas/Error' };

const COMPONENTS = {
  securitySchemes: {
    apiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY', description: 'Section Authentication.' },
  },
  schemas: {
    Error: {
      type: 'object',
      description: 'Section Errors: the reason is in message; a field named error may also carry it.',
      properties: { message: { type: 'string' }, error: {}, error_message: { type: 'string' } },
      additionalProperties: {},
    },
  },
  responses: {
    Refused: {
      description: 'The request is wrong. What each status means: not shown.',
      content: { 'application/json': { schema: ERROR } },
    },
    TooManyRequests: {
      description: 'Not processed: send it again after the time that Retry-After says.',
      headers: { 'Retry-After': { description: 'Seconds, or a date.', schema: { type: 'string' } } },
      content: { 'application/json': { schema: ERROR } },
    },
    Failed: {
      description: 'The service failed. It is unknown whether the request was processed.',
      content: { 'application/json': { schema: ERROR } },
    },
  },
};
