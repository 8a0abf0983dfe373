import { describe, expect, it } from 'vitest';
import { formatJson } from '../../src/core/json/exact-json.ts';
import { buildRequest } from '../../src/service/build-request.ts';

const ORDER = { deal_id: ['D1'], order_id: ['1.10'], order_revenue: ['1249.00'] };

describe('a request built from command-line fields', () => {
  it('sends numbers digit by digit as they were typed, and IDs as text', () => {
    expect(buildRequest('new_influencer_referral', { fields: ORDER, body: null })).toEqual({
      kind: 'request',
      input: { body: '{"deal_id":"D1","order_id":"1.10","order_revenue":1249.00}' },
    });
  });

  it('sends a body byte for byte when no field changes it', () => {
    const body = '{ "deal_id":"D1","order_id":"1", "order_revenue": 0.10, "more": [1.0] }\n';
    const built = buildRequest('new_influencer_referral', { fields: {}, body });
    expect(built).toEqual({ kind: 'request', input: { body } });
  });

  it('sets fields in a body and leaves its other numbers as they were written', () => {
    const body = '{"deal_id":"D1","order_id":"1","order_revenue":0.10}';
    const built = buildRequest('new_influencer_referral', { fields: { order_id: ['2'] }, body });
    expect(built).toMatchObject({ input: { body: '{"deal_id":"D1","order_id":"2","order_revenue":0.10}' } });
  });

  it('accepts a list as repeated fields or as JSON, an object as JSON, and null if the contract allows it', () => {
    const lists = [['a@example.com', 'b@example.com'], ['["a@example.com","b@example.com"]']];
    for (const influencer_list of lists) {
      expect(buildRequest('identify_influencers', { fields: { influencer_list }, body: null })).toMatchObject(
        { input: { body: '{"influencer_list":["a@example.com","b@example.com"]}' } },
      );
    }
    const filter = ['{"followers":{"left_number":"10"}}'];
    expect(
      buildRequest('get_search', { fields: { platform: ['tiktok'], filter }, body: null }),
    ).toMatchObject({ input: { body: '{"platform":"tiktok","filter":{"followers":{"left_number":"10"}}}' } });
    const task = { deal_id: ['D'], tasktype: ['todo_task'], task_title: ['t'], task_description: ['d'] };
    const fields = { ...task, deadline: ['29-02-2028'], assigned_to: ['null'] };
    expect(buildRequest('create_task', { fields, body: null })).toMatchObject({
      input: { body: expect.stringContaining('"assigned_to":null') },
    });
  });

  it('puts the fields of a GET operation into its query', () => {
    expect(buildRequest('locations', { fields: { q: ['Oslo'] }, body: null })).toEqual({
      kind: 'request',
      input: { query: { q: 'Oslo' } },
    });
  });

  it.each([
    ['a missing field', 'create_note', { deal_id: ['D'] }, 'note_description'],
    [
      'a number that is none',
      'new_influencer_referral',
      { ...ORDER, order_revenue: ['1,50'] },
      'order_revenue',
    ],
    ['a word that is not allowed', 'locations', {}, 'q'],
    ['a rule between fields', 'new_influencer_click', { increase_clicks: ['1'] }, 'deal_id'],
    ['a day that does not exist', 'create_task', { deadline: ['31-02-2027'] }, 'deadline'],
    ['a code_perc above 100', 'create_deal', { code_perc: ['100.01'] }, 'code_perc'],
  ] as const)('rejects %s and names the field', (_what, name, fields, place) => {
    const built = buildRequest(name, { fields, body: null });
    expect(built).toMatchObject({ kind: 'problems' });
    expect(built.kind === 'problems' ? built.problems.map((problem) => problem.place) : []).toContain(place);
  });

  it('reports a required field that is absent as missing', () => {
    expect(buildRequest('create_note', { fields: { deal_id: ['D1'] }, body: null })).toEqual({
      kind: 'problems',
      problems: [{ place: 'note_description', message: 'is missing' }],
    });
  });

  it.each(['[]', 'null', '{', '"x"'])('rejects %s as a body', (body) => {
    expect(buildRequest('create_note', { fields: {}, body })).toEqual({
      kind: 'problems',
      problems: [{ place: 'body', message: 'should be a JSON object' }],
    });
  });

  it('rejects a body if the operation has none', () => {
    expect(buildRequest('locations', { fields: { q: ['x'] }, body: '{}' })).toMatchObject({
      kind: 'problems',
    });
  });
});

it('the formatted answer keeps its numbers as they were written', () => {
  expect(formatJson('{"a":1249.00,"b":12345678901234567890}')).toBe(
    '{\n  "a": 1249.00,\n  "b": 12345678901234567890\n}',
  );
  expect(formatJson('<html>')).toBe('<html>');
});
