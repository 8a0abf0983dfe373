import { sql } from 'kysely';
import { expect, test } from 'vitest';
import {
  and,
  beginsWith,
  type Condition,
  constant,
  equals,
  field,
  firstOf,
  isAbove,
  isByExport,
  isKnown,
  isNull,
  isOneOf,
  isSame,
  not,
  or,
  prefixed,
  rest,
  SOURCE,
  setting,
  upTo,
  ZERO,
} from '../../../../jobs/attribute-orders/decide/conditions.ts';
import { order, useDatabase } from '../../../intake/story.ts';

const database = useDatabase('a Postgres server');

const TEXTS = [null, '', 'paid', 'unknown_test', 'unknown_test:Mode=a:b', 'renewal'];
/** Amounts that are equal though they are written differently, and two that differ only beyond what a float can tell. */
const AMOUNTS = [null, '0', '0.00', '-0.0001', '10', '10.0000', '90071992547409.9301', '90071992547409.9300'];
/** Before the export, and around the 26 hours that clocks and zones may differ by. */
const EXPORTED_AT = '2026-05-01T00:00:00Z';
const TIMES = [null, '2026-04-30T00:00:00Z', '2026-05-02T02:00:00Z', '2026-05-02T02:00:01Z'];
const STATUSES = [
  { credited: 'any', notCredited: [], mayLackColumn: true },
  { credited: ['paid'], notCredited: ['', 'renewal'], mayLackColumn: false },
] as const;

const [status, exclusion, total, refunded] = [
  field('status'),
  field('exclusion'),
  field('total'),
  field('refunded'),
];
const ATOMS: readonly Condition[] = [
  SOURCE.creditsAnyStatus,
  SOURCE.mayLackStatus,
  isNull(status),
  isKnown(firstOf(status, exclusion)),
  equals(status, exclusion),
  equals(firstOf(status, constant('')), setting('paid')),
  equals(status, setting(null)),
  equals(prefixed('unknown_', constant('test')), exclusion),
  equals(prefixed('unknown_', constant('test')), upTo(exclusion, ':')),
  isOneOf(status, SOURCE.credited),
  isOneOf(status, SOURCE.notCredited),
  isOneOf(exclusion, ['renewal', 'draft']),
  isOneOf(exclusion, []),
  beginsWith(exclusion, 'unknown_'),
  isAbove(total, refunded),
  isSame(total, refunded),
  isAbove(rest(total, firstOf(refunded, ZERO)), ZERO),
  isByExport(field('placedAt')),
];

test('a condition has the same answer, true, false or unknown, in Postgres and in a preview, however conditions are nested', async () => {
  let seed = 7;
  const pick = <T>(list: readonly T[]): T => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return list[Math.floor((seed / 2 ** 31) * list.length)] as T;
  };
  const nested = (depth: number): Condition => {
    const kind = depth === 0 ? 'atom' : pick(['atom', 'and', 'or', 'not'] as const);
    if (kind === 'atom') return pick(ATOMS);
    if (kind === 'not') return not(nested(depth - 1));
    return (kind === 'and' ? and : or)(nested(depth - 1), nested(depth - 1), nested(depth - 1));
  };
  const about = (status: string | null, exclusion: string | null, amounts: readonly (string | null)[]) => {
    const [total = null, refunded = null] = amounts;
    const given = { status, exclusion, total, refunded, placedAt: pick(TIMES) };
    return { statuses: pick(STATUSES), exportedAtMs: Date.parse(EXPORTED_AT), order: order('1', given) };
  };
  const pairs = AMOUNTS.flatMap((one) => AMOUNTS.map((other) => [one, other]));
  const asked = [
    ...ATOMS.flatMap((condition) =>
      pairs.map((pair, at) => ({
        condition,
        ...about(TEXTS[at % 5] ?? null, TEXTS[Math.floor(at / 5) % 5] ?? null, pair),
      })),
    ),
    ...Array.from({ length: 400 }, () => ({
      condition: nested(3),
      ...about(pick(TEXTS), pick(TEXTS), pick(pairs)),
    })),
  ];
  const answers = new Map<number, boolean | null>();
  for (let from = 0; from < asked.length; from += 100) {
    const part = asked.slice(from, from + 100).map(
      ({ condition, order: o, statuses: s }, at) => sql`
      select ${from + at}::integer as at, (${condition.sql}) as answer
      from (select ${o.status}::text as status, ${o.exclusion}::text as exclusion, ${o.total}::numeric(18,4) as total,
        ${o.refunded}::numeric(18,4) as refunded, ${o.placedAt}::timestamptz as placed_at) o,
        (select ${EXPORTED_AT}::timestamptz as exported_at, ${s.credited === 'any'}::boolean as any_status, ${s.mayLackColumn}::boolean as no_status,
          ${s.credited === 'any' ? [] : [...s.credited]}::text[] as credited, ${[...s.notCredited]}::text[] as not_credited) f`,
    );
    const { rows } = await sql<{
      at: number;
      answer: boolean | null;
    }>`${sql.join(part, sql` union all `)}`.execute(database());
    for (const { at, answer } of rows) answers.set(at, answer);
  }
  const differing = asked.flatMap(({ condition, ...about }, at) =>
    condition.read(about) === answers.get(at)
      ? []
      : [`${at}: ${condition.read(about)}, in Postgres ${answers.get(at)}`],
  );
  expect(differing).toEqual([]);
  expect(new Set(answers.values())).toEqual(new Set([true, false, null]));
});
