import { expect, test } from 'vitest';
import { z } from 'zod';
import { explainIssues } from '../../src/service/explain-issues.ts';

const Schema = z.strictObject({
  order_id: z.string().min(1),
  revenue: z.number().min(0),
  count: z.int().max(5).optional(),
  platform: z.enum(['shopify', 'other']),
  tags: z.array(z.string().max(3)).max(2).optional(),
  id: z.union([z.string(), z.number()]).optional(),
  place: z.union([z.string(), z.object({ id: z.number() })]).optional(),
});

const GOOD = { order_id: '1', revenue: 1, platform: 'other' };

test.each([
  [{ ...GOOD, order_id: 5 }, 'order_id: should be text, not a number'],
  [{ ...GOOD, order_id: '' }, 'order_id: is empty'],
  [{ revenue: 1, platform: 'other' }, 'order_id: is missing'],
  [{ ...GOOD, revenue: '12' }, 'revenue: should be a number, not text'],
  [{ ...GOOD, revenue: -1 }, 'revenue: should be at least 0'],
  [{ ...GOOD, count: 1.5 }, 'count: should be a whole number'],
  [{ ...GOOD, count: 6 }, 'count: should be at most 5'],
  [{ ...GOOD, platform: 'mine' }, 'platform: should be one of: shopify, other'],
  [{ ...GOOD, tags: ['long text'] }, 'tags.0: should have at most 3 characters'],
  [{ ...GOOD, tags: ['a', 'b', 'c'] }, 'tags: should have at most 2 items'],
  [{ ...GOOD, id: true }, 'id: should be text, not true or false, or should be a number, not true or false'],
  [{ ...GOOD, place: { id: 'x' } }, 'place.id: should be a number, not text'],
  [{ ...GOOD, odrer: 1, note: 2 }, 'odrer: is not known; note: is not known'],
  [[], 'the value should be an object, not a list'],
])('the issues of %j are explained as "%s"', (value, text) => {
  const read = Schema.safeParse(value);
  expect(explainIssues(read.error?.issues ?? [])).toBe(text);
});
