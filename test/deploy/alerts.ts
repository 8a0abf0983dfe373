import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const ROOT = new URL('../../', import.meta.url);

const Annotations = z.strictObject({ summary: z.string(), description: z.string(), runbook: z.string() });
const Alert = z.strictObject({
  alert: z.string().regex(/^InfluencerSync[A-Z]\w+$/),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
  annotations: Annotations,
});
const Recording = z.strictObject({ record: z.string(), expr: z.string() });
const Rules = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      interval: z.string().optional(),
      rules: z.array(z.union([Alert, Recording])),
    }),
  ),
});

export type Alert = z.output<typeof Alert>;

/** Reads the alerts and recording rules of deploy/prometheus/rules.yaml. */
export function readRules(): {
  readonly alerts: readonly Alert[];
  readonly recordings: readonly z.output<typeof Recording>[];
} {
  const text = readFileSync(new URL('deploy/prometheus/rules.yaml', ROOT), 'utf8');
  const rules = Rules.parse(parse(text)).groups.flatMap((group) => group.rules);
  return {
    alerts: rules.filter((rule) => 'alert' in rule),
    recordings: rules.filter((rule) => 'record' in rule),
  };
}
