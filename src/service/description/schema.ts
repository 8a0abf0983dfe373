import { z } from 'zod';
import { namesOfOperations } from '../contract/operation-names.ts';
import { webhookTypes } from '../contract/webhook-types.ts';

const status = z.int().min(100).max(599);
const statuses = z.array(status).readonly();
const name = z.string().trim().min(1).max(200);
/** Names of members, with dots between them: `data.deal.id`. */
const path = z
  .string()
  .trim()
  .max(200)
  .regex(/^[^.\s[\]{}]+(\.[^.\s[\]{}]+)*$/, 'must be a path of members, such as data.id');
const header = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]*$/, 'must be the name of a header')
  .max(100);
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** Members that are looked for, and those that are by default. */
function names(...members: readonly string[]) {
  return z.array(path).readonly().default(members);
}

/** Null if it is left out. */
function optional<Value extends z.ZodType>(value: Value) {
  return value.nullable().default(null);
}

const sign = z
  .union([
    z.int().min(300).max(599),
    z
      .strictObject({
        status,
        text: optional(name).describe('What the body contains; upper or lower case does not matter.'),
      })
      .refine(({ status: code, text }) => code > 299 || text !== null, {
        message: 'a status that otherwise means success needs a text',
        path: ['text'],
      }),
  ])
  .transform((value) => (typeof value === 'number' ? { status: value, text: null } : value));
const signs = z.array(sign).readonly();

const size = {
  size: optional(z.int().min(1).max(100_000)).describe(
    'Items of a full page. Omitted: pages are read until one is empty.',
  ),
  size_parameter: optional(name).describe('Query parameter that asks for this size. Omitted: not sent.'),
};

const paging = z.discriminatedUnion('by', [
  z.strictObject({
    by: z.literal('page'),
    parameter: name.default('page'),
    first: z.int().min(0).max(1).default(1),
    ...size,
  }),
  z.strictObject({ by: z.literal('offset'), parameter: name.default('offset'), ...size }),
  z.strictObject({
    by: z.literal('cursor'),
    parameter: name.default('cursor'),
    path: path.default('next_cursor'),
  }),
  z.strictObject({ by: z.literal('link') }),
  z.strictObject({ by: z.literal('none') }),
]);

/** What one operation does differently. */
const operation = z.strictObject({
  path: optional(z.string().regex(/^\/\S+$/)).describe('Path, if it is another one.'),
  method: optional(z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])).describe(
    'Method, if it is another one.',
  ),
  request: z
    .record(path, path.nullable())
    .default({})
    .describe('Our member: the name (or path) that the service expects; null: the member is not sent.'),
  answer: z
    .record(path, path.nullable())
    .default({})
    .describe('Our member: the path at which the service sends it; null: it does not send it.'),
  items: z.record(path, path).default({}).describe('The same for each item of a list.'),
  envelope: optional(path).describe('Member that contains the content of this answer.'),
  list: optional(path).describe('Path of the list. Omitted: the first of lists.keys.'),
  paging: optional(paging).describe(
    'How further pages are asked for. none: an answer is the whole list, however long it is. Omitted: not known, so an answer that looks like a page leaves the list unfinished.',
  ),
  yes: optional(
    z
      .strictObject({
        statuses: optional(statuses),
        path: optional(path),
        values: optional(z.array(scalar).readonly()).describe('Omitted: any value that is not empty.'),
      })
      .refine(({ statuses: codes, path: at }) => codes !== null || at !== null, {
        message: 'needs statuses or a path',
      }),
  ).describe(
    'What a 2xx answer must say to be a yes. Such an answer is then a yes even if it names no deal. Omitted: it must name what was credited or done.',
  ),
});

/** What a template of the signature may contain. */
function template(required: string) {
  return z
    .string()
    .max(200)
    .refine((text) => text.split(required).length === 2, `must contain ${required} once`)
    .refine((text) => text.split('{timestamp}').length <= 2, 'must contain {timestamp} at most once');
}

/** How the service signs and writes its events. */
const events = z.strictObject({
  signature_header: header
    .default('X-Service-Signature')
    .describe(
      'Specified: X-Service-Signature, with the brand of the service in place of "Service". Source: the specification.',
    ),
  timestamp_header: header
    .default('X-Service-Timestamp')
    .describe(
      'Specified: X-Service-Timestamp, with the brand in place of "Service". Source: the specification.',
    ),
  signed: template('{body}')
    .default('{body}')
    .describe(
      'Which bytes are signed is not shown, only that the body is among them. Also usual: {timestamp}.{body}. Source: public examples.',
    ),
  signature: template('{signature}')
    .default('{signature}')
    .describe(
      'The form of the header is not shown. Also usual: sha256={signature}, and t={timestamp},v1={signature}. Source: public examples.',
    ),
  encoding: z
    .enum(['hex', 'base64', 'base64url'])
    .default('hex')
    .describe('Encoding of the signature: not shown. Source: public examples.'),
  secret: z
    .enum(['text', 'base64', 'hex'])
    .default('text')
    .describe('Whether the secret is the key itself or its encoding: not shown. Source: public examples.'),
  timestamp: z
    .enum(['seconds', 'milliseconds', 'iso'])
    .default('seconds')
    .describe('Specified: a UNIX timestamp; its unit is not shown. Source: public examples.'),
  kind: path
    .default('webhook_type')
    .describe(
      'Whether an event names its kind is not shown. Path of the member that does; without it, the members of the event or the address show it. Source: the name in create_webhook.',
    ),
  kinds: z
    .partialRecord(z.enum(webhookTypes), name)
    .default({})
    .describe('Our kind: the name in the event, if it is another one than that of the registration.'),
  envelope: optional(path).describe(
    'Member that contains the payload: not shown. Source: public examples have none.',
  ),
  members: z
    .record(path, path)
    .default({})
    .describe(
      'Payloads are not shown. Our member (order_information.order_id): the path at which the service sends it. Source: public examples.',
    ),
});

/*
 * Every open point of the specification, once: its type, our default and its source. `config/service.yaml`,
 * `config/service.schema.json` and the tables of docs/service.md are written from here (`npm run schema`).
 * A description begins with what the specification says, and ends with where our default comes from.
 */

/** The schema of section `service`. */
export const serviceSchema = z
  .strictObject({
    duplicate_orders: z
      .enum(['unknown', 'ignored'])
      .default('unknown')
      .describe(
        'What happens to an order id that is sent twice is not shown. ignored: the service ignores a repeated order id of the same platform; orders in doubt are then sent again automatically. Source: the careful choice; a manual of a public client says ignored.',
      ),
    authentication: z
      .strictObject({
        header: header.default('X-API-KEY').describe('Specified: X-API-KEY. Source: the specification.'),
        prefix: z
          .string()
          .max(50)
          .default('')
          .describe('Written before the key, for example "Bearer ". Source: the specification has none.'),
        refused: signs
          .default([401, 403].map((code) => ({ status: code, text: null })))
          .describe(
            'The answer to a missing or invalid key is not shown. Answers that mean it; a run then stops. Each is a status, or {status, text} with a text that the body contains. Source: HTTP.',
          ),
      })
      .prefault({})
      .describe('How a request shows its key, and how the service refuses it.'),
    answers: z
      .strictObject({
        refused: signs
          .default([400, 401, 403, 404, 405, 413, 415, 422].map((code) => ({ status: code, text: null })))
          .describe(
            'Status codes and their conditions are not shown. Answers that prove that the request was not processed; without a text, only if the body is JSON with a reason. Any other answer leaves an order in doubt. Source: HTTP.',
          ),
        doubt: statuses
          .default([206, 207, 408, 425])
          .describe(
            'Statuses that say nothing about the request as a whole. 2xx ones, such as 202, may be added. Source: HTTP.',
          ),
        not_found: statuses
          .default([404, 410])
          .describe(
            'Statuses with which the service says, with a reason in JSON, that a deal does not exist. Source: HTTP.',
          ),
        no_credits: statuses
          .default([402])
          .describe('The answer without credits is not shown. Statuses that end the run. Source: HTTP.'),
        rate_limited: signs
          .default([{ status: 429, text: null }])
          .describe(
            'Rate limits are not shown. Answers that mean "later, and nothing was processed". Give a text with any status but 429. Source: observed.',
          ),
        reasons: names('message', 'error', 'error_message', 'errors').describe(
          'Specified: the reason is in message, perhaps in error. Members that are read, in this order. Source: the specification and observed.',
        ),
        envelope: optional(path).describe(
          'Member that contains the content of every answer. Source: the specification has none.',
        ),
        yes: z
          .record(path, z.array(scalar).readonly())
          .default({ success: [true, 'true', 1], ok: [true, 'true', 1] })
          .describe(
            'Only some answers have success. If an answer has this member, it must have one of these values to be a yes. Source: the specification.',
          ),
        no_if_filled: names('error', 'errors', 'error_message').describe(
          'A 2xx answer in which one of these is not empty is no yes. Source: the specification and observed.',
        ),
        no_if_failed: names('status', 'state', 'result', 'outcome', 'status_code', 'statusCode').describe(
          'A 2xx answer in which one of these is a number from 400 on, or begins with a word such as error, failed, rejected, is no yes. Source: the careful choice.',
        ),
        done: z
          .array(scalar)
          .readonly()
          .default([
            ...[true, 'true', 'ok', 'success', 'successful', 'succeeded', 'done', 'complete', 'completed'],
            ...['created', 'added', 'recorded', 'credited'],
          ])
          .describe(
            'What the members of no_if_failed say when a request was carried out; upper or lower case does not matter, and a number from 200 to 299 says it, too. Any other value leaves the request in doubt. Source: the careful choice.',
          ),
        doubt_if_said: z
          .array(name)
          .readonly()
          .default([
            ...['already', 'duplicate', 'duplicated', 'duplicates', 'exist', 'exists', 'existing', 'ignored'],
            ...['skipped', 'queued', 'pending', 'processing', 'scheduled', 'later', 'partial', 'partially'],
            ...['not', 'no', 'cannot', 'unable', 'unknown', 'invalid', 'unsupported', 'missing', 'instead'],
            ...['fail', 'fails', 'failed', 'failure', 'error', 'rejected', 'refused', 'denied', 'declined'],
            ...['cancelled', 'canceled', 'blocked', 'expired', 'exceeded', 'paused', 'inactive', 'closed'],
            ...['reason', 'warning', 'warnings'],
          ])
          .describe(
            'Words that leave a request in doubt if the reason of a 2xx answer contains one, or the name of a member that is not empty. Those of a queue (queued, duplicates) are usual for influencers and customers that are submitted, and those that deny (no, not) for the look-up of one. Source: the careful choice.',
          ),
      })
      .prefault({})
      .describe('What an answer means.'),
    lists: z
      .strictObject({
        keys: names('items', 'results', 'brands', 'dealflows', 'deals', 'data').describe(
          'The answers of search_brands, search_dealflows and autocomplete are not shown. Members that contain the list, the most reliable first; a bare list and a single list are found, too. Source: observed.',
        ),
        more: names(
          'next',
          'next_page',
          'next_cursor',
          'next_page_url',
          'next_url',
          'next_page_token',
          'next_offset',
          'has_more',
          'has_next',
          'more',
          'truncated',
          'is_truncated',
          'incomplete',
          'cursor',
          'next_token',
          'next_link',
          'continuation_token',
          'remaining',
        ).describe(
          'Members that say, when filled, that the list goes on. It is then not whole, and nothing is marked as gone. An address is followed, and so are a page, a cursor and an offset. Source: usual names.',
        ),
        whole: names('complete', 'is_complete', 'last', 'is_last', 'end', 'is_end', 'finished').describe(
          'Members that say, when false, that the list goes on. Source: usual names.',
        ),
        totals: names('total', 'total_count', 'total_results', 'total_items', 'total_elements').describe(
          'Members with the number of all items. Source: usual names.',
        ),
        counts: names('count').describe(
          'Members with the number of all items or of those in the answer: only a larger number means something. Source: usual names.',
        ),
        page: names('page', 'current_page', 'page_number').describe(
          'Members with the number of this page. Source: usual names.',
        ),
        pages: names('pages', 'total_pages', 'last_page', 'page_count', 'num_pages').describe(
          'Members with the number of all pages. Source: usual names.',
        ),
        offset: names('offset', 'skip').describe(
          'Members with the number of items before this page. Source: usual names.',
        ),
        page_size: names('limit', 'per_page', 'page_size').describe(
          'Members with the number of items of a full page. Source: usual names.',
        ),
      })
      .prefault({})
      .describe(
        'Answers that list records. How an operation is paged is set in operations. If it is not, these members show it, beside or around the list, and headers of the same names (X-Total-Count).',
      ),
    ids: z
      .enum(['as_specified', 'text', 'number'])
      .default('as_specified')
      .describe(
        'Specified: brand_id is an integer, other ids are text. text or number: every id is sent so. In answers both are read. Source: the specification.',
      ),
    limits: z
      .strictObject({
        answer_bytes: z
          .int()
          .min(1_024)
          .max(64 * 1_048_576)
          .default(1_048_576)
          .describe(
            'Maximum sizes are not shown. A larger answer is not read, and leaves the request in doubt. Source: the careful choice.',
          ),
        emails_per_call: z
          .int()
          .min(1)
          .max(10_000)
          .default(10_000)
          .describe(
            'The longest influencer_list is not shown. Larger batches are cut to it. Source: observed.',
          ),
        influencers_per_call: z
          .int()
          .min(1)
          .max(1_000)
          .default(1_000)
          .describe(
            'The longest influencer_ids is not shown. Larger batches are cut to it. Source: the careful choice.',
          ),
        pages: z
          .int()
          .min(1)
          .max(10_000)
          .default(1_000)
          .describe(
            'Pages of one list that are read; a longer list is not whole. Source: the careful choice.',
          ),
      })
      .prefault({})
      .describe('Sizes of lists and answers.'),
    operations: z
      .partialRecord(z.enum(namesOfOperations), operation)
      .prefault({
        autocomplete: { request: { q: 'q' } },
        update_deal_info: { request: { new_deal_info: 'new_deal_info' } },
        update_dealstage: { request: { dashboard_id: 'dashboard_id' } },
      })
      .describe(
        'What one operation does differently. Not shown are: the parameters of search_brands, search_dealflows, autocomplete and get_analytics_page; the members of update_deal_info besides status_update_only; which members of update_dealstage, new_influencer_click and identify_influencers_real_time are required; the records in lists. Source: observed, and the contract in docs/operations.md.',
      ),
    events: events.prefault({}).describe('How the service signs and writes its events.'),
  })
  .prefault({})
  .describe(
    'How the service does what its specification leaves open. config/service.yaml states our defaults; docs/service.md lists the points; `doctor --service` compares an account with them.',
  );

/**
 * How a real service does what its specification leaves open. A value where "our name" is a key is always a member of
 * the contract; the value is the service's name or path for it.
 */
export type ServiceDescription = z.output<typeof serviceSchema>;
export type EventDescription = ServiceDescription['events'];
export type OperationDescription = z.output<typeof operation>;
export type Paging = NonNullable<OperationDescription['paging']>;
export type StatedYes = NonNullable<OperationDescription['yes']>;
export type Sign = z.output<typeof signs>[number];

/** Our reading of the specification: the defaults of every open point. */
export const specifiedService: ServiceDescription = serviceSchema.parse({});
