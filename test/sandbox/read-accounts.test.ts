import { expect, test } from 'vitest';
import { KnownError } from '../../src/core/known-error.ts';
import { DEMO_ACCOUNT, parseAccounts, readAccounts } from '../../src/sandbox/account/read-accounts.ts';

function problemsOf(yaml: string): readonly string[] {
  try {
    parseAccounts(yaml, 'shop.yaml');
  } catch (error) {
    if (error instanceof KnownError)
      return (error.details.problems ?? []).map(({ where, message }) => `${where} ${message}`);
    throw error;
  }
  return [];
}

const NOTHING = { brands: [], dealflows: [], deals: [] };

const GOOD = `brands:
  - { id: 4819, name: Acme }
dealflows:
  - { id: D1, name: Flow, brand_id: 4819 }
deals:
  - { deal_id: 0012, influencer_handle: mara, platform: tiktok, brand_id: 4819, dealflow_id: D1, code: 1E10 }
  - deal_id: 12E4567890
    influencer_handle: 007
    platform: instagram
    brand_id: 4819
    dealflow_id: D1
    code:
`;

test('the account reader reads ids and codes as text', () => {
  const [{ brands, deals } = NOTHING] = parseAccounts(GOOD, 'shop.yaml');
  expect(brands).toEqual([{ id: 4819, name: 'Acme' }]);
  expect(deals.map(({ deal_id, influencer_handle, code }) => [deal_id, influencer_handle, code])).toEqual([
    ['0012', 'mara', '1E10'],
    ['12E4567890', '007', null],
  ]);
});

test('the built-in account has brand 4819 and at least twelve deals', () => {
  const [{ brands, dealflows, deals } = NOTHING] = readAccounts(DEMO_ACCOUNT);
  expect(brands[0]).toEqual({ id: 4819, name: 'Acme Skincare' });
  expect(dealflows?.map(({ id }) => id)).toContain('D_FSSI4P');
  expect(deals.length).toBeGreaterThanOrEqual(12);
});

test('the account reader reports every problem at once, each with its line', () => {
  const yaml = GOOD.replace('id: 4819, name', 'id: x, name')
    .replace('platform: tiktok', 'platform: myspace')
    .replace('    dealflow_id: D1\n', '');
  expect(problemsOf(yaml)).toEqual([
    expect.stringMatching(/^shop\.yaml:2:11 brands\.0\.id: must be a whole number/),
    expect.stringMatching(/^shop\.yaml:6:\d+ deals\.0\.platform: /),
    expect.stringMatching(/^shop\.yaml:7:5 deals\.1\.dealflow_id: /),
  ]);
});

test.each<[string, (yaml: string) => string, RegExp]>([
  [
    'a brand of nothing',
    (yaml) => yaml.replace('name: Flow, brand_id: 4819', 'name: Flow, brand_id: 1'),
    /^shop\.yaml:4:\d+ There is no brand 1\.$/,
  ],
  [
    'a dealflow of nothing',
    (yaml) => yaml.replace('    dealflow_id: D1', '    dealflow_id: D9'),
    /^shop\.yaml:11:\d+ There is no dealflow D9\.$/,
  ],
  [
    'a campaign whose dealflow is nothing',
    (yaml) => `${yaml}outreaches: [{ id: O1, name: Spring, dealflow_id: D9 }]\n`,
    /^shop\.yaml:\d+:\d+ There is no dealflow D9\.$/,
  ],
  [
    'a brand that stands twice',
    (yaml) => yaml.replace('dealflows:', '  - { id: 4819, name: B }\ndealflows:'),
    /^shop\.yaml:3:\d+ id 4819 appears twice/,
  ],
  [
    'a deal with two influencers',
    (yaml) => yaml.replace('12E4567890', '0012'),
    /^shop\.yaml:8:\d+ Deal 0012 already appears above with another influencer/,
  ],
  [
    'a member that nobody knows',
    (yaml) => yaml.replace('    code:', '    coupon: X'),
    /^shop\.yaml:12:\d+ deals\.1 has no member coupon/,
  ],
  ['no brands', () => 'deals: []', /^shop\.yaml:1:1 brands: /],
  ['nothing', () => '', /^shop\.yaml:1:1 the file: /],
  ['no YAML', () => 'brands: [', /^shop\.yaml:1:\d+ This is not valid YAML/],
])('the account reader reports %s', (_case, change, problem) => {
  const problems = problemsOf(change(GOOD));
  expect(problems[0]).toMatch(problem);
});

/** Lists the same account under `accounts` once for each head, with the lines given for it. */
function listed(...heads: readonly string[]): string {
  const account = (head: string) => `  - ${head}\n${GOOD.replace(/^/gm, '    ').trimEnd()}`;
  return ['accounts:', ...heads.map(account)].join('\n');
}

test('the account reader reads several accounts, which may use the same ids, each with its own keys and secret', () => {
  const accounts = parseAccounts(
    listed('{ id: A, keys: [a-1, 007], webhook_secret: s }', 'id: B').replace(
      '  - { id: A, keys: [a-1, 007], webhook_secret: s }\n',
      '  - id: A\n    keys: [a-1, 007]\n    webhook_secret: s\n',
    ),
    'shop.yaml',
  );
  expect(
    accounts.map(({ id, keys, webhook_secret, deals }) => [id, keys, webhook_secret, deals.length]),
  ).toEqual([
    ['A', ['a-1', '007'], 's', 2],
    ['B', [], null, 2],
  ]);
});

test.each<[string, string, RegExp]>([
  [
    'an account id that stands twice',
    listed('id: A', 'id: A'),
    /^shop\.yaml:\d+:\d+ id A appears twice in accounts/,
  ],
  [
    'a key that two accounts have',
    listed('keys: [k]', 'keys: [k]'),
    /^shop\.yaml:\d+:\d+ This key is already used above/,
  ],
  [
    'a key that no header can carry',
    listed('keys: [a b]'),
    /^shop\.yaml:2:12 accounts\.0\.keys\.0: must be a key/,
  ],
  [
    'what is wrong in one of them',
    listed('id: A').replace('brand_id: 4819, dealflow_id', 'brand_id: 1, dealflow_id'),
    /^shop\.yaml:8:\d+ There is no brand 1/,
  ],
  ['none', 'accounts: []', /^shop\.yaml:1:\d+ accounts: /],
  [
    'one beside the list',
    `${listed('id: A')}\nbrands: []`,
    /^shop\.yaml:\d+:\d+ the file has no member brands/,
  ],
])('the account reader reports, for several accounts, %s', (_case, yaml, problem) => {
  expect(problemsOf(yaml)[0]).toMatch(problem);
});

test('the account reader reports a missing file', () => {
  expect(() => readAccounts('/no/such/file.yaml')).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ code: 'sandbox_data_missing' }) }),
  );
});
