import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { decideByRule } from '../../../../jobs/attribute-orders/decide/decide-by-rule.ts';
import {
  type AttributeOrdersOptions,
  decide,
  decideOrders,
} from '../../../../jobs/attribute-orders/decide/decide-orders.ts';
import {
  type AttributionRules,
  filesToAttribute,
} from '../../../../jobs/attribute-orders/decide/decisions.ts';
import { inTransaction } from '../../../../src/db/in-transaction.ts';
import { ENGINES, openShop, order, useDatabase } from '../../../intake/story.ts';
import { makeTestFolder } from '../../../support/setup.ts';
import { ACCOUNT, type AttributeGiven, decisions, type Given, openContext } from './story.ts';

/** The decision about a single order. Codes: mira owns MIRA and old and future codes, noor owns NOOR. */
const CODES = [
  'MIRA,,@mira.glow,D1,,,',
  'GLOW 5,,mira.glow,D1,,,',
  'NOOR,,noor,,,,',
  'PIA,,pia,D3,,,',
  'PIA5,,Pia,D3,,,2026-04-01',
  'PAST,,mira.glow,D1,,,2026-04-09',
  'FUTURE,,mira.glow,D1,,2026-04-11,',
  'ELSEWHERE,777,olga,D9,,,',
  'BOTH,,mira.glow,D1,,,2026-04-10',
  'BOTH,,noor,D2,,2026-04-11,',
  'TWICE,,mira.glow,D1,,,',
  'TWICE,,noor,D2,,,',
].join('\n');

const RULES: readonly (readonly [string, Given, string, AttributeGiven?])[] = [
  ['an exclusion of the layout comes first', { exclusion: 'test', codes: ['MIRA'] }, 'excluded test'],
  ['a draft, unless the job says otherwise', { exclusion: 'draft', codes: ['MIRA'] }, 'excluded draft'],
  [
    'a draft, where the job credits drafts',
    { exclusion: 'draft', dealId: 'D7' },
    'attributed explicit D7 → deal:D7',
    { creditsDrafts: true },
  ],
  [
    'another exclusion, where the job credits drafts',
    { exclusion: 'cancelled', dealId: 'D7' },
    'excluded cancelled',
    { creditsDrafts: true },
  ],
  [
    'a renewal of a subscription is an order like any other',
    { exclusion: 'renewal', dealId: 'D7' },
    'attributed explicit D7 → deal:D7',
  ],
  [
    'a renewal, where the job excludes renewals',
    { exclusion: 'renewal', dealId: 'D7' },
    'excluded renewal',
    { creditsRenewals: false },
  ],
  [
    'a status that is not credited',
    { status: 'pending', codes: ['MIRA'] },
    'excluded status_pending',
    { credited: ['paid'], notCredited: ['pending'] },
  ],
  [
    'a status that nobody knows',
    { status: 'shipped', codes: ['MIRA'] },
    'held unknown_status MIRA',
    { credited: ['paid'], notCredited: ['pending'] },
  ],
  [
    'no status at all',
    { status: null, dealId: 'D7' },
    'held unknown_status D7',
    { credited: ['paid'], notCredited: ['pending'] },
  ],
  [
    'no status at all, where the job counts every status',
    { status: null, dealId: 'D7' },
    'attributed explicit D7 → deal:D7',
  ],
  [
    'no status, where the format has no column of it',
    { status: null, dealId: 'D7' },
    'attributed explicit D7 → deal:D7',
    { credited: ['paid'], mayLackColumn: true },
  ],
  [
    'a blank status, where the format may lack the column',
    { status: '', dealId: 'D7' },
    'held unknown_status D7',
    { credited: ['paid'], mayLackColumn: true },
  ],
  [
    'a status that the source does not credit, where the job counts every status',
    { status: 'pending', dealId: 'D7' },
    'attributed explicit D7 → deal:D7',
    { credited: 'any', notCredited: ['pending', ''] },
  ],
  [
    'a blank status that the source does not credit, where the job counts every status',
    { status: '', dealId: 'D7' },
    'attributed explicit D7 → deal:D7',
    { credited: 'any', notCredited: ['pending', ''] },
  ],
  [
    'a status that nobody knows, of an order that names no owner',
    { status: null },
    'organic',
    { credited: ['paid'] },
  ],
  [
    'a status that nobody knows, of a cancelled order',
    { status: null, cancelledAt: '2026-04-11T00:00:00Z', dealId: 'D7' },
    'excluded cancelled',
    { credited: ['paid'] },
  ],
  [
    'a time of cancellation, without a rule of the layout',
    { cancelledAt: '2026-04-11T00:00:00Z', dealId: 'D7' },
    'excluded cancelled',
  ],
  [
    'a word that the layout does not know in a column that may exclude',
    { exclusion: 'unknown_test', dealId: 'D7' },
    'held unknown_test D7',
  ],
  ['an order that may not be whole', { doubt: 'incomplete', dealId: 'D7' }, 'held incomplete D7'],
  [
    'no amount for the rule',
    { subtotal: null, codes: ['MIRA'] },
    'held unknown_amount MIRA',
    { revenue: 'subtotal' },
  ],
  [
    'a subtotal above the total',
    { total: '10.00', subtotal: '12.00', codes: ['MIRA'] },
    'held unknown_amount MIRA',
    { revenue: 'subtotal' },
  ],
  [
    'a deal of another creator than the export names',
    { dealId: 'D1', influencerHandle: 'noor' },
    'held deal_of_another D1',
  ],
  [
    'a deal of the creator whom the export names',
    { dealId: 'D1', influencerHandle: '@Mira.Glow' },
    'attributed explicit D1 → deal:D1',
  ],
  ['nothing paid', { total: '0.00', codes: ['MIRA'] }, 'excluded zero_revenue'],
  ['less than nothing paid', { total: '-1.00', codes: ['MIRA'] }, 'excluded negative_revenue'],
  [
    'less than nothing, called cancelled: it lowers no order, whatever it is called',
    { total: '-1.00', exclusion: 'cancelled', status: 'storno' },
    'excluded negative_revenue',
    { credited: ['paid'], notCredited: ['storno'] },
  ],
  [
    'less than nothing, by a rule of its own',
    { total: '-1.00', exclusion: 'refund_row' },
    'excluded refund_row',
  ],
  [
    'all paid back',
    { refunded: '10.00', codes: ['MIRA'] },
    'excluded fully_refunded',
    { revenue: 'total_less_refunds' },
  ],
  ['all paid back, whatever the revenue is', { refunded: '10.00', dealId: 'D7' }, 'excluded fully_refunded'],
  [
    'a refund below zero',
    { refunded: '-3.00', dealId: 'D7' },
    'held refund_out_of_range D7',
    { revenue: 'total_less_refunds' },
  ],
  ['a refund above the total', { refunded: '10.01', dealId: 'D7' }, 'held refund_out_of_range D7'],
  [
    'a refund above the total, whatever the revenue is',
    { refunded: '10.01', dealId: 'D7' },
    'held refund_out_of_range D7',
    { revenue: 'total_less_refunds' },
  ],
  [
    'a refund of an order whose total is not known',
    { total: null, subtotal: '9.00', refunded: '1.00', dealId: 'D7' },
    'held refund_out_of_range D7',
    { revenue: 'subtotal' },
  ],
  [
    'a partial refund whose amount is not known',
    { status: 'partially_refunded', dealId: 'D7' },
    'held unknown_refund D7',
  ],
  [
    'a partial refund of nothing',
    { status: 'partially_refunded', refunded: '0.00', dealId: 'D7' },
    'held unknown_refund D7',
  ],
  [
    'a partial refund whose amount is known',
    { status: 'partially_refunded', refunded: '4.00', dealId: 'D7' },
    'attributed explicit D7 → deal:D7',
  ],
  [
    'a free order is not a refunded one',
    { total: '0.00', refunded: '0.00', dealId: 'D7' },
    'excluded zero_revenue',
    { revenue: 'total_less_refunds' },
  ],
  ['another brand', { brandId: '777', dealId: 'D7' }, 'excluded other_brand'],
  [
    'the deal that the export names wins over codes',
    { dealId: 'D7', influencerHandle: 'x', codes: ['NOOR'] },
    'attributed explicit D7 → deal:D7',
  ],
  [
    'the deal that the export names, which needs no time, beside codes and links that do',
    { dealId: 'D7', codes: ['PAST'], links: ['past'], placedAt: null, paidAt: null },
    'attributed explicit D7 → deal:D7',
  ],
  ['the collaboration that the export names', { collabId: 'C7' }, 'attributed explicit C7 → collab:C7'],
  [
    'the handle that the export names',
    { influencerHandle: '@Noor', brandId: '4819' },
    'attributed explicit @Noor → handle:noor',
  ],
  ['a code, however written', { codes: [' m i r a '] }, 'attributed code  m i r a  → deal:D1'],
  ['two codes of one owner', { codes: ['glow5', 'MIRA'] }, 'attributed code glow5 → deal:D1'],
  [
    'a code beside one that nobody owns',
    { codes: ['WELCOME', 'NOOR'] },
    'attributed code NOOR → handle:noor',
  ],
  ['two codes of two owners', { codes: ['MIRA', 'NOOR'] }, 'held ambiguous_codes MIRA, NOOR'],
  ['one code of two owners', { codes: ['TWICE'] }, 'held ambiguous_codes TWICE'],
  ['one code of two owners, with a blank in it', { codes: ['TW ice'] }, 'held ambiguous_codes TW ice'],
  [
    'one code of two owners, one after the other: the first',
    { codes: ['BOTH'] },
    'attributed code BOTH → deal:D1',
  ],
  [
    '… and the second',
    { codes: ['BOTH'], placedAt: '2026-04-11T00:00:00Z' },
    'attributed code BOTH → deal:D2',
  ],
  [
    'a valid code beside an expired one of another',
    { codes: ['PAST', 'NOOR'] },
    'attributed code NOOR → handle:noor',
  ],
  ['an expired code', { codes: ['PAST'] }, 'unattributed code_expired PAST'],
  [
    'an expired code on its last day',
    { codes: ['PAST'], placedAt: '2026-04-09T23:59:59Z' },
    'attributed code PAST → deal:D1',
  ],
  ['a code that is not valid yet', { codes: ['FUTURE'] }, 'unattributed code_not_yet_valid FUTURE'],
  [
    'an expired code of an order that was paid later',
    { codes: ['PAST'], placedAt: null, paidAt: '2026-04-10T09:00:00Z' },
    'unattributed code_expired PAST',
  ],
  [
    'an expired code of an order without a time',
    { codes: ['PAST'], placedAt: null, paidAt: null },
    'held unknown_time PAST',
  ],
  [
    'the same for one that is not valid yet',
    { codes: ['FUTURE'], placedAt: null, paidAt: null },
    'held unknown_time FUTURE',
  ],
  [
    'a code that is always valid, of an order without a time',
    { codes: ['MIRA'], placedAt: null, paidAt: null },
    'attributed code MIRA → deal:D1',
  ],
  [
    'an order without a time, where deals have terms',
    { codes: ['MIRA'], placedAt: null, paidAt: null },
    'held unknown_time MIRA',
    { hasTerms: true },
  ],
  [
    'an order without a time, where the job has a start date',
    { codes: ['MIRA'], placedAt: null, paidAt: null },
    'held unknown_time MIRA',
    { start: { day: '2026-01-01', timeZone: 'UTC' } },
  ],
  [
    'an order of the last second before the start date, which is a day in the zone of the job',
    { codes: ['MIRA'], placedAt: '2026-04-09T21:59:59Z' },
    'excluded before_start',
    { start: { day: '2026-04-10', timeZone: 'Europe/Amsterdam' } },
  ],
  [
    'an order of the first second of the start date',
    { codes: ['MIRA'], placedAt: '2026-04-09T22:00:00Z' },
    'attributed code MIRA → deal:D1',
    { start: { day: '2026-04-10', timeZone: 'Europe/Amsterdam' } },
  ],
  [
    'an order from before the start date whose time of payment is known only',
    { codes: ['MIRA'], placedAt: null, paidAt: '2026-04-09T12:00:00Z' },
    'excluded before_start',
    { start: { day: '2026-04-10', timeZone: 'Europe/Amsterdam' } },
  ],
  ['a code of another brand', { codes: ['ELSEWHERE'] }, 'unattributed code_of_other_brand ELSEWHERE'],
  ['a code that nobody owns', { codes: ['WELCOME'] }, 'unattributed unknown_code WELCOME'],
  ['a link with a code', { codes: ['WELCOME'], links: ['mira'] }, 'attributed link mira → deal:D1'],
  ['a link with a handle', { links: ['@PIA'] }, 'attributed link @PIA → deal:D3'],
  ['a link with a handle that has two deals', { links: ['@NOOR'] }, 'held ambiguous_links @NOOR'],
  ['a code wins over a link', { codes: ['NOOR'], links: ['mira'] }, 'attributed code NOOR → handle:noor'],
  ['links of two owners', { links: ['mira', 'noor'] }, 'held ambiguous_links mira, noor'],
  ['a link that nobody owns', { links: ['newsletter'] }, 'unattributed unknown_link newsletter'],
  ['nothing at all', {}, 'organic'],
  [
    'an expired code beside a link that nobody owns',
    { codes: ['PAST'], links: ['newsletter'] },
    'unattributed code_expired PAST, newsletter',
  ],
  [
    'of several codes that do not count, the expired one says why',
    { codes: ['ELSEWHERE', 'FUTURE', 'PAST'] },
    'unattributed code_expired ELSEWHERE, FUTURE, PAST',
  ],
  [
    '… then the one that is not valid yet',
    { codes: ['ELSEWHERE', 'FUTURE'] },
    'unattributed code_not_yet_valid ELSEWHERE, FUTURE',
  ],
  [
    'a code of another brand beside one that nobody owns',
    { codes: ['WELCOME', 'ELSEWHERE'] },
    'unattributed code_of_other_brand WELCOME, ELSEWHERE',
  ],
  ['a link beside an expired code', { links: ['mira'], codes: ['PAST'] }, 'attributed link mira → deal:D1'],
  ['a link with an expired code', { links: ['past'] }, 'unattributed code_expired past'],
  [
    'a link with an expired code, of an order without a time',
    { links: ['past'], placedAt: null, paidAt: null },
    'held unknown_time past',
  ],
  [
    'a code of another brand beside one that depends on the time, of an order without one',
    { codes: ['ELSEWHERE', 'PAST'], placedAt: null, paidAt: null },
    'held unknown_time ELSEWHERE, PAST',
  ],
  [
    'a valid code beside one that depends on the time, of an order without one',
    { codes: ['NOOR', 'PAST'], placedAt: null, paidAt: null },
    'held unknown_time NOOR, PAST',
  ],
  [
    'a code of several owners beside one that depends on the time, of an order without one',
    { codes: ['TWICE', 'PAST'], placedAt: null, paidAt: null },
    'held ambiguous_codes TWICE, PAST',
  ],
  [
    'a code of another brand, of an order without a time',
    { codes: ['ELSEWHERE'], placedAt: null, paidAt: null },
    'unattributed code_of_other_brand ELSEWHERE',
  ],
  [
    'a code that depends on the time, of an order whose time is after the export',
    { codes: ['PAST'], placedAt: '2031-01-01T00:00:00Z' },
    'held after_export PAST',
  ],
  [
    'a code of an order whose time is after the export',
    { codes: ['MIRA'], placedAt: '2031-01-01T00:00:00Z' },
    'held after_export MIRA',
  ],
  [
    'a code that nobody owns, of an order that would be held',
    { codes: ['WELCOME'], doubt: 'incomplete' },
    'unattributed unknown_code WELCOME',
  ],
  [
    'codes of two owners, of an order that would be held for another reason',
    { codes: ['MIRA', 'NOOR'], doubt: 'incomplete' },
    'held ambiguous_codes MIRA, NOOR',
  ],
  [
    'a link, of an order that may not be whole',
    { links: ['mira'], doubt: 'incomplete' },
    'held incomplete mira',
  ],
  [
    'a collaboration, of an order that may not be whole, beside a code',
    { collabId: 'C7', codes: ['WELCOME'], doubt: 'incomplete' },
    'held incomplete WELCOME',
  ],
  [
    'the collaboration that the export names wins over its handle',
    { collabId: 'C7', influencerHandle: 'noor' },
    'attributed explicit C7 → collab:C7',
  ],
  [
    'the handle of two owners, one of whom the export names',
    { influencerHandle: 'noor', codes: ['MIRA'] },
    'attributed explicit noor → handle:noor',
  ],
  [
    'a draft, where the job credits renewals only',
    { exclusion: 'draft', dealId: 'D7', doubt: 'incomplete' },
    'excluded draft',
  ],
  [
    'two states of unknown age, one of which excludes the order',
    { exclusion: 'test', dealId: 'D7', doubt: 'conflicting_states' },
    'held conflicting_states D7',
  ],
];

/** The rules that hold for the same settings of a job, which are tried together: each order is called by the title of its rule. */
const RULES_BY_SETTINGS = [...Map.groupBy(RULES, ([, , , how = {}]) => JSON.stringify(how))].map(
  ([settings, rules]) => ({ settings, how: rules[0]?.[3] ?? {}, rules }),
);

const CLAIMED: readonly Given[] = [
  { links: ['mira'], codes: ['NOOR'] },
  { codes: ['NOOR', 'MIRA'] },
  { links: ['PIA', 'mira'] },
  { links: ['PIA'], codes: ['NOOR', 'MIRA'] },
  { links: ['mira'], codes: ['GLOW5'] },
  { codes: ['TWICE', 'PIA'] },
  { codes: ['PAST', 'NOOR'] },
  { links: ['newsletter'], codes: ['NOOR'] },
  { links: ['mira'], codes: ['FUTURE'], placedAt: null, paidAt: null },
  { links: ['mira'], codes: ['NOOR'], dealId: 'D7' },
];

/** The code or link that each of these orders is credited for, or why it is held. */
const BY_RULE = {
  code: 'NOOR ambiguous_codes ambiguous_links ambiguous_codes GLOW5 ambiguous_codes NOOR NOOR unknown_time D7',
  link: 'mira ambiguous_codes ambiguous_links PIA mira ambiguous_codes NOOR NOOR unknown_time D7',
  first: 'mira NOOR PIA PIA mira ambiguous_codes NOOR NOOR unknown_time D7',
  last: 'NOOR MIRA mira MIRA GLOW5 PIA NOOR NOOR unknown_time D7',
  hold: 'link_and_code ambiguous_codes ambiguous_links link_and_code GLOW5 ambiguous_codes NOOR NOOR unknown_time D7',
} as const;

describe.each(ENGINES)('attribution on %s', (engine) => {
  const database = useDatabase(engine);
  const isServer = engine === 'a Postgres server';
  const newContext = () => {
    const path = join(makeTestFolder(), 'codes.csv');
    return openContext(database(), { path, writeCodes: (text) => writeFileSync(path, text) });
  };

  test.each(RULES_BY_SETTINGS)(
    'decides by the first rule that applies, with $settings',
    async ({ how, rules }) => {
      const context = await newContext();
      await context.read({ orders: rules.map(([title, given]) => order(title, given)) });
      await context.attribute({ ...how, codes: CODES });
      expect((await decisions(context)).toSorted()).toEqual(
        rules.map(([title, , expected]) => `${title}: ${expected}`).toSorted(),
      );
    },
  );

  test('credits an order that several owners claim by the rule of the job, and decides again when it changes', async () => {
    const context = await newContext();
    await context.read({ orders: CLAIMED.map((given, index) => order(String(index), given)) });
    for (const attribution of ['code', 'link', 'first', 'last', 'hold'] as const) {
      await context.attribute({ codes: CODES, attribution });
      const { rows } = await sql<{ said: string }>`
        select case outcome when 'attributed' then matched_value else reason end as said
        from intake.attributions where job = ${context.job} order by order_id`.execute(context.db);
      expect(rows.map(({ said }) => said).join(' '), attribution).toBe(BY_RULE[attribution]);
    }
  });

  test('knows no code and no handle of another job', async () => {
    const [context, other] = [await newContext(), await newContext()];
    await other.attribute({ codes: 'THEIRS,,zoe,,,,' });
    await context.read({ orders: [order('1', { codes: ['THEIRS'] }), order('2', { links: ['@zoe'] })] });
    await context.attribute({ codes: CODES });
    expect(await decisions(context)).toEqual([
      '1: unattributed unknown_code THEIRS',
      '2: unattributed unknown_link @zoe',
    ]);
  });

  test('credits a custom link within its period, and says of the others that they ended or have not begun', async () => {
    const context = await newContext();
    await context.attribute({ codes: CODES });
    await sql`
      update intake.codes set code = null, code_folded = null, link = code, link_folded = array[lower(code), 'spring']
      where job = ${context.job} and code in ('MIRA', 'PAST', 'FUTURE')`.execute(context.db);
    const links = (name: string) => ({ links: ['spring', name] });
    await context.read({
      orders: [
        order('1', links('mira')),
        order('2', links('past')),
        order('3', links('future')),
        order('4', { links: ['mira'] }),
        order('5', { ...links('future'), codes: ['WELCOME'] }),
        order('6', { links: ['spring', 'future', 'past'] }),
        order('7', { ...links('past'), codes: ['ELSEWHERE'] }),
      ],
    });
    await context.attribute();
    expect(await decisions(context)).toEqual([
      '1: attributed link mira → deal:D1',
      '2: unattributed link_expired spring, past',
      '3: unattributed link_not_yet_valid spring, future',
      '4: unattributed unknown_link mira',
      '5: unattributed link_not_yet_valid WELCOME, spring, future',
      '6: unattributed link_expired spring, future, past',
      '7: unattributed code_of_other_brand ELSEWHERE, spring, past',
    ]);
  });

  test.runIf(isServer)(
    'records the revenue by the rule of the job, and every identifier of the owner, and all of it anew once it is another',
    async () => {
      const context = await newContext();
      const decided = async () => {
        const { rows } = await sql`
        select outcome, reason, matched_by, matched_value, target, amount, currency, influencer_handle, deal_id, collab_id, brand_id,
          likeness is not null as "isCompared", is_pending, a.entry_id is not null as "isSent", decided_at >= ${begunAt}::timestamptz as "isNew",
          a.rules_hash = d.rules_hash as "isByTheseRules", a.order_version_id = o.order_version_id as "isCurrent"
        from intake.attributions a,
          lateral (select o.order_version_id, o.source_file_id from intake.orders o where o.source = a.source and o.is_current) o
          join intake.attributed_files d using (source_file_id)
        where a.job = ${context.job}`.execute(context.db);
        return rows[0];
      };
      const now = () => sql<{ at: string }>`select clock_timestamp()::text as at`.execute(context.db);
      const rules = { revenue: 'total_less_refunds', isBrandShared: true } as const;
      let begunAt = '-infinity';
      await context.read({ orders: [order('1', { refunded: '2.50', codes: ['MIRA'] })] });
      await context.attribute({ codes: CODES, ...rules });
      const first = {
        outcome: 'attributed',
        reason: null,
        matched_by: 'code',
        matched_value: 'MIRA',
        target: 'deal:D1',
        amount: '7.5000',
        currency: 'EUR',
        influencer_handle: '@mira.glow',
        deal_id: 'D1',
        collab_id: null,
        brand_id: '4819',
        isCompared: true,
        is_pending: true,
        isSent: false,
        isNew: true,
        isByTheseRules: true,
        isCurrent: true,
      };
      expect(await decided()).toEqual(first);
      begunAt = (await now()).rows[0]?.at ?? '';
      await context.attribute({ ...rules, creditsDrafts: true });
      expect(await decided(), 'the same again is left as it is').toEqual({
        ...first,
        isNew: false,
        isByTheseRules: false,
      });

      await context.prepare();
      const owned = { collabId: 'C7', codes: ['NOOR'], currency: 'USD', placedAt: null };
      await context.read({ orders: [order('1', owned)] });
      await context.attribute(rules);
      const second = {
        outcome: 'attributed',
        reason: null,
        matched_by: 'explicit',
        matched_value: 'C7',
        target: 'collab:C7',
        amount: '10.0000',
        currency: 'USD',
        influencer_handle: null,
        deal_id: null,
        collab_id: 'C7',
        brand_id: '4819',
        isCompared: false,
        is_pending: true,
        isSent: true,
        isNew: true,
        isByTheseRules: true,
        isCurrent: true,
      };
      expect(await decided()).toEqual(second);
      await context.read({ orders: [order('1', { ...owned, exclusion: 'test' })] });
      await context.attribute(rules);
      expect(await decided(), 'the ledger must learn that it is no longer credited').toEqual({
        ...second,
        outcome: 'excluded',
        reason: 'test',
        matched_by: null,
        matched_value: null,
        target: null,
        collab_id: null,
        brand_id: null,
      });
    },
  );

  test.runIf(isServer)(
    'decides again if a rule changes, also one of the program, and not because of another update of it',
    async () => {
      const context = await newContext();
      await context.read({ orders: [order('1')] });
      const source = {
        source: context.source,
        orderPlatform: 'shopify',
        credited: ['paid'],
        notCredited: ['void'],
        mayLackColumn: false,
        ownOrders: false,
      };
      const plain: AttributeOrdersOptions = {
        job: context.job,
        brandId: '4819',
        start: null,
        elsewhere: [],
        revenue: 'total',
        attribution: 'code',
        creditsDrafts: false,
        creditsRenewals: true,
        hasTerms: false,
        isBrandShared: false,
        codesHash: 'codes',
        sources: [source],
      };
      const hashes: string[] = [];
      for (const change of [
        ...[
          {},
          { codesHash: 'others' },
          { brandId: '777' },
          { revenue: 'subtotal' },
          { creditsDrafts: true },
        ],
        ...[
          { creditsRenewals: false },
          { attribution: 'link' },
          { attribution: 'first' },
          { hasTerms: true },
        ],
        ...[{ isBrandShared: true }, { start: { day: '2026-04-01', timeZone: 'UTC' } }],
        ...[
          { start: { day: '2026-04-02', timeZone: 'UTC' } },
          { start: { day: '2026-04-01', timeZone: 'CET' } },
        ],
        ...[{ sources: [{ ...source, credited: 'any' }] }, { sources: [{ ...source, notCredited: [] }] }],
        { sources: [{ ...source, mayLackColumn: true }] },
        { sources: [{ ...source, ownOrders: true }] },
      ] as readonly Partial<AttributeOrdersOptions>[]) {
        await decideOrders(context.db, { ...plain, ...change });
        const { rows } = await sql<{ hash: string }>`
        select rules_hash as hash from intake.attributed_files where job = ${context.job}`.execute(
          context.db,
        );
        hashes.push(rows[0]?.hash ?? '');
      }
      expect(new Set(hashes).size).toBe(hashes.length);
      await decideOrders(context.db, plain);
      expect(await decideOrders(context.db, plain), 'it has decided').toEqual({ decided: 0 });
      const another = { ...plain, job: `another ${context.job}` };
      expect(await decideOrders(context.db, another), 'whatever another job has decided').toEqual({
        decided: 1,
      });
      const written = JSON.stringify([
        3,
        'codes',
        '4819',
        'total',
        [[context.source, ['paid'], ['void'], false]],
      ]);
      expect(hashes[0], 'rules that a job leaves at their defaults').toBe(
        createHash('sha256').update(written).digest('base64url'),
      );
    },
  );

  test.runIf(isServer)(
    'for a period decides about the orders of its days alone, and leaves those from the start date on to the runs',
    async () => {
      const context = await newContext();
      const timeZone = 'Europe/Amsterdam';
      const times = {
        before: '2026-04-08T21:59:59Z',
        first: '2026-04-08T22:00:00Z',
        second: '2026-04-09T21:59:59Z',
        start: '2026-04-09T22:00:00Z',
        last: '2026-04-10T21:59:59Z',
        after: '2026-04-10T22:00:00Z',
      };
      await context.read({
        orders: [
          ...Object.entries(times).map(([id, placedAt]) => order(id, { placedAt, codes: ['MIRA'] })),
          ...[order('undated', { placedAt: null }), order('paid', { placedAt: null, paidAt: times.second })],
        ],
      });
      await context.attribute({ codes: CODES });
      const decidedFor = (start: AttributionRules['start'], period: AttributionRules['period']) =>
        inTransaction(context.db, async (trx) => {
          const rules: AttributionRules = {
            job: context.job,
            brandId: '4819',
            revenue: 'total',
            attribution: 'code',
            rulesHash: '',
            creditsDrafts: false,
            creditsRenewals: true,
            hasTerms: false,
            elsewhere: [],
            isBrandShared: false,
            start,
            period,
            sources: [
              {
                source: context.source,
                orderPlatform: 'shopify',
                credited: 'any',
                notCredited: [],
                mayLackColumn: false,
                ownOrders: false,
              },
            ],
          };
          await sql`create temporary table files_to_attribute on commit drop as ${filesToAttribute(rules)}`.execute(
            trx,
          );
          await decide(trx, rules);
          const { rows } = await sql<{ said: string }>`
          select order_id || ' ' || outcome as said from decided_orders order by order_id collate "C"`.execute(
            trx,
          );
          return rows.map(({ said }) => said);
        });
      const days = { fromDay: '2026-04-09', toDay: '2026-04-10', timeZone };
      const inPeriod = [
        'first attributed',
        'last attributed',
        'paid organic',
        'second attributed',
        'start attributed',
      ];
      expect(await decidedFor(null, days)).toEqual(inPeriod);
      expect(await decidedFor({ day: '2026-04-10', timeZone }, days)).toEqual([
        ...['first attributed', 'paid organic', 'second attributed'],
      ]);
      expect(await decidedFor(null, { ...days, toDay: '2026-04-09' })).toEqual([
        ...['first attributed', 'paid organic', 'second attributed'],
      ]);
      expect(await decidedFor({ day: '2026-04-10', timeZone }, null), 'a run').toEqual([
        ...['after attributed', 'before excluded', 'first excluded', 'last attributed', 'paid excluded'],
        ...['second excluded', 'start attributed', 'undated organic'],
      ]);
    },
  );

  test('decides about a file that waits, once it is sealed', async () => {
    const context = await newContext();
    await context.read({ orders: [order('1', { codes: ['MIRA'] })] });
    await sql`update intake.source_files set state = 'held', hold_code = 'row_count' where source = ${context.source}`.execute(
      context.db,
    );
    expect(await context.attribute({ codes: CODES })).toBe(0);
    await sql`update intake.source_files set state = 'sealed', hold_code = null where source = ${context.source}`.execute(
      context.db,
    );
    expect(await context.attribute()).toBe(1);
  });

  test('decides only on new orders until the rules change', async () => {
    const context = await newContext();
    await context.read({
      orders: [order('new-1', { codes: ['WELCOME'] }), order('new-2', { codes: ['MIRA'] })],
    });
    expect(await context.attribute({ codes: CODES })).toBe(2);
    expect(await context.attribute()).toBe(0);
    await context.read({ orders: [order('new-2', { codes: ['MIRA'] }), order('new-3')] });
    expect(await context.attribute()).toBe(1);
    // The least and the greatest id are new, that between them is not.
    await context.read({ orders: [order('new-0'), order('new-3', { total: '11.00' }), order('new-4')] });
    expect(await context.attribute()).toBe(3);
    // A decision with the same result is left as it is.
    expect(await context.attribute({ codes: `${CODES}\nWELCOME,,pia,,,,` })).toBe(1);
    expect(await decisions(context)).toEqual([
      'new-0: organic',
      'new-1: attributed code WELCOME → handle:pia',
      'new-2: attributed code MIRA → deal:D1',
      'new-3: organic',
      'new-4: organic',
    ]);
  });

  test('ignores orders of a file that is not sealed or was held', async () => {
    const context = await newContext();
    await context.read({ orders: [order('1', { codes: ['MIRA'] })] }, { rowsRead: 99 });
    expect(await context.attribute({ codes: CODES })).toBe(0);
  });

  test('previews a rule: what it decides otherwise, by owner and currency, and whether the service keeps what it credited', async () => {
    const context = await newContext();
    const both = { links: ['mira'], codes: ['NOOR'] };
    await context.read({
      orders: [
        order('r1', { ...both, subtotal: null }),
        order('r2', { ...both, subtotal: '7.00' }),
        order('r3', { ...both, subtotal: '7.00', currency: 'USD' }),
        order('r4', { ...both, subtotal: '7.00' }),
        order('r5', { codes: ['NOOR'], subtotal: '7.00' }),
        order('r6', { ...both, subtotal: '3.00' }),
        order('r7', { ...both, subtotal: '0.50' }),
        order('r8', { subtotal: '7.00' }),
        order('r9', { links: ['PIA'], codes: ['NOOR', 'MIRA'], subtotal: '9.00' }),
      ],
    });
    await context.attribute({ codes: CODES });
    await sql`
      insert into intake.attributions (job, source, order_id, order_version_id, outcome, currency, is_pending, rules_hash)
      select ${`another ${context.job}`}, source, order_id, order_version_id, 'organic', currency, false, '' from intake.attributions where job = ${context.job}`.execute(
      context.db,
    );
    await context.prepare();
    // What was refused, or waits, is not kept by the service.
    await sql`update ledger.entries set state = 'rejected', attempt = 1, state_reason = 'no' where job = ${context.job} and order_id = 'r6'`.execute(
      context.db,
    );
    await sql`update ledger.entries set state = 'accepted', attempt = 1, deal_id = 'D2' where job = ${context.job} and order_id = 'r4'`.execute(
      context.db,
    );
    const changes = await inTransaction(context.db, (trx) =>
      decideByRule(trx, {
        job: context.job,
        brandId: '4819',
        revenue: 'subtotal',
        attribution: 'link',
        start: null,
        creditsDrafts: false,
        creditsRenewals: true,
        hasTerms: false,
        elsewhere: [],
        isBrandShared: false,
        sources: [
          {
            source: context.source,
            orderPlatform: `platform of ${context.job}`,
            credited: 'any',
            notCredited: [],
            mayLackColumn: false,
            ownOrders: false,
          },
        ],
      }),
    );
    const moved = { before: 'handle:noor', after: 'deal:D1', currency: 'EUR', orders: 1, withoutAmount: 0 };
    expect(changes).toEqual([
      { ...moved, orders: 3, amount: '10.5000', isSent: false },
      { ...moved, currency: 'USD', amount: '7.0000', isSent: false },
      { ...moved, after: 'held: unknown amount', amount: null, withoutAmount: 1, isSent: false },
      { ...moved, before: 'held: ambiguous codes', after: 'deal:D3', amount: '9.0000', isSent: false },
      // It was sent by the total.
      { ...moved, amount: '10.0000', isSent: true },
    ]);
  });

  test.runIf(isServer)(
    'previews an order that several sources state once: by what its entry is for, else by the source that would credit it first',
    async () => {
      const [one, two] = [await openShop(database()), await openShop(database())];
      const path = join(makeTestFolder(), 'codes.csv');
      const context = await openContext(database(), {
        path,
        shops: [one, two],
        writeCodes: (text) => writeFileSync(path, text),
      });
      const minutes = ['held', 'posted', 'withdrawn', 'both', 'unknown here'];
      const stated = (id: string, subtotal: string | null, given: Given = {}) => {
        const placedAt = `2026-04-10T09:0${minutes.indexOf(id)}:00Z`;
        return order(id, {
          links: ['mira'],
          codes: ['NOOR'],
          total: '5000.00',
          subtotal,
          placedAt,
          ...given,
        });
      };
      const disputed = { codes: ['NOOR', 'MIRA'] };
      await two.read({ orders: [stated('held', '400.00', disputed)] });
      await one.read({
        orders: [stated('posted', '1.00'), stated('withdrawn', '20.00'), stated('held', '800.00')],
      });
      await context.attribute({ codes: CODES, isBrandShared: false });
      await context.prepare();
      const excluded = stated('withdrawn', '20.00', { exclusion: 'test' });
      await one.read({ orders: [excluded, stated('held', '800.00', disputed)] });
      await context.attribute({ isBrandShared: false });
      await context.prepare();
      await one.read({ orders: [stated('both', '5.00'), stated('unknown here', null)] });
      const ofTwo = { posted: '2.00', both: '6.00', 'unknown here': '100.00', withdrawn: '3000.00' };
      await two.read({ orders: Object.entries(ofTwo).map(([id, subtotal]) => stated(id, subtotal)) });
      await context.attribute({ isBrandShared: false });
      const undone = new Error('undone');
      let changes: unknown;
      const preview = inTransaction(context.db, async (trx) => {
        await sql`insert into ops.account (account_id) values (${ACCOUNT})`.execute(trx);
        changes = await decideByRule(trx, {
          job: context.job,
          brandId: '4819',
          revenue: 'subtotal',
          attribution: 'link',
          start: null,
          creditsDrafts: false,
          creditsRenewals: true,
          hasTerms: false,
          elsewhere: [],
          isBrandShared: false,
          sources: [one, two].map(({ source }) => ({
            source,
            orderPlatform: `platform of ${context.job}`,
            credited: 'any',
            notCredited: [],
            mayLackColumn: false,
            ownOrders: false,
          })),
        });
        throw undone;
      });
      await expect(preview).rejects.toBe(undone);
      expect(changes).toEqual([
        {
          before: 'handle:noor',
          after: 'deal:D1',
          currency: 'EUR',
          orders: 4,
          withoutAmount: 0,
          amount: '3106.0000',
          isSent: false,
        },
        {
          before: 'held: ambiguous codes',
          after: 'deal:D1',
          currency: 'EUR',
          orders: 1,
          withoutAmount: 0,
          amount: '400.0000',
          isSent: false,
        },
      ]);
    },
  );

  test('leaves an order from before the start date to the job only if a credit of the job may have been sent for it, or a backfill sends it', async () => {
    const context = await newContext();
    const STATES: Readonly<Record<string, string>> = {
      sent: '',
      'sent for another job': `job = 'another'`,
      'sent for another order': `order_id = 'other'`,
      'sent, but a note': `effect = 'note'`,
      'sent for a removed source': `source = 'removed'`,
      'sent for a removed source of another platform': `source = 'removed', order_platform = 'elsewhere'`,
      'sent for another source of the job, of another platform': `source = job || ' 2', order_platform = 'elsewhere'`,
      'not sent': `state = 'ready', attempt = 0, deal_id = null`,
      'of a backfill': `state = 'ready', attempt = 0, deal_id = null, backfill_id = $1`,
      'of a backfill, held': `state = 'held', state_reason = 'changed_since_the_plan', attempt = 0, deal_id = null, backfill_id = $1`,
    };
    const ids = Object.keys(STATES);
    await context.read({ orders: ids.map((id) => order(id, { codes: ['MIRA'] })) });
    await context.attribute({ codes: CODES });
    await context.prepare();
    const { rows } = await sql<{ id: string }>`
      insert into ops.backfills (job, state, from_day, to_day, time_zone, plan_hash, plan, run_id, approved_by, approved_at)
      values (${context.job}, 'running', '2024-01-01', '2024-12-31', 'UTC', '', '{}', ${context.runId}::bigint, 'ada', now())
      returning backfill_id as id`.execute(context.db);
    for (const [id, change] of Object.entries(STATES))
      await sql`
        update ledger.entries set ${sql.raw(
          ["state = 'accepted', attempt = 1, deal_id = 'D1'", change]
            .filter((one, at) => (at === 1 ? one !== '' : !change.includes('state =')))
            .join(', ')
            .replace('$1', rows[0]?.id ?? ''),
        )}
        where job = ${context.job} and order_id = ${id}`.execute(context.db);
    await context.attribute({ start: { day: '2026-04-11', timeZone: 'UTC' } });
    const kept = ['sent', 'sent for a removed source', 'of a backfill'];
    expect(await decisions(context)).toEqual(
      ids
        .map(
          (id) => `${id}: ${kept.includes(id) ? 'attributed code MIRA → deal:D1' : 'excluded before_start'}`,
        )
        .toSorted((one, other) => (one.replace(/:.*/, '') < other.replace(/:.*/, '') ? -1 : 1)),
    );
  });

  test.runIf(isServer)(
    'leaves an order from before the start date that was sent to the source of its entry, and not to another one that the job reads too',
    async () => {
      const [one, two] = [await openShop(database()), await openShop(database())];
      const path = join(makeTestFolder(), 'codes.csv');
      const context = await openContext(database(), {
        path,
        shops: [one, two],
        writeCodes: (text) => writeFileSync(path, text),
      });
      const sent = order('sent by one', { codes: ['MIRA'] });
      await one.read({ orders: [sent] });
      await context.attribute({ codes: CODES, isBrandShared: false });
      await context.prepare();
      await sql`update ledger.entries set state = 'accepted', attempt = 1, deal_id = 'D1' where job = ${context.job}`.execute(
        context.db,
      );
      await two.read({ orders: [sent] });
      await context.attribute({ isBrandShared: false, start: { day: '2026-04-11', timeZone: 'UTC' } });
      expect([await decisions(context), await decisions({ ...context, source: two.source })]).toEqual([
        ['sent by one: attributed code MIRA → deal:D1'],
        ['sent by one: excluded before_start'],
      ]);
    },
  );

  test('runs as a preview inside a transaction that is rolled back', async () => {
    const context = await newContext();
    await context.read({ orders: [order('previewed', { codes: ['MIRA'] })] });
    const path = join(makeTestFolder(), 'codes.csv');
    const undone = new Error('undone');
    const preview = context.db.transaction().execute(async (trx) => {
      const rehearsal = await openContext(trx, {
        path,
        writeCodes: (text) => writeFileSync(path, text),
        shops: [{ ...context, db: trx }],
      });
      await rehearsal.attribute({ codes: CODES });
      expect(await rehearsal.prepare()).toMatchObject({ created: 1 });
      // It may decide more than once before it is rolled back.
      expect(await rehearsal.attribute({ creditsDrafts: true })).toBe(0);
      expect(await decisions(rehearsal)).toEqual(['previewed: attributed code MIRA → deal:D1']);
      throw undone;
    });
    await expect(preview).rejects.toBe(undone);
    expect(await decisions(context)).toEqual([]);
  });
});
