import { describe, expect, it } from 'vitest';
import { openDealAnswer, readDealAnswer } from '../../src/mirror/read-deal-answer.ts';
import { findList, readRecords } from '../../src/mirror/read-records.ts';
import { brandShape, dealflowShape } from '../../src/mirror/record-shapes.ts';
import { cutSize, ignoresQuestion, splitPrefixes } from '../../src/mirror/split-prefixes.ts';
import { specifiedService } from '../../src/service/description/schema.ts';
import { fromServiceAnswer } from '../../src/service/description/translate.ts';
import { knowDeals, openStory, rowsOf } from './story.ts';
import { dealRecord } from './stub-service.ts';

/** The list of an answer, as the client finds it. */
function listOf(text: string) {
  const answer = { kind: 'answer', status: 200, text, headers: {} } as const;
  const { list } = fromServiceAnswer(specifiedService, 'search_brands', { answer, input: {} });
  return findList(text, list?.items);
}

const ACME = { id: 4819, name: 'Acme' };
const HOME = { id: 'B_HOME', name: 'Home', color: 'green' };

describe('the answer to a listing:', () => {
  it.each([
    ['a bare array', [ACME, HOME]],
    ['items', { items: [ACME, HOME] }],
    ['results', { results: [ACME, HOME], success: true }],
    ['brands', { brands: [ACME, HOME] }],
    ['dealflows', { dealflows: [ACME, HOME], message: 'ok' }],
    ['data', { data: [ACME, HOME] }],
    ['any one key', { whatever: [ACME, HOME], took: 3 }],
    ['a named key beside another list', { errors: [], items: [ACME, HOME] }],
    ['one level down', { data: { brands: [ACME, HOME] } }],
    ['a total that fits', { items: [ACME, HOME], total: 2, next: null, has_more: false }],
  ])('%s', (_what, body) => {
    const { records, problem, unreadable } = readRecords(brandShape, listOf(JSON.stringify(body)));
    expect(records.map(({ id, fields }) => [id, fields.name])).toEqual([
      ['4819', 'Acme'],
      ['B_HOME', 'Home'],
    ]);
    expect(JSON.parse(records[1]?.raw ?? ''), 'unknown fields are kept').toEqual(HOME);
    expect([problem, unreadable]).toEqual([null, []]);
  });

  it.each([
    ['no JSON', 'Internal error', 'the answer is not JSON'],
    ['nothing', '', 'the answer is not JSON'],
    ['null', 'null', 'the answer is nothing, not a list'],
    ['a text', '"hello"', 'the answer is text, not a list'],
    ['an error in a 200', '{"error_message": "not now"}', 'the answer contains no list'],
    ['two lists of which none is named', '{"a": [1], "b": [2]}', 'the answer contains no list'],
    ['nested absurdly deep', `${'['.repeat(200)}${']'.repeat(200)}`, 'the answer is not JSON'],
  ])('%s is not a list, which is reported', (_what, text, problem) => {
    expect(readRecords(brandShape, listOf(text))).toMatchObject({ records: [], problem });
  });

  it('items that are not records are stored separately, and the listing is incomplete', () => {
    const listing = readRecords(
      brandShape,
      listOf(JSON.stringify([ACME, 'Home', null, { name: 'Nameless' }, { id: {} }])),
    );
    expect(listing.records).toHaveLength(1);
    expect(listing.problem).toBe('4 of 5 items could not be read');
    expect(listing.unreadable.map(({ reason }) => reason)).toEqual([
      'it is text, not an object',
      'it is nothing, not an object',
      'it has no id',
      'it has no id',
    ]);
  });

  it('IDs are opaque text: numbers of any length, letters, surrounding blanks', () => {
    const body =
      '[{"id": 12345678901234567890}, {"id": "D_FSSI4P"}, {"dealflow_id": " X "}, {"dashboard_id": 7}]';
    expect(readRecords(dealflowShape, listOf(body)).records.map(({ id }) => id)).toEqual([
      '12345678901234567890',
      'D_FSSI4P',
      'X',
      '7',
    ]);
  });
});

describe('the answer to a request for a deal:', () => {
  function read(body: unknown) {
    const opened = openDealAnswer(JSON.stringify(body));
    return 'body' in opened ? readDealAnswer(opened, 'A') : opened;
  }

  it.each([
    ['under deal_info', { deal_info: dealRecord('A') }],
    ['as the body itself', dealRecord('A')],
    ['with deal_id instead of id', { ...dealRecord('A'), id: undefined, deal_id: 'A' }],
    ['with a number of its own beside the id', { ...dealRecord('A'), id: 77, deal_id: 'A' }],
    ['without its id, which was asked for', { deal_info: { ...dealRecord('A'), id: undefined } }],
    ['with the brand as text', { deal_info: { ...dealRecord('A'), brand_id: '4819' } }],
  ])('%s', (_what, body) => {
    const answer = read(body);
    expect(answer).toMatchObject({
      deal: {
        id: 'A',
        fields: { influencer_handle: 'a.test', brand_id: '4819', is_active: 'true' },
        misfits: [],
      },
    });
  });

  it.each([
    ['collabs', { deal_info: dealRecord('A', { collabs: [{ collab_id: 'C1' }] }) }],
    ['collaborations', { deal_info: dealRecord('A', { collaborations: [{ id: 'C1' }] }) }],
    ['beside deal_info', { deal_info: dealRecord('A'), collabs: [{ collab_id: 'C1' }] }],
    ['in the body that is the record', dealRecord('A', { collabs: [{ collab_id: 'C1' }] })],
  ])('its collaborations: %s', (_what, body) => {
    const answer = read(body);
    expect(answer).toMatchObject({ collaborations: [{ id: 'C1', fields: { deal_id: 'A' } }] });
  });

  it.each([
    ['a message in a 200', { message: 'ok' }, 'the answer contains no deal'],
    ['an empty object', {}, 'the answer contains no deal'],
    ['deal_info as null', { deal_info: null }, 'deal_info is nothing, not an object'],
    ['deal_info as a list', { deal_info: [] }, 'deal_info is a list, not an object'],
    ['a list', [], 'the answer is a list, not an object'],
    [
      'another deal',
      { deal_info: dealRecord('B') },
      'the answer is about another deal than the requested one',
    ],
  ])('%s is not a deal', (_what, body, reason) => {
    expect(read(body)).toMatchObject({ reason });
  });
});

describe('unexpected data of the service', () => {
  it('of a type that no column accepts leaves the column null and the raw record complete, and is reported as drift', async () => {
    const { db, service, run } = await openStory();
    service.deals.set(
      'A',
      dealRecord('A', { is_active: 'yes', funnel_step: 'negotiating', total_sales: [] }),
    );
    await knowDeals(db, ['A']);
    const { finished, report } = await run();
    expect(finished).toMatchObject({ status: 'issues', counts: { drift: 3, deals: { new: 1 } } });
    expect(report.details.drift).toContainEqual({
      recordKind: 'deal',
      field: 'is_active',
      kind: 'unreadable',
      expected: 'true or false',
      found: 'text',
      records: 1,
      sampleId: 'A',
    });
    expect(await rowsOf(db, 'select is_active, funnel_step, total_sales, raw from mirror.deals')).toEqual([
      {
        is_active: null,
        funnel_step: null,
        total_sales: null,
        raw: dealRecord('A', { is_active: 'yes', funnel_step: 'negotiating', total_sales: [] }),
      },
    ]);
    expect((await run()).finished, 'it is told once').toMatchObject({ status: 'ok', counts: { drift: 0 } });
  });

  it('with a new type of a field is reported as drift, even if both types can be read', async () => {
    const { db, service, run } = await openStory();
    service.deals.set('A', dealRecord('A', { brand_id: 4819, own: { a: 1 } }));
    await knowDeals(db, ['A']);
    await run();
    service.deals.set('A', dealRecord('A', { brand_id: '4819', own: 'a1' }));
    await run();
    expect(await rowsOf(db, 'select field, kind, expected, found from mirror.drift order by field')).toEqual([
      { field: 'brand_id', kind: 'type_changed', expected: 'number', found: 'string' },
      { field: 'own', kind: 'type_changed', expected: 'object', found: 'string' },
    ]);
    expect(await rowsOf(db, 'select brand_id from mirror.deals')).toEqual([{ brand_id: '4819' }]);
  });

  it('without a field in any record is reported as drift, but not if only a single deal lacks the field', async () => {
    const { db, service, run } = await openStory();
    for (const id of ['A', 'B']) service.deals.set(id, dealRecord(id, { stage_name: 'won', note: 'x' }));
    await knowDeals(db, ['A', 'B']);
    await run();
    service.deals.set('A', dealRecord('A'));
    service.deals.set('B', dealRecord('B', { note: 'x' }));
    await run();
    expect(await rowsOf(db, 'select field, kind, records from mirror.drift')).toEqual([
      { field: 'stage_name', kind: 'vanished', records: 2 },
    ]);
  });

  it('without a field that the contract promises is reported as drift', async () => {
    const { db, service, run } = await openStory();
    service.deals.set('A', { id: 'A', brand_id: 4819, is_active: null });
    await knowDeals(db, ['A']);
    await run();
    expect(await rowsOf(db, 'select field, kind from mirror.drift')).toEqual([
      { field: 'influencer_handle', kind: 'missing' },
    ]);
  });

  it('without an ID, or unreadable, is stored for inspection', async () => {
    const { db, service, run } = await openStory();
    service.brands = [{ name: 'Nameless', email: 'who@example.com' }];
    service.deals.set('A', dealRecord('A', { collabs: [{ code: 'MIA10' }] }));
    service.override = ({ query }) => (query.deal_id === 'B' ? { body: { message: 'soon' } } : null);
    await knowDeals(db, ['A', 'B']);
    await run();
    await run();
    expect(await rowsOf(db, 'select record_kind, reason, raw from mirror.unreadable order by 1')).toEqual([
      { record_kind: 'brand', reason: 'it has no id', raw: { name: 'Nameless', email: '[redacted]' } },
      { record_kind: 'collaboration', reason: 'it has no collab_id', raw: { code: 'MIA10' } },
      { record_kind: 'deal', reason: 'the answer contains no deal', raw: { message: 'soon' } },
    ]);
  });

  it.each([
    ['error', { status: 400, body: { error: 'no such brand' } }, 'HTTP 400: no such brand'],
    ['error_message', { status: 422, body: { error_message: 'odd' } }, 'HTTP 422: odd'],
    ['errors[]', { status: 422, body: { errors: [{ message: 'a' }, 'b'] } }, 'HTTP 422: a; b'],
    ['no JSON', { status: 404, body: 'gone fishing' }, 'HTTP 404: gone fishing'],
    ['a redirect', { status: 302, body: '', headers: { location: '/login' } }, 'HTTP 302'],
  ])(
    'with an error as %s is stored as the reason why a deal could not be read',
    async (_what, answer, reason) => {
      const { db, service, run } = await openStory();
      await knowDeals(db, ['A']);
      service.override = ({ path }) => (path === '/v1/crm/get_deal_details' ? answer : null);
      const { finished } = await run();
      expect(finished).toMatchObject({ status: 'issues', counts: { deals: { failed: 1 } } });
      expect(await rowsOf(db, 'select last_error from mirror.known_deals')).toEqual([{ last_error: reason }]);
    },
  );

  it('with NUL, lone surrogates, long numbers and unusual names is stored', async () => {
    const { db, service, run } = await openStory();
    service.override = ({ query }) =>
      query.deal_id === 'A'
        ? {
            body: '{"deal_info": {"id": "A", "influencer_handle": "a\\u0000b\\ud800", "brand_id": 12345678901234567890, "is_active": true, "total_sales": 10.50, "a\\u0000b": 1, "__proto__": {"x": 1}, "huge": 1e999}}',
          }
        : null;
    await knowDeals(db, ['A']);
    const { finished } = await run();
    expect(finished).toMatchObject({ status: 'ok', counts: { deals: { new: 1 } } });
    expect(
      await rowsOf(
        db,
        "select influencer_handle, brand_id, total_sales, raw ->> 'total_sales' as raw_sales, raw ? '__proto__' as has_proto from mirror.deals",
      ),
    ).toEqual([
      {
        influencer_handle: 'ab\ufffd',
        brand_id: '12345678901234567890',
        total_sales: '10.50',
        raw_sales: '10.50',
        has_proto: true,
      },
    ]);
    expect((await run()).finished.counts.deals.unchanged, 'and equal when they come again').toBe(1);
  });
});

describe('personal data in the mirror', () => {
  it('is redacted: names, e-mail, address and phone in any field, and e-mail addresses in any text', async () => {
    const { databaseUrl: _, db, service, run } = await openStory();
    const personal = {
      first_name: 'Zelda',
      last_name: 'Quux',
      fullName: 'Zelda Quux',
      deal_name: 'Zelda Quux 2026',
      email: 'zelda@example.com',
      emails: ['zelda@example.com', 'zq@example.com'],
      contact: {
        address_line: 'Quuxstraat 1',
        postcode: '1234QX',
        city: 'Quuxdam',
        phone_nr: 31_612_345_678,
      },
      shipping_address: { street: 'Quuxstraat 1' },
      remarks: 'write to zelda@example.com',
      has_email: true,
      phone: null,
      collabs: [{ collab_id: 'C1', name: 'Zelda Quux', code: 'ZELDA10' }],
    };
    service.deals.set('A', dealRecord('A', personal));
    await knowDeals(db, ['A']);
    await run();
    const everything = JSON.stringify(
      await rowsOf(
        db,
        'select d.*, (select jsonb_agg(to_jsonb(v)) from mirror.deal_versions v) as versions, (select jsonb_agg(to_jsonb(c)) from mirror.collaboration_versions c) as collabs from mirror.deals d',
      ),
    );
    expect(everything).not.toMatch(/Zelda|Quux|zelda@|zq@|1234QX|31612345678/);
    expect(everything).toContain('ZELDA10');
    const [{ raw } = {}] = await rowsOf(db, 'select raw from mirror.deals');
    expect(raw).toMatchObject({
      has_email: true,
      phone: null,
      email: '[redacted]',
      remarks: 'write to z***@***',
    });
  });

  it('is not compared: another e-mail address of the same person is no change', async () => {
    const { db, service, run } = await openStory();
    service.deals.set('A', dealRecord('A', { email: 'one@example.com' }));
    await knowDeals(db, ['A']);
    await run();
    service.deals.set('A', dealRecord('A', { email: 'two@example.com' }));
    expect((await run()).finished.counts.deals).toMatchObject({ changed: 0, unchanged: 1 });
  });
});

describe('truncation of autocomplete answers, as learned from the answers:', () => {
  const asked = (prefix: string, results: number, answerHash = prefix) => ({
    prefix,
    results,
    answerHash,
    saysMore: false,
    isSplit: false,
  });

  it.each([
    ['small answers are not', [asked('a', 3), asked('b', 4)], null],
    ['different answers of the largest size are', [asked('a', 8), asked('b', 8), asked('c', 2)], 8],
    ['one large answer is not', [asked('a', 13), asked('b', 2)], null],
    ['one of a round size is', [asked('a', 20), asked('b', 2)], 20],
    ['the same answer twice is not', [asked('t', 12, 'all'), asked('e', 12, 'all')], null],
  ])('%s', (_what, answers, size) => {
    expect(cutSize(answers)).toBe(size);
  });

  it('a truncated answer is split by every character of handles, the others are not', () => {
    const split = splitPrefixes([asked('a', 20), asked('b', 3)]);
    expect([...split.keys()]).toEqual(['a']);
    expect(split.get('a')).toEqual(expect.arrayContaining(['aa', 'a0', 'a_', 'a.', 'a-']));
  });

  it('a prefix that all handles share is followed to its end, although each step has the same answer', () => {
    expect([
      ...splitPrefixes([{ ...asked('a', 20, 'x'), isSplit: true }, asked('ac', 20, 'x')]).keys(),
    ]).toEqual(['ac']);
  });

  it('of several texts that all handles contain, only one is followed', () => {
    expect([
      ...splitPrefixes([asked('t', 20, 'x'), asked('e', 20, 'x'), asked('m', 20, 'y')]).keys(),
    ]).toEqual(['t', 'm']);
  });

  it('a service that returns the same answer for every letter gets no longer prefixes', () => {
    const same = [...'abcdef'].map((letter) => asked(letter, 20, 'x'));
    expect(ignoresQuestion(same)).toBe(true);
    expect(splitPrefixes(same).size).toBe(0);
  });
});

it('a list that may say no is in doubt, and a search that finds nothing says so in many ways', () => {
  const doubtOf = (operation: 'search_brands' | 'search_dealflows' | 'autocomplete') => {
    const text = '{"items":[],"message":"No results, try again later","status":"empty"}';
    const answer = { kind: 'answer', status: 200, headers: {}, text } as const;
    return fromServiceAnswer(specifiedService, operation, { answer, input: {} }).list?.doubt;
  };
  expect(doubtOf('search_brands')).toBe('with an unknown status');
  expect(doubtOf('search_dealflows')).toBe('with an unknown status');
  expect(doubtOf('autocomplete')).toBeUndefined();
});
