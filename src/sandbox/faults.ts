import { z } from 'zod';
import { type OperationName, operationNames } from '../service/contract.ts';
import { seededRandom } from './random-id.ts';

/** The fault that is applied to one request. */
export type Mishap = {
  /** Delay of the answer; 0 if there is none. */
  readonly latencyMs: number;
  /** The rule that is played; null if there is only a delay. */
  readonly rule: FaultRule | null;
  readonly isProcessed: boolean;
};

/** The parts of a request that rules match. */
export type FaultyRequest = {
  readonly operation: OperationName | null;
  readonly path: string;
  readonly query: unknown;
  /** The parsed JSON body. */
  readonly body: unknown;
};

export type FaultPlan = {
  add(rules: readonly FaultRule[]): void;
  clear(): void;
  /** The active rules, and how often each was played. */
  list(): readonly (FaultRule & { readonly played: number })[];
  /**
   * Decides which fault one request gets; null for none. The same seed and sequence of requests give the same
   * faults.
   */
  decide(request: FaultyRequest): Mishap | null;
};

type ArmedRule = { readonly rule: FaultRule; readonly random: () => number; passed: number; played: number };

/** @param latencyMs delay of every request, in addition to the rules. */
export function createFaultPlan(seed: string, latencyMs: number): FaultPlan {
  let armed: ArmedRule[] = [];

  function fires(one: ArmedRule): boolean {
    const { rule } = one;
    one.passed += 1;
    // By default only once: going down at each request after a restart would never end.
    const limit = rule.count ?? (rule.kind === 'refuse' ? 1 : Number.POSITIVE_INFINITY);
    if (one.passed <= rule.after || one.played >= limit) return false;
    if (rule.probability < 1 && one.random() >= rule.probability) return false;
    one.played += 1;
    return true;
  }

  return {
    add(rules) {
      const more = rules.map((rule, index) => ({
        rule,
        random: seededRandom(`${rule.seed ?? seed}/${armed.length + index}`),
        passed: 0,
        played: 0,
      }));
      armed = [...armed, ...more];
    },
    clear() {
      armed = [];
    },
    list: () => armed.map(({ rule, played }) => ({ ...rule, played })),
    decide({ operation, path, query, body }) {
      if (armed.length === 0 && latencyMs === 0) return null;
      let delayMs = latencyMs;
      let chosen: FaultRule | null = null;
      for (const one of armed) {
        const { rule } = one;
        if (rule.operation !== undefined && rule.operation !== operation) continue;
        if (rule.path !== undefined && rule.path !== path) continue;
        if (rule.match?.query !== undefined && !includes(query, rule.match.query)) continue;
        if (rule.match?.body !== undefined && !includes(body, rule.match.body)) continue;
        if (rule.kind === 'latency') delayMs += fires(one) ? (rule.ms ?? 0) : 0;
        else if (chosen === null && fires(one)) chosen = rule;
      }
      if (chosen === null)
        return delayMs === 0 ? null : { latencyMs: delayMs, rule: null, isProcessed: true };
      return { latencyMs: delayMs, rule: chosen, isProcessed: chosen.processed ?? FAULT_KINDS[chosen.kind] };
    },
  };
}

/**
 * @returns true if the value matches the wanted one. An object may have additional members, a list may not.
 */
function includes(value: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return value === wanted;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(wanted) && (!Array.isArray(value) || value.length !== wanted.length)) return false;
  return Object.entries(wanted).every(
    ([name, member]) => Object.hasOwn(value, name) && includes(value[name as keyof typeof value], member),
  );
}

/**
 * The forms that services use for an error message, each as the body of an answer. Section Errors shows the
 * first two.
 */
export const ERROR_FORMS = {
  message: (text: string): unknown => ({ message: text }),
  error: (text: string): unknown => ({ error: text }),
  'error.message': (text: string): unknown => ({ error: { message: text } }),
  error_message: (text: string): unknown => ({ error_message: text }),
  errors: (text: string): unknown => ({ errors: [text] }),
  'errors.message': (text: string): unknown => ({ errors: [{ message: text }] }),
  /** Plain text, like a proxy's answer. */
  not_json: (text: string): string => text,
} as const;

export type ErrorForm = keyof typeof ERROR_FORMS;

/** The kinds of faults. The value is whether the request is processed, unless the rule says otherwise. */
export const FAULT_KINDS = {
  /** Delays the answer by `ms`. Can be combined with another fault. */
  latency: true,
  /** Stops listening for `ms` (default: 1 s), so that connections are refused. */
  refuse: false,
  /** Resets the connection instead of answering. */
  reset_before: false,
  reset_after: true,
  /** Never answers. Closes the connection after `ms` if given. */
  stall_before: false,
  stall_after: true,
  /** Sends the headers and half of the body, then nothing. */
  stall_body: true,
  /** Sends the headers and half of the body, then closes the connection. */
  cut_body: true,
  /** Answers with `status` (default: 500) and `text` in the form `form`. */
  error_before: false,
  error_after: true,
  /** Answers 429 with `retry_after` and an error text. */
  '429': false,
  /** Refuses the key with `status` (default: 401). */
  '401': false,
  /** Redirects to another path with `status` (default: 302). */
  redirect: false,
  /** Answers with an HTML page and `status` (default: 200). */
  html: false,
  /** Answers with `body`, `headers` and `status` (default: 200). */
  canned: false,
  /** Answers without a body and with `status` (default: 200). */
  empty: false,
} as const satisfies Record<string, boolean>;

export type FaultKind = keyof typeof FAULT_KINDS;

const kinds = Object.keys(FAULT_KINDS) as [FaultKind, ...FaultKind[]];
const forms = Object.keys(ERROR_FORMS) as [ErrorForm, ...ErrorForm[]];
const names = operationNames as readonly [OperationName, ...OperationName[]];

export const faultRule = z.strictObject({
  kind: z.preprocess((kind) => (typeof kind === 'number' ? String(kind) : kind), z.enum(kinds)),
  /** Applies only to this operation. Without it and without `path`, the rule applies to all requests. */
  operation: z.enum(names).optional(),
  path: z.string().startsWith('/').optional(),
  /**
   * Applies only to requests whose query and JSON body contain these members. Objects may have additional
   * members.
   */
  match: z
    .strictObject({ query: z.record(z.string(), z.string()).optional(), body: z.unknown().optional() })
    .optional(),
  /** Probability from 0 to 1. Default: 1. */
  probability: z.number().min(0).max(1).default(1),
  /** How often the rule plays. Default: no limit, or once for `refuse`. */
  count: z.int().min(1).optional(),
  /** Number of matching requests to let pass first. */
  after: z.int().min(0).default(0),
  ms: z.int().min(0).max(86_400_000).optional(),
  status: z.int().min(200).max(599).optional(),
  text: z.string().max(10_000).optional(),
  /** The body of a canned answer, as JSON. Text is sent unchanged. */
  body: z.unknown().optional(),
  headers: z.record(z.string().regex(/^[\w-]+$/), z.string().regex(/^[\t\x20-\x7e]*$/)).optional(),
  /** The form of an error. Default: `message`. */
  form: z.enum(forms).optional(),
  /**
   * Value of `Retry-After`: seconds, text that is sent unchanged, or `date:<seconds>` for an HTTP date that
   * many seconds from now. Without it, the header is not sent.
   */
  retry_after: z.union([z.int().min(0), z.string()]).optional(),
  /** Seed of the rule's random decisions. Default: the sandbox's. */
  seed: z.union([z.string(), z.int()]).optional(),
  /** Whether the request is processed; overrides the default of the kind. */
  processed: z.boolean().optional(),
});

export type FaultRule = z.output<typeof faultRule>;
export type FaultRuleInput = z.input<typeof faultRule>;

/**
 * The body of `POST /_sandbox/faults`: a list of rules, an object with such a list as `rules`, or one rule.
 */
const postedRules = z.union([
  z.array(faultRule),
  z.strictObject({ rules: z.array(faultRule) }).transform(({ rules }) => rules),
  faultRule.transform((rule) => [rule]),
]);

export type ReadRules =
  | { readonly kind: 'rules'; readonly rules: readonly FaultRule[] }
  | { readonly kind: 'problems'; readonly issues: readonly z.core.$ZodIssue[] };

/** Reads posted rules. Problems are reported for the one of the three forms that was meant. */
export function readFaultRules(posted: unknown): ReadRules {
  const read = postedRules.safeParse(posted);
  if (read.success) return { kind: 'rules', rules: read.data };
  const isObject = typeof posted === 'object' && posted !== null;
  const meant = Array.isArray(posted) ? 0 : isObject && 'rules' in posted ? 1 : 2;
  const [issue] = read.error.issues;
  const issues = issue?.code === 'invalid_union' ? (issue.errors[meant] ?? []) : read.error.issues;
  return { kind: 'problems', issues };
}

/**
 * Parses the value of `--fault`, for example `reset_after:probability=0.1,operation=new_influencer_referral`.
 */
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
