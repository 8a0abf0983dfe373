import type { OperationName } from '../../service/contract.ts';
import { seededRandom } from '../random-id.ts';
import { FAULT_KINDS, type FaultRule } from './fault-rule.ts';

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
