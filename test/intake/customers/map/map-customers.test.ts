import { expect, test } from 'vitest';
import { NOBODY_PASSED_OVER } from '../../../../src/core/customer.ts';
import type { MapCustomersOptions } from '../../../../src/intake/customers/map/customer-reader.ts';
import { layoutFor } from '../../../../src/intake/layout/layout-for.ts';
import { loadLayouts } from '../../../../src/intake/layout/load-layout.ts';
import { isRefused, type Mapped, mapCustomerLines as mapText, NOT_RECORDED } from './map-customer-lines.ts';

/** Returns `address orders spent` of each customer, prefixed with a minus if their consent is no. */
function facts({ customers }: Mapped): string[] {
  return customers.map((customer) => {
    const { address, ordersCount, spent } = customer;
    return `${isRefused(customer) ? '-' : ''}${address} ${ordersCount ?? ''} ${spent ?? ''}`.trimEnd();
  });
}

/** The counts of rows whose customer is not submitted. */
function skipped(counts: Partial<Mapped['passedOver']>): Mapped['passedOver'] {
  return { ...NOBODY_PASSED_OVER, ...counts };
}

test('shopify-customers: apostrophes, CRLF without a BOM, customers without consent, customers with only a phone', async () => {
  const mapped = await mapText('shopify-customers', [
    'Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Default Address Company,Phone,Accepts SMS Marketing,Total Spent,Total Orders,Note,Tax Exempt,Tags',
    `'9013808660771,Ann,A,ann@example.com,yes,,'+31612345678,no,"1,120.50",3,,no,"vip, new"`,
    `'9013808660772,Bob,B,'bob@example.com,yes,,,yes,0.00,0,,no,`,
    `'9013808660773,Cy,C,cy@example.com,no,,,no,5.00,1,,no,`,
    `'9013808660774,Di,D,,yes,,'+44,yes,5.00,1,,no,`,
  ]);
  expect(facts(mapped)).toEqual([
    'ann@example.com 3 1120.50',
    'bob@example.com 0 0.00',
    '-cy@example.com 1 5.00',
  ]);
  expect(mapped.passedOver).toEqual(skipped({ no_address: 1, refused: 1 }));
});

test('shopify-customers: the older header', async () => {
  const mapped = await mapText('shopify-customers', [
    'First Name,Last Name,Email,Company,Address1,Zip,Phone,Accepts Marketing,Total Spent,Total Orders,Tags,Note,Tax Exempt',
    "Ann,A,ann@example.com,,Street 1,'01234,,yes,10.00,2,,,no",
    "Cy,C,cy@example.com,,Street 1,'01234,,no,10.00,2,,,no",
  ]);
  expect(facts(mapped)).toEqual(['ann@example.com 2 10.00', '-cy@example.com 2 10.00']);
});

test('woocommerce-customers: orders and total spend, currency symbols, no consent', async () => {
  const lines = [
    'Name,Username,Last Active,Sign Up,Email,Orders,Total Spend,AOV,Country / Region',
    'Ann A,ann,2026-04-01,2025-01-01,ann@example.com,4,"€1,204.00",€301.00,NL',
  ];
  expect(facts(await mapText('woocommerce-customers', lines, NOT_RECORDED))).toEqual([
    'ann@example.com 4 1204.00',
  ]);
  expect(
    (await mapText('woocommerce-customers', lines, { ...NOT_RECORDED, consent: 'required' })).passedOver,
  ).toMatchObject({ unknown: 1 });
});

test('mailchimp: members, with doubly quoted tags', async () => {
  const mapped = await mapText('mailchimp', [
    'Email Address,First Name,Last Name,MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,LAST_CHANGED,LEID,EUID,NOTES,TAGS',
    'ann@example.com,Ann,A,2,2025-01-01 10:00:00,,2025-01-01 10:00:00,2025-01-01 10:00:00,1,e1,,"""VIP"",""Blog"""',
    'bob@example.com,Bob,B,2,,,,2025-01-01 10:00:00,2,e2,,',
  ]);
  expect(facts(mapped)).toEqual(['ann@example.com', 'bob@example.com']);
});

test('mailchimp: the files of unsubscribed and cleaned customers', async () => {
  const unsubscribed = await mapText('mailchimp', [
    'Email Address,First Name,OPTIN_TIME,UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_REASON,TAGS',
    'ann@example.com,Ann,2025-01-01 10:00:00,2025-02-01 10:00:00,Spring,NORMAL,"""VIP"""',
  ]);
  expect(facts(unsubscribed)).toEqual(['-ann@example.com']);
  const cleaned = await mapText('mailchimp', [
    'Email,CLEAN_TIME,CLEAN_CAMPAIGN_TITLE',
    'bob@example.com,2025-02-01 10:00:00,x',
  ]);
  expect(facts(cleaned)).toEqual(['-bob@example.com']);
});

test('brevo: semicolons and blacklisted customers', async () => {
  const mapped = await mapText('brevo', [
    'CONTACT ID;EMAIL;FIRSTNAME;EMAIL_BLACKLISTED;SMS_BLACKLISTED;ADDED_TIME',
    '1;ann@example.com;Ann;false;false;01-02-2026 10:00',
    '2;bob@example.com;Bob;true;false;01-02-2026 10:00',
    '3;cy@example.com;Cy;Yes;false;01-02-2026 10:00',
  ]);
  expect(facts(mapped)).toEqual(['ann@example.com', '-bob@example.com', '-cy@example.com']);
});

test('klaviyo: both names of the column, consent and suppressions', async () => {
  const mapped = await mapText('klaviyo', [
    'Email,First Name,Email Marketing Consent,Email Suppressions,Historic Number Of Orders',
    'ann@example.com,Ann,SUBSCRIBED,,3',
    'bob@example.com,Bob,NEVER_SUBSCRIBED,,0',
    'cy@example.com,Cy,UNSUBSCRIBED,,1',
    'di@example.com,Di,SUBSCRIBED,"[HARD_BOUNCE]",1',
    'ed@example.com,Ed,,,',
  ]);
  expect(facts(mapped)).toEqual([
    'ann@example.com 3',
    '-bob@example.com 0',
    '-cy@example.com 1',
    '-di@example.com 1',
    'ed@example.com',
  ]);
  expect(mapped.passedOver).toMatchObject({ refused: 2, contradicting: 1 });
  const other = ['Klaviyo ID,Email Address,City', 'k1,ann@example.com,Oslo'];
  expect(facts(await mapText('klaviyo', other, NOT_RECORDED))).toEqual(['ann@example.com']);
});

test('hubspot: the column is found by its name, not by the word "email" elsewhere', async () => {
  const mapped = await mapText('hubspot', [
    'Record ID,First Name,channel,Preferred contact,Email,Unsubscribed from all email,"Company, name"',
    '1,Ann,email,ann-old@example.com,ann@example.com,,"Acme, Inc."',
    '2,Bob,email,,bob@example.com,true,',
    '3,Cy,email,,,false,',
  ]);
  expect(facts(mapped)).toEqual(['ann@example.com', '-bob@example.com']);
  expect(mapped.passedOver.no_address).toBe(1);
});

test('omnisend: subscribed, never subscribed and unsubscribed', async () => {
  const mapped = await mapText('omnisend', [
    'Email,First name,Phone number,Email subscription status,Email consent,Email opt-in date,SMS subscription status',
    'ann@example.com,Ann,,Subscribed,yes,2026-01-02T10:00:00Z,Non-subscribed',
    'bob@example.com,Bob,,Non-subscribed,,,Subscribed',
    'cy@example.com,Cy,,Unsubscribed,,2026-01-02T10:00:00Z,',
    ',,+31600000000,,,,Subscribed',
  ]);
  expect(facts(mapped)).toEqual(['ann@example.com', '-bob@example.com', '-cy@example.com']);
  expect(mapped.passedOver).toMatchObject({ refused: 2, no_address: 1 });
});

test('activecampaign: active, unconfirmed, unsubscribed and bounced, as words or numbers, and custom fields', async () => {
  const header = 'Email,First Name,Last Name,Phone,Date Created,Tags,Status,*How did you hear about us?';
  const mapped = await mapText('activecampaign', [
    header,
    'ann@example.com,Ann,A,,2026-01-02 10:00:00,"vip, newsletter",Active,"a friend, bob"',
    'bob@example.com,Bob,B,,2026-01-02 10:00:00,,Unconfirmed,',
    'cy@example.com,Cy,C,,2026-01-02 10:00:00,vip,Unsubscribed,',
    'di@example.com,Di,D,,2026-01-02 10:00:00,,Bounced,',
    'eve@example.com,Eve,E,,2026-01-02 10:00:00,,1,',
    'fay@example.com,Fay,F,,2026-01-02 10:00:00,,2,',
    'gus@example.com,Gus,G,,2026-01-02 10:00:00,,Inactive,',
    ',Hal,H,+31600000000,2026-01-02 10:00:00,,Active,',
  ]);
  expect(facts(mapped)).toEqual([
    'ann@example.com',
    '-bob@example.com',
    '-cy@example.com',
    '-di@example.com',
    'eve@example.com',
    '-fay@example.com',
    '-gus@example.com',
  ]);
  expect(mapped.passedOver).toMatchObject({ refused: 5, no_address: 1 });
  const { rejected } = await mapText('activecampaign', [
    header,
    'ann@example.com,Ann,A,,2026-01-02 10:00:00,,Customer,',
  ]);
  expect(rejected).toMatchObject([{ code: 'unknown_consent', column: 'Status' }]);
});

test('activecampaign: an export without the status is held, because its consent is unknown', async () => {
  const lines = [
    'Email,First Name,Last Name,Phone,Date Created,Tags',
    'ann@example.com,Ann,A,,2026-01-02 10:00:00,vip',
  ];
  await expect(mapText('activecampaign', lines)).rejects.toMatchObject({
    reason: { code: 'consent_column_missing', message: expect.stringContaining('"Status"') },
  });
});

test('salesforce-contacts: opted out, bounced and deleted contacts, checkboxes as digits or words', async () => {
  const dataExport = await mapText('salesforce-contacts', [
    '"Id","IsDeleted","AccountId","LastName","FirstName","Email","HasOptedOutOfEmail","HasOptedOutOfFax","EmailBouncedReason"',
    '"003A1","0","001A1","A","Ann","ann@example.com","0","0",""',
    '"003A2","0","001A1","B","Bob","bob@example.com","1","0",""',
    '"003A3","0","001A1","C","Cy","cy@example.com","0","0","550 no such user"',
    '"003A4","1","001A1","D","Di","di@example.com","0","0",""',
  ]);
  expect(facts(dataExport)).toEqual([
    'ann@example.com',
    '-bob@example.com',
    '-cy@example.com',
    '-di@example.com',
  ]);
  const report = [
    'Contact ID,Email,Email Opt Out',
    '003A1,ann@example.com,false',
    '003A2,bob@example.com,true',
  ];
  expect(facts(await mapText('salesforce-contacts', report))).toEqual([
    'ann@example.com',
    '-bob@example.com',
  ]);
});

test('a column whose header only contains the word email is not used', async () => {
  await expect(mapText('hubspot', ['Record ID,channel,Email opt-in', '1,email,yes'])).rejects.toMatchObject({
    reason: { code: 'header_mismatch' },
  });
});

test('generic-customers: consent, by the rule of the job', async () => {
  const lines = [
    'email,consent,unsubscribed,orders_count,total_spent,currency',
    'a@example.com,yes,,1,10.00,EUR',
    'b@example.com,,,x,not money,EUR',
    'c@example.com,no,,,,',
    'd@example.com,yes,yes,,,',
  ];
  const withRule = async (consent: MapCustomersOptions['consent']) =>
    facts(await mapText('generic-customers', lines, { consent }));
  const refused = ['-c@example.com', '-d@example.com'];
  expect(await withRule('not_refused')).toEqual(['a@example.com 1 10.00', 'b@example.com', ...refused]);
  expect(await withRule('required')).toEqual(['a@example.com 1 10.00', ...refused]);
  expect(await withRule('by_source')).toEqual(['a@example.com 1 10.00', ...refused]);
  // To forget customers, their consent does not matter.
  expect(await withRule(null)).toHaveLength(4);
});

test('unreadable cells of optional columns are counted for each column, with the line of the first', async () => {
  const { customers, seen } = await mapText('shopify-customers', [
    'Email,Accepts Email Marketing,Total Spent,Total Orders,Orders Count',
    'a@example.com,yes,10.00,1,',
    'b@example.com,yes,"12,50",,many',
    'c@example.com,yes,,2,x',
    'd@example.com,yes,1.249.00,,3',
  ]);
  expect(customers).toHaveLength(4);
  expect(seen.optional).toEqual([
    { column: 'Total Orders', holds: 'orders_count', filled: 2, unreadable: 0, firstUnreadableLine: null },
    { column: 'Orders Count', holds: 'orders_count', filled: 2, unreadable: 1, firstUnreadableLine: 3 },
    { column: 'Total Spent', holds: 'spent', filled: 3, unreadable: 2, firstUnreadableLine: 3 },
  ]);
});

test('an unreadable currency is counted, and the currency of the source replaces a blank one', async () => {
  const { customers, seen } = await mapText(
    'generic-customers',
    [
      'email,consent,total_spent,currency',
      'a@example.com,yes,10.00,Euro',
      'b@example.com,yes,10.00,',
      'c@example.com,yes,,USD',
    ],
    { source: { name: 'shop', currency: 'EUR', consent: 'recorded' } },
  );
  expect(customers.map(({ currency }) => currency)).toEqual([null, 'EUR', null]);
  expect(seen.optional.at(-1)).toEqual({
    column: 'currency',
    holds: 'currency',
    filled: 2,
    unreadable: 1,
    firstUnreadableLine: 2,
  });
});

test('shopify-orders: line items add no customers, whatever they repeat; codes are recorded', async () => {
  const mapped = await mapText('shopify-orders', [
    'Name,Email,Financial Status,Accepts Marketing,Currency,Total,Discount Code,Created at,Lineitem name,Id',
    '#1001,ann@example.com,paid,yes,EUR,10.00,ANN10,2026-04-10 11:11:26 +0200,Mug,1',
    '#1001,ann@example.com,,,,,,,Bowl,',
    '#1002,bob@example.com,paid,no,EUR,10.00,,2026-04-10 11:11:26 +0200,Mug,2',
    '#1002,bob@example.com,,,,,,,Bowl,',
    '#1003,,paid,no,EUR,10.00,,2026-04-10 11:11:26 +0200,Mug,3',
  ]);
  expect(facts(mapped)).toEqual(['ann@example.com', '-bob@example.com']);
  expect(mapped.customers[0]?.boughtWithCode).toBe(true);
  expect(mapped.passedOver).toEqual(skipped({ no_address: 3, refused: 1 }));
});

test('an invalid address is rejected with line and column, and its masked value identifies no one', async () => {
  const lines = ['email', 'Jane Doe', 'jane@example', '"jane@example.com, x@y.example"'];
  const { rejected } = await mapText('generic-customers', lines, NOT_RECORDED);
  expect(rejected).toMatchObject([
    { code: 'bad_address', line: 2, record: 1, column: 'email', value: 'J*** ***' },
    { code: 'bad_address', line: 3, record: 2, column: 'email' },
    { code: 'bad_address', line: 4, record: 3, reason: expect.stringContaining('more than one') },
  ]);
  expect(JSON.stringify(rejected.map(({ value }) => value))).not.toMatch(/jane|doe|example/i);
});

test('every layout has a use, and those of orders and customers are tested here or in layouts.test.ts', () => {
  const ofCustomers = loadLayouts().filter((layout) => layoutFor(layout, 'customers') !== null);
  expect(ofCustomers.map(({ name }) => name)).toEqual([
    'activecampaign',
    'beehiiv',
    'bigcommerce-orders',
    'brevo',
    'ebay-orders',
    'generic',
    'generic-customers',
    'gumroad-sales',
    'hubspot',
    'klaviyo',
    'magento-orders',
    'mailchimp',
    'matrixify-orders',
    'omnisend',
    'patreon',
    'paypal-activity',
    'salesforce-contacts',
    'shopify-bulk-orders',
    'shopify-customers',
    'shopify-orders',
    'shopware-orders',
    'squarespace-orders',
    'stripe-payments',
    'substack',
    'tienda-nube-orders',
    'wix-orders',
    'woocommerce-customers',
    'woocommerce-orders',
  ]);
  for (const layout of loadLayouts())
    expect(
      (['orders', 'customers', 'clicks', 'creators'] as const).filter(
        (readFor) => layoutFor(layout, readFor) !== null,
      ),
      layout.name,
    ).not.toEqual([]);
});
