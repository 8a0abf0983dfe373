import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Effect } from '../../src/core/ledger.ts';
import { bodySql } from '../../src/ledger/effects/body-sql.ts';
import { clickBody, clickKey } from '../../src/ledger/effects/click.ts';
import { dealBody, dealKey } from '../../src/ledger/effects/deal.ts';
import { effects } from '../../src/ledger/effects/index.ts';
import { noteBody, noteKey, taskBody } from '../../src/ledger/effects/note.ts';
import { outreachBody, outreachKey } from '../../src/ledger/effects/outreach.ts';
import { type OrderNotes, referralBody, referralDetails } from '../../src/ledger/effects/referral.ts';
import { useDatabase } from '../intake/story.ts';

const database = useDatabase('a Postgres server');

const row = sql`(select 'D1' as deal_id, 'C1' as collab_id, 'mira' as influencer_handle, '4819' as brand_id, '0012' as order_id,
  1200.5000::numeric as amount, null as order_platform, array['A', 'B'] as codes, 'EUR' as currency, 3 as clicks, 'NL' as country_code,
  'ig' as platform, 'F-1' as dealflow_id, 2 as stage, 'MIRA' as code, 10.0::numeric as code_percent, null as custom_link, null as custom_link_target,
  null::numeric as commission_percent, false as create_affiliate_details, 'a "note"' as note, 'Call' as title, '01-05-2026' as deadline, null as assigned_to,
  7 as outreach_id, array['8', '9'] as ids) r`;

const BODIES: readonly (readonly [string, RawBuilder<string>, string])[] = [
  [
    'an amount has its digits without trailing zeros, an id of digits stays text if the contract says so, and what is null is left out',
    referralBody('r'),
    '{"deal_id":"D1","collab_id":"C1","brand_id":4819,"order_id":"0012","order_revenue":1200.5,"order_discount_codes_used":"A, B","currency":"EUR"}',
  ],
  [
    'clicks name the deal instead of the handle',
    clickBody('r'),
    '{"deal_id":"D1","collab_id":"C1","brand_id":4819,"increase_clicks":3,"country_code":"NL"}',
  ],
  [
    'a boolean is a word, also if it is false',
    dealBody('r'),
    '{"influencer_handle":"mira","platform":"ig","brand_id":4819,"dealflow_id":"F-1","funnel_step":2,"code":"MIRA","code_perc":10,"create_affiliate_details":false}',
  ],
  ['text is escaped', noteBody('r'), '{"deal_id":"D1","note_description":"a \\"note\\""}'],
  [
    'a member that the contract requires is null if nobody is assigned',
    taskBody('r'),
    '{"deal_id":"D1","tasktype":"todo_task","task_title":"Call","task_description":"a \\"note\\"","deadline":"01-05-2026","assigned_to":null}',
  ],
  [
    'a list is a list of texts',
    outreachBody('r'),
    '{"outreach_id":7,"influencer_ids":["8","9"],"platform":"ig"}',
  ],
];

it('what is sent is exactly what the contract says: numbers, texts, lists, words and nulls', async () => {
  const said: [string, string | undefined][] = [];
  for (const [title, body] of BODIES) {
    const { rows } = await sql<{ body: string }>`select ${body} as body from ${row}`.execute(database());
    said.push([title, rows[0]?.body]);
  }
  expect(said).toEqual(BODIES.map(([title, , expected]) => [title, expected]));
});

it('the note of a shop is sent if the job asks for it, alone or behind the reference, and none if there is none', async () => {
  const detailsOf = async (orderNotes: OrderNotes, note: string | null) => {
    const { rows } = await sql<{ details: unknown }>`
      select ${referralDetails(sql`${note}::text`, orderNotes)} as details`.execute(database());
    return rows[0]?.details;
  };
  expect([
    ...[
      await detailsOf('ours', 'a gift'),
      await detailsOf('theirs', 'a gift'),
      await detailsOf('both', 'a gift'),
    ],
    ...[await detailsOf('theirs', null), await detailsOf('both', null)],
  ]).toEqual([
    ...[null, { note: 'a gift', is_note_alone: true }, { note: 'a gift', is_note_alone: false }],
    ...[null, null],
  ]);
});

it('each effect has its operation, the member that names its attempt, and whether whoever accepts a doubt names a deal', () => {
  const kinds = Object.entries(effects).map(([name, { effect, operation, referenceMember, namesDeal }]) => {
    expect(effect).toBe(name);
    return [effect, operation, referenceMember, namesDeal];
  });
  expect(kinds.toSorted()).toEqual([
    ['click', 'new_influencer_click', null, true],
    ['create_deal', 'create_deal', null, true],
    ['note', 'create_note', null, false],
    ['outreach', 'submit_influencers', null, false],
    ['referral', 'new_influencer_referral', 'order_notes', true],
    ['task', 'create_task', null, false],
  ]);
});

it('each entry is called by what it is about', async () => {
  const named = async (
    effect: Effect,
    { body = {}, details = {}, platform = 'shopify' as string | null, id = '1001' as string | null },
  ) => {
    const { rows } = await sql<{ subject: string }>`
      select ${effects[effect].subject} as subject
      from (select ${platform}::text as order_platform, ${id}::text as order_id, ${JSON.stringify(body)}::text as body,
        ${JSON.stringify(details)}::jsonb as details) e`.execute(database());
    return rows[0]?.subject;
  };
  const clicks = { clicks: '3', target: 'deal:D1', day: '2026-04-01' };
  expect([
    await named('referral', {}),
    await named('referral', { platform: null }),
    await named('referral', { id: null }),
    await named('click', { details: { ...clicks, country: 'NL' } }),
    await named('click', { details: { ...clicks, country: '' } }),
    await named('create_deal', { details: { handle: 'mira', platform: 'instagram' } }),
    await named('note', { body: { deal_id: 'D1' } }),
    await named('task', { body: { deal_id: 'D1' } }),
    await named('outreach', { body: { influencer_ids: ['8'], outreach_id: 7 } }),
    await named('outreach', { body: { influencer_ids: ['8', '9'], outreach_id: 7 } }),
  ]).toEqual([
    'shopify order 1001',
    'order 1001',
    'shopify order ?',
    '3 clicks of deal:D1 on 2026-04-01 from NL',
    '3 clicks of deal:D1 on 2026-04-01',
    'deal of mira on instagram',
    'note at deal D1',
    'task at deal D1',
    '1 influencer for outreach 7',
    '2 influencers for outreach 7',
  ]);
});

it('an answer confirms an effect only by what its contract names', () => {
  const read = (effect: Effect, answer: object) => effects[effect].readAcceptance({ ...answer });
  const none = { dealId: null, collabId: null };
  expect(read('referral', { deal_id: 12, collab_id: '' })).toEqual({ dealId: '12', collabId: null });
  for (const deal_id of ['', 'D\0', 'x'.repeat(201), '\ud800', 1.5, 2 ** 60, null, ['D1']])
    expect(read('referral', { deal_id }), String(deal_id)).toBeNull();
  expect(read('referral', { deal_id: 'x'.repeat(200) })).toMatchObject({ dealId: 'x'.repeat(200) });
  expect(read('note', { message: 'Noted.' })).toEqual({ ...none, message: 'Noted.' });
  expect(read('note', { message: ' ' })).toBeNull();
  expect(read('outreach', { total_added: 2, duplicates_ignored: 1 })).toEqual({
    ...none,
    message: '2 added, 1 already in the account',
  });
  expect(read('outreach', { total_added: 2 })).toEqual({ ...none, message: '2 added' });
  expect(read('outreach', { total_added: '2' })).toBeNull();
});

it('each effect has a key by which it is not repeated: the same for the same request, whatever else is known of it', async () => {
  const keys = sql`select ${clickKey('k')} as click, ${dealKey('k')} as deal, ${noteKey('k')} as note, ${outreachKey('k')} as outreach
    from (select 'deal:D"1' as target, '2026-04-01' as day, 'shop' as source, 'NL' as country, 3 as start_at,
      'mira' as handle_folded, 'ig' as platform, '4819' as brand_id, 'F-1' as dealflow_id, 'D1' as deal_id, 'a "note"' as note,
      '7' as outreach_id, array['8', '9'] as ids) k`;
  const { rows } = await keys.execute(database());
  const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');
  expect(rows).toEqual([
    {
      click: '["deal:D\\"1","2026-04-01","shop","NL",3]',
      deal: '["mira","ig","4819","F-1"]',
      note: `["D1","${digestOf('a "note"')}"]`,
      outreach: `["7","ig","${digestOf('["8","9"]')}"]`,
    },
  ]);
});

it('a body has no member that the contract does not define', () => {
  expect(() => bodySql('create_note', { other: sql`''` })).toThrow(
    'the contract of create_note has no member other that is text, a number or a boolean',
  );
});
