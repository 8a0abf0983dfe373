import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { namesOfOperations } from '../../src/service/contract/operation-names.ts';
import { serviceSchema, specifiedService } from '../../src/service/description/schema.ts';
import { startTestSandbox } from '../sandbox/start-test-sandbox.ts';
import { type Result, type Step, take } from './tour.ts';

/*
 * Services that do differently what the specification leaves open: one file each in variants/. The sandbox plays the
 * service. With its description, every step must come to what `described` says (by default `ok`). Without it, every
 * step must fail clearly or cope (`otherwise`), and in no case may it end in something wrong that looks right.
 */

const results = z.record(z.string(), z.string());
const variant = z.strictObject({
  what: z.string(),
  steps: z.array(z.string()),
  /** How the service works, and its description. */
  service: z.unknown().optional(),
  /** Answers of the service in place of the sandbox's. Such requests are not processed. */
  answers: z
    .partialRecord(z.enum(namesOfOperations), z.strictObject({ status: z.int(), body: z.unknown() }))
    .default({}),
  described: results.default({}),
  /** `same`: as described. Omitted: only that nothing is wrong. */
  otherwise: z.union([z.literal('same'), results]).optional(),
});
type Variant = z.output<typeof variant>;

const FOLDER = new URL('variants/', import.meta.url);
const variants = readdirSync(FOLDER).map(
  (file) =>
    [file.replace('.yaml', ''), variant.parse(parse(readFileSync(new URL(file, FOLDER), 'utf8')))] as const,
);

async function visit(
  { steps, service, answers }: Variant,
  isDescribed: boolean,
): Promise<Record<string, Result>> {
  const played = serviceSchema.parse(service ?? {});
  const found: Record<string, Result> = {};
  for (const step of steps as readonly Step[]) {
    const sandbox = await startTestSandbox({
      service: played,
      allowPrivateWebhooks: true,
      identifyDelayMs: 0,
      webhookSecret: 'c2lnbmluZyBzZWNyZXQ=',
      faults: Object.entries(answers).map(([operation, { status, body }]) => ({
        kind: 'canned',
        operation: operation as keyof typeof answers,
        status,
        body,
      })),
    });
    const place = { sandbox, service: isDescribed ? played : specifiedService };
    found[step] = await take(step, place).catch((error: Error) => `error: ${error.message}`);
  }
  return found;
}

/** What each step is expected to come to; null if only that it is not wrong. */
function expectedOf({ steps, described, otherwise }: Variant, isDescribed: boolean) {
  const asDescribed = Object.fromEntries(steps.map((step) => [step, described[step] ?? 'ok']));
  if (isDescribed || otherwise === 'same') return asDescribed;
  return otherwise ?? {};
}

describe.each(variants)('a service with %s', (_name, one) => {
  test(`${one.what} Described, it is used as it is.`, async () => {
    expect(await visit(one, true)).toEqual(expectedOf(one, true));
  });

  test(`${one.what} Without a description, nothing is silently wrong.`, async () => {
    const found = await visit(one, false);
    expect(Object.values(found).filter((result) => result.startsWith('wrong'))).toEqual([]);
    expect(found).toMatchObject(expectedOf(one, false));
  });
});

test('there are at least 58 such services', () => {
  expect(variants.length).toBeGreaterThanOrEqual(58);
});
