import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SourceSettings } from '../../../../src/config/source-fields.ts';
import { type ConsentRule, consentOf, describeConsent, mergeConsent } from '../../../../src/core/customer.ts';
import { KnownError } from '../../../../src/core/known-error.ts';
import { packageFile } from '../../../../src/core/package.ts';
import { CONSENT_LISTS } from '../../../../src/intake/customers/map/consent-words.ts';
import { checkSource } from '../../../../src/intake/layout/check-source.ts';
import { layoutHash } from '../../../../src/intake/layout/layout-hash.ts';
import { loadLayout, loadLayouts } from '../../../../src/intake/layout/load-layout.ts';
import type { Layout } from '../../../../src/intake/layout/to-layout.ts';
import { holdReason, sourceSettings } from '../../../store/source-settings.ts';
import {
  isRefused,
  type Mapped,
  mapCustomerLines,
  NOT_RECORDED,
  submittedOf,
  traceLines,
} from './map-customer-lines.ts';

const SHOPIFY = [
  'Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Phone,Total Spent,Total Orders,Tax Exempt',
  '1,Ann,A,ann@example.com,yes,,10.00,1,no',
  '2,Bob,B,bob@example.com,no,,10.00,1,no',
];

test.each(['hubspot', 'mailchimp', 'klaviyo', 'brevo', 'woocommerce-customers', 'generic-customers'])(
  'an export of Shopify under the layout %s is held, and the reason suggests the right layout',
  async (layout) => {
    const { message, help } = await holdReason(
      mapCustomerLines(
        layout,
        layout === 'brevo' ? SHOPIFY.map((line) => line.replace('Email,', 'EMAIL,')) : SHOPIFY,
      ),
    );
    expect(`${message} ${help}`).toContain('shopify-customers');
  },
);

test('a file without its consent column is held; the reason names the expected column, those of the file and the release', async () => {
  const lines = ['Record ID,Email,Marketing contact', '1,ann@example.com,Yes'];
  const reason = await holdReason(mapCustomerLines('hubspot', lines));
  expect(reason).toMatchObject({
    code: 'consent_column_missing',
    message: expect.stringContaining('"Unsubscribed from all email"'),
    help: expect.stringContaining('consent: not_recorded under sources.shop'),
  });
  expect(reason.message).toContain('"Marketing contact"');
  const many = ['Record ID,Email', ...[1, 2, 3, 4, 5, 6].map((place) => `Newsletter ${place}`)].join(',');
  const { message } = await holdReason(mapCustomerLines('hubspot', [many, '1,ann@example.com']));
  expect(message).toMatch(/"Newsletter 5"\.$/);
  expect((await mapCustomerLines('hubspot', lines, NOT_RECORDED)).customers).toHaveLength(1);
  expect((await mapCustomerLines('hubspot', lines, { consent: null })).customers).toHaveLength(1);
});

test('a source with not_recorded does not hide a consent column of the file', async () => {
  const reason = await holdReason(mapCustomerLines('generic-customers', SHOPIFY, NOT_RECORDED));
  expect(reason).toMatchObject({
    code: 'consent_column_unread',
    message: expect.stringContaining('"Accepts Email Marketing"'),
    help: expect.stringContaining('layout: shopify-customers under sources.shop'),
  });
  const mapped = await mapCustomerLines('shopify-customers', SHOPIFY, NOT_RECORDED);
  expect(submittedOf(mapped)).toEqual(['ann@example.com']);
  expect(mapped.passedOver.refused).toBe(1);
});

test('a column Status counts as consent only if the header proves that the export is from a tool that uses it so', async () => {
  const orders = ['Email,Status', 'ann@example.com,paid'];
  expect((await mapCustomerLines('generic-customers', orders, NOT_RECORDED)).customers).toHaveLength(1);
  const contacts = ['Email,Date Created,Tags,Status', 'ann@example.com,2026-04-10,vip,Unsubscribed'];
  expect(await holdReason(mapCustomerLines('generic-customers', contacts, NOT_RECORDED))).toMatchObject({
    code: 'consent_column_unread',
    help: expect.stringContaining('layout: activecampaign under sources.shop'),
  });
});

test('the single column Email identifies no format', async () => {
  const lines = ['Email,City', 'ann@example.com,Oslo'];
  for (const settings of [{}, NOT_RECORDED, { consent: null }]) {
    const { message, help } = await holdReason(mapCustomerLines('mailchimp', lines, settings));
    expect(message).toContain('OPTIN_TIME');
    expect(help).not.toContain('fits the layout');
  }
});

test('an unlisted consent value is neither a yes nor a no: its row is rejected', async () => {
  const lines = [
    'Email,Accepts Email Marketing,Total Orders',
    'ann@example.com,ja,1',
    'bob@example.com,nein,1',
    'cy@example.com,YES,1',
    'di@example.com,,1',
  ];
  const { customers, doubtful, rejected, seen } = await mapCustomerLines('shopify-customers', lines);
  expect(customers.map(({ address }) => address)).toEqual(['cy@example.com', 'di@example.com']);
  expect(rejected).toMatchObject([
    { code: 'unknown_consent', line: 2, column: 'Accepts Email Marketing', value: 'j*' },
    { code: 'unknown_consent', line: 3, column: 'Accepts Email Marketing' },
  ]);
  expect(seen.consent).toEqual({ columns: ['Accepts Email Marketing'], yes: 1, no: 0, blank: 1 });
  // Either word may mean no, so another row with a yes does not count.
  expect(doubtful.map((customer) => [customer.address, isRefused(customer)])).toEqual([
    ['ann@example.com', true],
    ['bob@example.com', true],
  ]);
});

test('a refusal counts for the people whom a cell names that is not one address, and a yes does not', async () => {
  const { customers, doubtful, rejected } = await mapCustomerLines('shopify-customers', [
    'Email,Accepts Email Marketing,Total Orders',
    'Ann <ann@example.com>,no,1',
    '"bob@example.com; mailto:cy@example.com",no,1',
    'Di <di@example.com>,nein,1',
    'Ed <ed@example.com>,yes,1',
    'Flo <flo@example.com>,,1',
    'ann at example.com,no,1',
    'gus@EXAMPLE.com.,no,1',
    "'hal@example.com',no,1",
    'ida@example.com?subject=no,no,1',
    'jo@example.com/,yes,1',
  ]);
  expect([customers, rejected.length]).toEqual([[], 10]);
  expect(doubtful.filter(isRefused).map(({ address }) => address)).toEqual(
    ['ann', 'bob', 'cy', 'di', 'gus', 'hal', 'ida'].map((name) => `${name}@example.com`),
  );
  expect(doubtful).toHaveLength(7);
});

test('a refusal counts in any consent column', async () => {
  const mapped = await mapCustomerLines('shopify-customers', [
    'Email,Accepts Email Marketing,Accepts Marketing,Total Orders',
    'ann@example.com,,no,1',
    'bob@example.com,yes,no,1',
    'cy@example.com,,yes,1',
  ]);
  expect(submittedOf(mapped)).toEqual(['cy@example.com']);
  expect(mapped.passedOver).toMatchObject({ refused: 1, contradicting: 1 });
});

test.each([
  ['generic-customers', 'email,consent,Tags', 'yes,unsubscribed', 'yes,"vip, do-not-email"', 'yes,vip'],
  ['generic-customers', 'email,consent,Lists', 'yes,Do not contact', 'yes,"News, Opted out"', 'yes,News'],
  ['generic-customers', 'email,consent,is_active', 'yes,no', 'yes,0', 'yes,yes'],
  ['generic-customers', 'email,consent,Confirmed', 'yes,no', 'yes,0', 'yes,1'],
  ['generic-customers', 'email,consent,On Hold', 'yes,On Hold Bounce', 'yes,1', 'yes,No'],
  ['generic-customers', 'email,consent,removed_at', 'yes,2026-05-01', 'yes,x', 'yes,'],
  ['generic-customers', 'email,consent,Status', 'yes,Removed', 'yes,cancelled', 'yes,customer'],
  [
    'shopify-customers',
    'Email,Accepts Email Marketing,Total Orders,Tags',
    'yes,1,unsubscribed',
    'yes,1,"a, opt-out"',
    'yes,1,',
  ],
  [
    'omnisend',
    'Email,Email subscription status,Email consent',
    'subscribed,expired',
    'subscribed,no',
    'subscribed,yes',
  ],
])('%s: a no beside a yes counts: %s', async (layout, header, ...rows) => {
  const lines = rows.map((row, at) => `${at}@example.com,${row}`);
  expect(submittedOf(await mapCustomerLines(layout, [header, ...lines]))).toEqual(['2@example.com']);
});

test.each([
  ['file:///x/unsubscribed.csv', true],
  ['s3://x/list/bounced-2026-11.csv.gz', true],
  ['file:///x/opt-outs/2026.csv', true],
  ['file:///x/Abgemeldet.csv', true],
  ['file:///unsubscribed/x/list.csv', false],
  ['file:///x/archived/list.csv', false],
  ['file:///x/newsletter.csv', false],
])(
  'the name %s says that the people in the file refused: %s; then rows that do not say so hold it',
  async (uri, isHeld) => {
    for (const says of ['yes', '']) {
      const mapped = mapCustomerLines('generic-customers', ['email,consent', `ann@example.com,${says}`], {
        uri,
      });
      if (isHeld) expect(await holdReason(mapped)).toMatchObject({ code: 'refusals_unread' });
      else expect((await mapped).customers).toHaveLength(1);
    }
    const refused = await mapCustomerLines('generic-customers', ['email,consent', 'ann@example.com,no'], {
      uri,
    });
    expect([submittedOf(refused), refused.customers.length]).toEqual([[], 1]);
    const read = await mapCustomerLines('generic-customers', ['email,consent', 'ann@example.com,yes'], {
      uri,
      consent: null,
    });
    expect(read.customers).toHaveLength(1);
  },
);

test('in an export of orders, a cancelled or closed order says nothing about the consent of its customer', async () => {
  const mapped = await mapCustomerLines('shopify-orders', [
    'Name,Email,Financial Status,Accepts Marketing,Currency,Total,Created at,Lineitem name,Cancelled at,Closed at,On hold',
    '#1,ann@example.com,paid,yes,EUR,10.00,2026-05-01 10:00:00 +0200,Mug,2026-05-02,2026-05-02,yes',
  ]);
  expect(submittedOf(mapped)).toEqual(['ann@example.com']);
});

test('consent is counted as yes, no and blank for each format, with its columns', async () => {
  const count = async (layout: string, lines: readonly string[]) =>
    describeConsent((await mapCustomerLines(layout, lines)).seen.consent);
  expect(
    await count('brevo', [
      'EMAIL;EMAIL_BLACKLISTED;DOUBLE_OPT-IN',
      'a@x.example;1;',
      'b@x.example;0;',
      'c@x.example;0;1',
    ]),
  ).toBe('1 yes, 1 no, 1 neither, by "EMAIL_BLACKLISTED" and "DOUBLE_OPT-IN"');
  expect(
    await count('mailchimp', [
      'Email,OPTIN_TIME,UNSUB_TIME',
      'a@x.example,2025-01-01,',
      'b@x.example,2025-01-01,2025-02-01',
    ]),
  ).toBe('1 yes, 1 no, 0 neither, by "OPTIN_TIME" and "UNSUB_TIME"');
  expect(
    await count('klaviyo', [
      'Email,Email Marketing Consent,Email Suppressions',
      'a@x.example,SUBSCRIBED,[]',
      'b@x.example,NEVER_SUBSCRIBED,',
      'c@x.example,,',
    ]),
  ).toBe('1 yes, 1 no, 1 neither, by "Email Marketing Consent" and "Email Suppressions"');
  expect(
    await count('hubspot', [
      'Record ID,Email,Unsubscribed from all email',
      '1,a@x.example,true',
      '2,b@x.example,false',
    ]),
  ).toBe('0 yes, 1 no, 1 neither, by "Unsubscribed from all email"');
});

test('a job that requires consent rejects a layout without it, and a source that does not record it', () => {
  const source = sourceSettings('/exports');
  const problemsOf = (
    layout: string,
    given: Partial<SourceSettings>,
    consent: ConsentRule,
  ): readonly string[] => {
    try {
      checkSource(loadLayout(layout), { ...source, layout, ...given }, { readFor: 'customers', consent });
      return [];
    } catch (error) {
      if (!(error instanceof KnownError)) throw error;
      expect(error.details).toMatchObject({ code: 'source_incomplete', exitCode: 2 });
      return (error.details.problems ?? []).map(({ message, help }) => `${message} ${help}`);
    }
  };
  const required = problemsOf('woocommerce-customers', { consent: 'not_recorded' }, 'required');
  expect(required).toEqual([expect.stringContaining('consent: required')]);
  expect(problemsOf('shopify-customers', { consent: 'not_recorded' }, 'required')).toHaveLength(1);
  expect(problemsOf('magento-orders', {}, 'required')).toHaveLength(1);
  expect(problemsOf('shopify-customers', {}, 'required')).toEqual([]);
  const unsaid = problemsOf('woocommerce-customers', {}, 'not_refused');
  expect(unsaid).toEqual([expect.stringContaining('consent: not_recorded')]);
  expect(problemsOf('woocommerce-customers', { consent: 'not_recorded' }, 'not_refused')).toEqual([]);
  const bySource = problemsOf('substack', {}, 'by_source');
  expect(bySource).toEqual([
    expect.stringContaining('not who has agreed, so no customer would be submitted'),
  ]);
  expect(problemsOf('substack', { consent: 'not_recorded' }, 'by_source')).toEqual([]);
  expect(problemsOf('patreon', {}, 'not_refused')).toHaveLength(1);
  expect(problemsOf('patreon', {}, 'by_source')).toHaveLength(1);
  expect(problemsOf('patreon', { consent: 'not_recorded' }, 'by_source')).toEqual([]);
});

test('every layout of customers defines its consent columns, or declares that its format has none', () => {
  const customers = loadLayouts().filter(({ required }) => required.includes('email'));
  for (const { name, consent, lacks, signature } of customers) {
    expect(consent.columns.length > 0, name).toBe(!lacks.includes('consent'));
    if (name !== 'generic-customers') expect(signature.length, name).toBeGreaterThan(0);
  }
});

/** Loads a layout in the format from before layouts could declare consent. */
function ownLayout(text: string): Layout {
  const folder = mkdtempSync(join(tmpdir(), 'layouts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'own.yaml'), text);
  return loadLayout('own', [folder]);
}

test('a layout without consent can be loaded, but its files are held until the source says that no one refused', async () => {
  const layout = ownLayout('title: Members\ncolumns: {email: [E-Mail]}\nrequired: [email]\n');
  const source = { ...sourceSettings('/exports'), layout: 'own' };
  const asked = { readFor: 'customers', consent: 'not_refused' } as const;
  expect(() => checkSource(layout, source, asked)).not.toThrow();
  expect(() => checkSource(layout, source, { ...asked, consent: 'required' })).toThrow(KnownError);
  const lines = ['E-Mail,Newsletter', 'ann@example.com,no'];
  expect(await holdReason(mapCustomerLines('own', lines, { layout }))).toMatchObject({
    code: 'consent_column_missing',
    message:
      'The layout own does not say which column holds consent, so it is not known who in this file has refused. The file has "Newsletter".',
    help: expect.stringContaining('consent: not_recorded under sources.shop'),
  });
  expect((await mapCustomerLines('own', lines, { layout, ...NOT_RECORDED })).customers).toHaveLength(1);
});

test('columns in the consent tests of a layout count as listed: a file without them is held, and unknown words reject their row', async () => {
  const layout = ownLayout(`
title: Members
columns: {email: [E-Mail]}
required: [email]
consent: {refused: [{columns: [Newsletter], equals: ["no"]}], given: [{columns: [Newsletter], equals: ["yes"]}]}
unsubscribed: [{columns: [Left], not_blank: true}]
`);
  const { customers, rejected } = await mapCustomerLines(
    'own',
    [
      'E-Mail,Newsletter,Left',
      'a@x.example,yes,',
      'b@x.example,no,',
      'c@x.example,nein,',
      'd@x.example,yes,May',
    ],
    { layout },
  );
  expect(customers.map((customer) => [customer.address, isRefused(customer)])).toEqual([
    ['a@x.example', false],
    ['b@x.example', true],
    ['d@x.example', true],
  ]);
  expect(rejected).toMatchObject([{ code: 'unknown_consent', line: 4, column: 'Newsletter' }]);
  const reason = await holdReason(mapCustomerLines('own', ['E-Mail,Left', 'a@x.example,'], { layout }));
  expect(reason).toMatchObject({ code: 'consent_column_missing' });
});

test('a layout with only unsubscribe tests treats no, false and 0 as neutral', async () => {
  const layout = ownLayout(`
title: Members
columns: {email: [E-Mail]}
required: [email]
unsubscribed: [{columns: [Opted out], equals: ["true"]}]
`);
  const { customers, rejected } = await mapCustomerLines(
    'own',
    ['E-Mail,Opted out', 'a@x.example,False', 'b@x.example,', 'c@x.example,true', 'd@x.example,oui'],
    { layout },
  );
  expect(customers.map((customer) => [customer.address, isRefused(customer)])).toEqual([
    ['a@x.example', false],
    ['b@x.example', false],
    ['c@x.example', true],
  ]);
  expect(rejected).toMatchObject([{ code: 'unknown_consent', line: 5 }]);
});

test('the hash of a reading changes with settings that affect who is submitted, but not with those of orders', () => {
  const layout = loadLayout('shopify-orders');
  const source = sourceSettings('/exports');
  const asked = { readFor: 'customers', consent: 'not_refused' } as const;
  const hash = layoutHash(layout, source, asked);
  const others = [
    layoutHash(layout, source, { ...asked, consent: 'required' }),
    layoutHash(layout, { ...source, consent: 'not_recorded' }, asked),
    layoutHash({ ...layout, consent: { ...layout.consent, refused: [] } }, source, asked),
  ];
  expect(new Set([hash, ...others]).size).toBe(4);
  expect(layoutHash({ ...layout, exclusions: [] }, source, asked)).toBe(hash);
  const orders = { readFor: 'orders' } as const;
  expect(layoutHash(layout, { ...source, consent: 'not_recorded' }, orders)).toBe(
    layoutHash(layout, source, orders),
  );
});

test('the hash of a reading differs from that of version 0.2.0, so that an upgrade reads every file of customers again', () => {
  const layout = ownLayout('title: Members\ncolumns: {email: [E-Mail]}\nrequired: [email]\n');
  const source = { ...sourceSettings('/exports'), layout: 'own' };
  expect(layoutHash(layout, source, { readFor: 'customers', consent: 'not_refused' })).not.toBe(
    '2nUWNPkr_nON4i1sR4nF--kLYxfZTIxnWmQGpQnG5mo',
  );
});

test('every list of words of consent is in the hash of a reading, so that a new word reads every file of customers again', () => {
  const text = readFileSync(packageFile('src/intake/customers/map/consent-words.ts'), 'utf8');
  const lists = [...text.matchAll(/^const ([A-Z_]+) =/gm)].map(([, name = '']) => name);
  const [, digested = ''] = /CONSENT_LISTS[^=]*= \[(.*?)\n\];/s.exec(text) ?? [];
  expect(lists.filter((name) => name !== 'MAX_CHARS' && !new RegExp(`\\b${name}\\b`).test(digested))).toEqual(
    [],
  );
  expect(lists.length).toBeGreaterThan(15);
  const asked = { readFor: 'customers', consent: 'not_refused' } as const;
  const hashOf = () => layoutHash(loadLayout('shopify-orders'), sourceSettings('/exports'), asked);
  const before = hashOf();
  const known = CONSENT_LISTS as string[];
  known.push('another word');
  onTestFinished(() => void known.pop());
  expect(hashOf()).not.toBe(before);
});

/** Says what happens to the customer of one row. */
function outcome({ customers, rejected, passedOver }: Mapped): string {
  if (rejected.length > 0) return 'rejected';
  const [customer] = customers;
  if (customer === undefined)
    return Object.entries(passedOver).find(([, rows]) => rows > 0)?.[0] ?? 'nothing';
  return isRefused(customer) ? 'no' : customer.saidYes ? 'yes' : 'unknown';
}

test('a refusal beside a word that the layout does not list is a refusal, and its row is not rejected', async () => {
  const header = 'Email,Accepts Email Marketing,Accepts Marketing,Total Orders';
  const said = async (row: string) => outcome(await mapCustomerLines('shopify-customers', [header, row]));
  expect(await said('a@x.example,perhaps,no,1')).toBe('no');
  expect(await said('a@x.example,no,perhaps,1')).toBe('no');
  expect(await said('a@x.example,perhaps,yes,1')).toBe('rejected');
});

test('a row of an order that has no state but a total is its first one, and its consent counts', async () => {
  const mapped = await mapCustomerLines('shopify-orders', [
    'Name,Email,Financial Status,Accepts Marketing,Currency,Total,Discount Code,Created at,Lineitem name,Id',
    '#1,ann@x.example,,no,EUR,10.00,,2026-04-10 11:11:26 +0200,Mug,1',
    '#1,ann@x.example,,yes,,,,,Bowl,',
  ]);
  expect(mapped.customers.map(isRefused)).toEqual([true]);
  expect(mapped.passedOver).toMatchObject({ no_address: 1, refused: 1 });
});

test.each([
  ['Unsubscribed', 'yes', 'no'],
  ['Unsubscribed', '2026-01-03', 'no'],
  ['Unsubscribed', 'no', 'yes'],
  ['Unsubscribed', '', 'yes'],
  ['Cleaned', 'x', 'no'],
  ['Unsub Time', '2026-01-03 10:00:00', 'no'],
  ['Opted-out', 'true', 'no'],
  ['do_not_email', '1', 'no'],
  ['Suppressed at', '2026-01-03', 'no'],
  ['Bounced', '1', 'no'],
  ['Deleted at', '2026-01-03', 'no'],
  ['Email disabled', 'true', 'no'],
  ['Abgemeldet', 'ja', 'no'],
  ['désabonné', 'oui', 'no'],
  ['Status', 'Unsubscribed', 'no'],
  ['Status', 'Pending', 'no'],
  ['Status', 'VIP', 'yes'],
  ['SMS unsubscribed', 'yes', 'yes'],
  ['Unsubscribe link', 'https://x.example/u', 'yes'],
])('the column %s with %j beside an opt-in time is read as consent: %s', async (column, cell, expected) => {
  const lines = [`Email Address,OPTIN_TIME,LEID,${column}`, `ann@x.example,2026-01-02 10:00:00,1,${cell}`];
  expect(outcome(await mapCustomerLines('mailchimp', lines))).toBe(expected);
});

test('an opt-in time that is none is not a yes', async () => {
  const said = async (time: string) =>
    outcome(
      await mapCustomerLines('mailchimp', ['Email,OPTIN_TIME', `ann@x.example,${time}`], {
        consent: 'by_source',
      }),
    );
  expect(await said('2026-01-02 10:00:00')).toBe('yes');
  expect(await said('0000-00-00 00:00:00')).toBe('unknown');
  expect(await said('no')).toBe('unknown');
  expect(await said('-')).toBe('unknown');
  expect(await said('perhaps')).toBe('rejected');
});

test('a file without a column that could only take permission away is held, unless the layout says why it may be missing', async () => {
  const lines = ['Email,Email Marketing Consent', 'a@x.example,SUBSCRIBED'];
  const reason = await holdReason(mapCustomerLines('klaviyo', lines));
  expect(reason).toMatchObject({
    code: 'column_missing',
    message: expect.stringContaining('"Email Suppressions"'),
    help: expect.stringContaining('may_be_missing: { "Email Suppressions": "…" }'),
  });
  const klaviyo = loadLayout('klaviyo');
  const layout = { ...klaviyo, mayBeMissing: { 'email suppressions': 'we suppress nobody' } };
  expect(submittedOf(await mapCustomerLines('klaviyo', lines, { layout }))).toEqual(['a@x.example']);
});

test('a yes has the date that the row gives it, and a no that of the row or of the file; without a zone, a yes is as early and a no as late as it may have been', async () => {
  const asOf = new Date('2026-06-01T00:00:00Z');
  const hours = (from: string, ms: number | null | undefined) => ((ms ?? 0) - Date.parse(from)) / 3_600_000;
  const read = async (row: string, timeZone: string | null) => {
    const lines = ['email,consent,consent_at,unsubscribed,unsubscribed_at', row];
    const source = { name: 'shop', currency: null, consent: 'recorded', timeZone } as const;
    const mapped = await mapCustomerLines('generic-customers', lines, { asOf, source });
    return mapped.customers[0];
  };
  const yes = 'a@x.example,yes,2026-05-01 10:00:00,,';
  expect(hours('2026-05-01T10:00:00Z', (await read(yes, 'UTC'))?.consentedAt)).toBe(0);
  expect(hours('2026-05-01T10:00:00Z', (await read(yes, null))?.consentedAt)).toBe(-14);
  const own = await read('a@x.example,yes,2026-05-01 10:00:00 +02:00,,', null);
  expect(hours('2026-05-01T08:00:00Z', own?.consentedAt)).toBe(0);
  const no = await read('a@x.example,,,yes,2026-05-01', null);
  expect(hours('2026-05-01T00:00:00Z', no?.refusedAt)).toBe(24 + 14);
  expect(hours('2026-06-01T00:00:00Z', (await read('a@x.example,no,,,', 'UTC'))?.refusedAt)).toBe(0);
  // The date of the answer is that of a no, too, unless another column says no without a date.
  const dated = await read('a@x.example,no,2026-05-01 10:00:00,,', 'UTC');
  expect([dated?.saidYes, dated?.consentedAt]).toEqual([false, null]);
  expect(hours('2026-05-01T10:00:00Z', dated?.refusedAt)).toBe(0);
  const later = await read('a@x.example,yes,2026-05-02 10:00:00,,', 'UTC');
  expect(dated && later && consentOf(mergeConsent(dated, later))).toBe('yes');
  const earlier = await read('a@x.example,yes,2026-04-30 10:00:00,,', 'UTC');
  expect(dated && earlier && consentOf(mergeConsent(dated, earlier))).toBe('no');
  const undated = await read('a@x.example,no,2026-05-01 10:00:00,yes,', 'UTC');
  expect(hours('2026-06-01T00:00:00Z', undated?.refusedAt)).toBe(0);
  const onlyLeft = await read('a@x.example,yes,2026-05-01 10:00:00,yes,', 'UTC');
  expect(hours('2026-06-01T00:00:00Z', onlyLeft?.refusedAt)).toBe(0);
  // A date after the file was written is wrong.
  expect((await read('a@x.example,yes,2026-07-01 10:00:00,,', 'UTC'))?.consentedAt).toBeNull();
  // A yes and a no in one row are a no, and the later yes of the row is part of the contradiction.
  const both = await read('a@x.example,yes,2026-05-03 10:00:00,yes,2026-05-01 10:00:00', 'UTC');
  expect(hours('2026-05-03T10:00:00Z', both?.refusedAt)).toBe(0);
});

test('what a file says about one person is told row by row: the verdict, the dates, and each column that says something', async () => {
  const rows = await traceLines(
    'generic-customers',
    [
      'email,consent,consent_at,unsubscribed,unsubscribed_at',
      'Ann@x.example,yes,2026-04-01 10:00:00,,',
      'bob@x.example,no,,,',
      ',yes,,,',
      'no address,yes,,,',
      "'ann@X.example,yes,2026-04-01 10:00:00,yes,2026-04-02 10:00:00",
      'ann@x.example,no,,,',
      'ann@x.example,perhaps,,,',
      'ann@x.example,,,,',
    ],
    {
      folded: 'ann@x.example',
      source: { name: 'shop', currency: null, consent: 'recorded', timeZone: 'UTC' },
    },
  );
  expect(rows.map(({ line, verdict }) => `${line} ${verdict}`)).toEqual([
    '2 yes',
    '6 contradicting',
    '7 no',
    '8 unlisted',
    '9 unknown',
  ]);
  const at = (time: string) => Date.parse(`2026-04-${time}Z`);
  expect(rows.map(({ consentedAt, refusedAt }) => [consentedAt, refusedAt])).toEqual([
    [at('01T10:00:00'), null],
    [at('01T10:00:00'), at('02T10:00:00')],
    // Without a date, a no is as old as its file.
    [null, at('12T00:00:00')],
    [null, at('12T00:00:00')],
    [null, null],
  ]);
  expect(rows[1]?.cells).toEqual([
    { column: 'consent', word: 'yes', says: 'yes' },
    { column: 'unsubscribed', word: 'yes', says: 'no' },
    { column: 'unsubscribed_at', word: '2026-04-02 10:00:00', says: 'no' },
  ]);
  expect(rows.slice(2).map(({ cells }) => cells.map(({ word, says }) => `${word}: ${says}`))).toEqual([
    ['no: no'],
    ['perhaps: unlisted'],
    [],
  ]);
});

test('a line item tells nothing about the customer of its order', async () => {
  const lines = [
    'Name,Email,Financial Status,Accepts Marketing,Currency,Total,Discount Code,Created at,Lineitem name,Id',
    '#1,ann@x.example,paid,no,EUR,10.00,,2026-04-10 11:11:26 +0200,Mug,1',
    '#1,ann@x.example,,yes,,,,,Bowl,',
  ];
  const rows = await traceLines('shopify-orders', lines, { folded: 'ann@x.example' });
  expect(rows.map(({ line, verdict }) => `${line} ${verdict}`)).toEqual(['2 no']);
});
