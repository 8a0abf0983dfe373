import { z } from 'zod';
import { type OperationName, operationNames } from '../../api/contract.ts';
import { ERROR_FORMS, type ErrorForm } from './error-form.ts';

/** What can go wrong, and whether the request is processed all the same when the rule does not say. */
export const FAULT_KINDS = {
  /** Answers `ms` later. Goes together with another fault. */
  latency: true,
  /** Nothing listens for `ms` (1 s if not given): connections are refused. */
  refuse: false,
  /** The connection is reset instead of an answer. */
  reset_before: false,
  reset_after: true,
  /** No answer ever comes; after `ms`, if given, the connection is closed. */
  stall_before: false,
  stall_after: true,
  /** Headers and half of the body, then nothing more. */
  stall_body: true,
  /** Headers and half of the body, then the connection is closed. */
  cut_body: true,
  /** `status`, 500 if not given, with `text` in the form of `form`. */
  error_before: false,
  error_after: true,
  /** 429 with `retry_after`, and its text as an error's. */
  '429': false,
  /** The key is refused; `status`, 401 if not given. */
  '401': false,
  /** `status`, 302 if not given, to another path. */
  redirect: false,
  /** A page for people; `status`, 200 if not given. */
  html: false,
  /** `body` and `headers`, whatever they are; `status`, 200 if not given. */
  canned: false,
  /** No body; `status`, 200 if not given. */
  empty: false,
} as const satisfies Record<string, boolean>;

export type FaultKind = keyof typeof FAULT_KINDS;

const kinds = Object.keys(FAULT_KINDS) as [FaultKind, ...FaultKind[]];
const forms = Object.keys(ERROR_FORMS) as [ErrorForm, ...ErrorForm[]];
const names = operationNames as readonly [OperationName, ...OperationName[]];

export const faultRule = z.strictObject({
  kind: z.preprocess((kind) => (typeof kind === 'number' ? String(kind) : kind), z.enum(kinds)),
  /** Only requests of this operation; without it and without `path`, all. */
  operation: z.enum(names).optional(),
  path: z.string().startsWith('/').optional(),
  /** Only requests that have these members in their query and in their JSON body; objects may have more. */
  match: z
    .strictObject({ query: z.record(z.string(), z.string()).optional(), body: z.unknown().optional() })
    .optional(),
  /** 0 to 1; 1 if not given. */
  probability: z.number().min(0).max(1).default(1),
  /** Plays so many times, then no more; without it, always (`refuse`: once). */
  count: z.int().min(1).optional(),
  /** Lets so many matching requests pass first. */
  after: z.int().min(0).default(0),
  ms: z.int().min(0).max(86_400_000).optional(),
  status: z.int().min(200).max(599).optional(),
  /** What the service says, where the fault is an error. */
  text: z.string().max(10_000).optional(),
  /** What a canned answer is, as JSON; a text is sent as it is. */
  body: z.unknown().optional(),
  headers: z.record(z.string().regex(/^[\w-]+$/), z.string().regex(/^[\t\x20-\x7e]*$/)).optional(),
  /** How it says it; in `message` if not given. */
  form: z.enum(forms).optional(),
  /** Sent as `Retry-After`: seconds, text as it is, or `date:<seconds>` for an HTTP date so far from now. Absent: no header. */
  retry_after: z.union([z.int().min(0), z.string()]).optional(),
  /** Of the decisions; the sandbox's own if not given. */
  seed: z.union([z.string(), z.int()]).optional(),
  /** Whether the request is processed, where the kind would say otherwise. */
  processed: z.boolean().optional(),
});

export type FaultRule = z.output<typeof faultRule>;
export type FaultRuleInput = z.input<typeof faultRule>;

/** What `POST /_sandbox/faults` takes: a list of rules, by itself or as `rules`, or one rule. */
const postedRules = z.union([
  z.array(faultRule),
  z.strictObject({ rules: z.array(faultRule) }).transform(({ rules }) => rules),
  faultRule.transform((rule) => [rule]),
]);

export type ReadRules =
  | { readonly kind: 'rules'; readonly rules: readonly FaultRule[] }
  | { readonly kind: 'problems'; readonly issues: readonly z.core.$ZodIssue[] };

/** Reads what was posted. Of the three forms, only the one that was meant explains what is wrong. */
export function readFaultRules(posted: unknown): ReadRules {
  const read = postedRules.safeParse(posted);
  if (read.success) return { kind: 'rules', rules: read.data };
  const isObject = typeof posted === 'object' && posted !== null;
  const meant = Array.isArray(posted) ? 0 : isObject && 'rules' in posted ? 1 : 2;
  const [issue] = read.error.issues;
  const issues = issue?.code === 'invalid_union' ? (issue.errors[meant] ?? []) : read.error.issues;
  return { kind: 'problems', issues };
}

/** Reads `--fault reset_after:probability=0.1,operation=new_influencer_referral`. */
export function parseFaultFlag(text: string): ReadRules {
  const colon = text.indexOf(':');
  const kind = colon === -1 ? text : text.slice(0, colon);
  const settings = colon === -1 ? [] : text.slice(colon + 1).split(',');
  const entries = settings.map((setting) => {
    const [name = '', ...value] = setting.split('=');
    return [name.trim(), readValue(value.join('=').trim())] as const;
  });
  return readFaultRules({ ...Object.fromEntries(entries), kind });
}

function readValue(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}
