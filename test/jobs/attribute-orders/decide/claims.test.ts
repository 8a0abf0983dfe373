import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { storeRulings } from '../../../../jobs/attribute-orders/decide/rulings.ts';
import { inTransaction } from '../../../../src/db/in-transaction.ts';
import { ENGINES, openShop, order, useDatabase } from '../../../intake/story.ts';
import { makeTestFolder } from '../../../support/setup.ts';
import { type Context, type Given, openContext } from './story.ts';

const CODES = [
  'MIRA,,@mira.glow,D1,,,',
  'NOOR,,noor,D2,,,',
  'PAST,,pia,D3,,,2026-04-09',
  'ELSEWHERE,777,olga,D9,,,',
  'TWICE,,mira.glow,D1,,,',
  'TWICE,,noor,D2,,,',
].join('\n');

const NOTED: readonly (readonly [string, Given, readonly string[]])[] = [
  [
    'a link before a code, however the job decides',
    { links: ['noor'], codes: ['MIRA'] },
    ['1 link noor deal:D2', '2 code MIRA deal:D1'],
  ],
  [
    'codes as the export writes them',
    { codes: ['NOOR', 'MIRA'] },
    ['1 code NOOR deal:D2', '2 code MIRA deal:D1'],
  ],
  [
    'one code of two owners at one place',
    { codes: ['TWICE'] },
    ['1 code TWICE deal:D1', '1 code TWICE deal:D2'],
  ],
  [
    'what the export names before a code',
    { dealId: 'D7', codes: ['MIRA'] },
    ['0 explicit D7 deal:D7', '1 code MIRA deal:D1'],
  ],
  [
    'a collaboration that the export names, under its own id',
    { collabId: 'C7', influencerHandle: 'zoe', codes: ['MIRA'] },
    ['0 explicit C7 collab:C7', '1 code MIRA deal:D1'],
  ],
  [
    'a handle that the export names, however written',
    { influencerHandle: '@Zoe', links: ['mira'] },
    ['0 explicit @Zoe handle:zoe', '1 link mira deal:D1'],
  ],
  [
    'several links before several codes, in their order',
    { links: ['noor', 'mira'], codes: ['MIRA', 'NOOR'] },
    ['1 link noor deal:D2', '2 link mira deal:D1', '3 code MIRA deal:D1', '4 code NOOR deal:D2'],
  ],
  [
    'what an order that is held names',
    { codes: ['MIRA', 'NOOR'], doubt: 'incomplete' },
    ['1 code MIRA deal:D1', '2 code NOOR deal:D2'],
  ],
  ['nothing where all is of one owner', { dealId: 'D1', codes: ['MIRA'], links: ['mira'] }, []],
  ['nothing of a code that was no longer valid', { codes: ['MIRA', 'PAST'] }, []],
  ['nothing of a code of another brand', { codes: ['MIRA', 'ELSEWHERE'] }, []],
  ['nothing of an order that is never credited', { codes: ['MIRA', 'NOOR'], exclusion: 'test' }, []],
];

async function claims({ db, job }: Context): Promise<readonly string[]> {
  const { rows } = await sql<{ claim: string }>`
    select place || ' ' || kind || ' ' || written || ' ' || target as claim from intake.order_claims where job = ${job} order by place, target`.execute(
    db,
  );
  return rows.map(({ claim }) => claim);
}

const claimed = ({ db, job }: Context) =>
  sql`
    select source, order_id, place, kind, written, target, influencer_handle, deal_id, collab_id
    from intake.order_claims where job = ${job} order by order_id, place`.execute(db);

describe.each(ENGINES)(
  'for an order with evidence for several owners, on %s, attribution records',
  (engine) => {
    const database = useDatabase(engine);
    const newContext = () => {
      const path = join(makeTestFolder(), 'codes.csv');
      return openContext(database(), { path, writeCodes: (text) => writeFileSync(path, text) });
    };

    test.each(NOTED.map(([title, given, expected]) => ({ title, given, expected })))(
      '$title',
      async ({ given, expected }) => {
        const context = await newContext();
        await context.read({ orders: [order('1', given)] });
        await context.attribute({ codes: CODES });
        expect(await claims(context)).toEqual(expected);
      },
    );

    test('its claims of one job, whatever another job with the source decides', async () => {
      const shop = await openShop(database());
      const open = (job: string) => {
        const path = join(makeTestFolder(), 'codes.csv');
        const writeCodes = (text: string) => writeFileSync(path, text);
        return openContext(database(), { path, writeCodes, job, shops: [shop] });
      };
      const [one, other] = [await open(shop.source), await open(`another ${shop.source}`)];
      await shop.read({ orders: [order('1', { codes: ['NOOR', 'MIRA'] })] });
      await one.attribute({ codes: CODES });
      const before = await claims(one);
      expect(before).toHaveLength(2);
      const { rows: stored } = await claimed(one);
      await other.attribute({ codes: 'NOOR,,eve,D7,C7,,\nX,,ben,D8,C8,,\nY,,ben,D8,C8,,' });
      expect([await claims(one), await claims(other)]).toEqual([before, []]);
      await one.attribute({ codes: `${CODES}\nX,,mia,,,,` });
      expect((await claimed(one)).rows, 'decided anew').toEqual(stored);
    });

    test('with every identifier of their owners, for this order alone, and as they were if it is excluded later', async () => {
      const context = await newContext();
      const both = { codes: ['NOOR', 'MIRA'], links: [] };
      await context.read({
        orders: [order('1', { ...both, collabId: 'C7' }), order('2', { codes: ['NOOR'] })],
      });
      await context.attribute({ codes: CODES });
      const stored = async () => (await claimed(context)).rows;
      const of = { source: context.source, order_id: '1', collab_id: null };
      const named = { influencer_handle: null, deal_id: null, collab_id: 'C7' };
      const expected = [
        { ...of, place: 0, kind: 'explicit', written: 'C7', target: 'collab:C7', ...named },
        {
          ...of,
          place: 1,
          kind: 'code',
          written: 'NOOR',
          target: 'deal:D2',
          influencer_handle: 'noor',
          deal_id: 'D2',
        },
        {
          ...of,
          place: 2,
          kind: 'code',
          written: 'MIRA',
          target: 'deal:D1',
          influencer_handle: '@mira.glow',
          deal_id: 'D1',
        },
      ];
      expect(await stored()).toEqual(expected);
      await context.read({
        orders: [order('1', { ...both, collabId: 'C7', exclusion: 'test' }), order('3', both)],
      });
      await context.attribute();
      expect(await stored()).toEqual([
        ...expected,
        { ...expected[1], order_id: '3' },
        { ...expected[2], order_id: '3' },
      ]);
    });

    test('nothing of a code with a period if the order is dated after its own export', async () => {
      const context = await newContext();
      await context.read({ orders: [order('1', { codes: ['MIRA', 'SOON'] })] });
      const dated = (day: string) =>
        sql`update intake.source_files set modified_at = ${day} where source = ${context.source}`.execute(
          context.db,
        );
      await dated('2026-04-01');
      const codes = 'MIRA,,mira,D1,,,\nSOON,,noor,D2,,,2027-01-01';
      await context.attribute({ codes });
      expect(await claims(context)).toEqual([]);
      await dated('2026-04-11');
      await context.attribute({ codes: `${codes}\nX,,x,,,,` });
      expect(await claims(context)).toEqual(['1 code MIRA deal:D1', '2 code SOON deal:D2']);
    });

    test('codes with a period of an order without a time only once a person has confirmed it', async () => {
      const context = await newContext();
      await context.read({ orders: [order('1', { codes: ['MIRA', 'SOON'], placedAt: null })] });
      const codes = 'MIRA,,mira,D1,,,2027-01-01\nSOON,,noor,D2,,,2027-01-01';
      await context.attribute({ codes });
      expect(await claims(context)).toEqual([]);
      const subject = { source: context.source, orderId: '1', reason: 'unknown_time', contentHash: null };
      await inTransaction(context.db, (trx) =>
        storeRulings(trx, { subjects: [subject], decision: 'credit', decidedBy: 'tester' }),
      );
      await context.attribute();
      expect(await claims(context)).toEqual(['1 code MIRA deal:D1', '2 code SOON deal:D2']);
    });

    test('updated claims after the codes have changed, even if the decision stays the same', async () => {
      const context = await newContext();
      await context.read({ orders: [order('1', { links: ['mira'], codes: ['NOOR'] })] });
      await context.attribute({ codes: 'NOOR,,noor,D2,,,' });
      expect(await claims(context)).toEqual([]);
      expect(await context.attribute({ codes: CODES })).toBe(0);
      expect(await claims(context)).toEqual(['1 link mira deal:D1', '2 code NOOR deal:D2']);
      await context.attribute({ codes: 'NOOR,,noor,D2,,,' });
      expect(await claims(context)).toEqual([]);
    });
  },
);
