import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openWorkshop, type Workshop } from '../../runs/workshop.ts';

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
statements: {terms: ./terms.csv, return_window_days: 0, time_zone: Europe/Amsterdam}
`;
const CODES = `code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to
MIA10,4819,mia.test,DEALMIA,,,
OLD10,4819,,DEALMIA,,,2026-03-31
BEN15,4819,ben.test,DEALBEN,,,
ELSE10,5207,else.test,,,,
`;
const ORDERS = `order_id,order_revenue,currency,discount_codes,placed_at,status,deal_id
1001,45.00,EUR,MIA10,2026-04-10T10:00:00Z,paid,
1002,80.00,EUR,BEN15,2026-04-10T10:01:00Z,paid,
1003,20.00,EUR,MIA10,2026-04-10T10:02:00Z,cancelled,
1004,21.00,EUR,MIA10,2026-04-10T10:03:00Z,weird,
1005,22.00,EUR,OLD10,2026-04-10T10:04:00Z,paid,
1006,23.00,EUR,MIA1O,2026-04-10T10:05:00Z,paid,
1007,24.00,EUR,,2026-04-10T10:06:00Z,paid,
1008,45.00,EUR,MIA10,2026-04-11T22:30:00Z,paid,
1009,46.00,EUR,MIA10,2026-04-11T22:31:00Z,paid,
1010,46.00,EUR,MIA10,2026-04-11T22:32:00Z,paid,
1011,30.00,EUR,"MIA10,BEN15",2026-04-10T10:07:00Z,paid,
1012,31.00,EUR,BEN15,2026-04-10T10:08:00Z,paid,DEALMIA
1014,12.00,EUR,,2026-04-20T10:00:00Z,paid,
1018,25.00,EUR,ELSE10,2026-04-10T10:09:00Z,paid,
`;

/** Each line of a list, with the answer that it must get. */
const CLAIMS: readonly (readonly [line: string, answer: string, says: RegExp])[] = [
  [
    'mia.test,1001,45.00,EUR,2026-04-10,MIA10',
    'credited',
    /^Credited to mia\.test \(deal DEALMIA\) on .+: 45\.00 EUR\. It is in no closed/,
  ],
  ['@Mia.Test,1012,,,,', 'credited', /Credited to .*DEALMIA.*31\.00 EUR/],
  [
    'mia.test,1002,80,EUR,2026-04-10,MIA10',
    'credited_to_another',
    /Credited to ben\.test .*Rule: by its code BEN15\. The order does not carry the code MIA10\./,
  ],
  ['DEALBEN,1012,,,,BEN15', 'credited_to_another', /Rule: the export itself names DEALMIA/],
  ['mia.tset,1002,,,,', 'owner_unknown', /Credited to ben\.test/],
  ['mia.test,1003,,,,', 'excluded', /it is excluded \(cancelled\)/],
  ['mia.test,1004,,,,', 'held', /Held, 21\.00 EUR: The layout does not know the status/],
  ['mia.test,1011,,,,', 'held', /Held, 30\.00 EUR: The codes belong to two owners/],
  ['mia.test,1005,,,,OLD10', 'code_not_valid', /OLD10 \(mia\.test\) ended on 2026-03-31/],
  ['mia.test,1018,,,,ELSE10', 'code_unknown', /^Not credited: ELSE10 is a code of another brand\./],
  ['mia.test,1006,,,,MIA1O', 'code_unknown', /no creator owns the code/],
  ['mia.test,1007,,,,MIA10', 'no_code', /carries no code.*does not carry the code MIA10/],
  ['mia.test,1013,,,,', 'in_doubt', /In doubt: it was sent for mia\.test .*77\.00 EUR/],
  ['mia.test,#1001,,,,', 'similar_id', /Similar: 1001 of shop\./],
  ['mia.test,0001001,,,2026-04-10,', 'similar_id', /Similar: 1001 of shop\./],
  // In Amsterdam, the order of 22:30 UTC is of the next day.
  [
    'mia.test,,45.00,EUR,2026-04-10,MIA10',
    'candidates',
    /^Another claim of the creator names 1001 of shop, which has this amount and day\./,
  ],
  [
    'mia.test,,45,EUR,2026-04-12,',
    'candidates',
    /^One order with a code or link of the creator of 45\.00 EUR on 2026-04-12 .*: 1008 of shop\./,
  ],
  [
    'mia.test,,46.00,EUR,2026-04-12,MIA10',
    'candidates',
    /^2 orders with the code MIA10 .*: 1009 of shop, 1010 of shop/,
  ],
  [
    'mia.test,,45.00,USD,2026-04-12,',
    'not_in_exports',
    /The newest exports with orders of 2026-04-12 do not have it: 1-april\.csv of shop/,
  ],
  [
    'ben.test,,45.00,EUR,2026-04-12,',
    'not_in_exports',
    /No order with a code or link of the creator of 45\.00 EUR/,
  ],
  ['mia.test,99999,,,2026-04-10,', 'not_in_exports', /No order has the id 99999\. The newest exports/],
  ['mia.test,99998,,,2026-04-15,', 'day_not_exported', /exports of 2026-04-15 of shop have not arrived/],
  [
    'mia.test,99997,,,2026-04-20,',
    'day_not_exported',
    /only in part: the newest one with orders of that day is 1-april\.csv/,
  ],
  ['mia.test,99996,,,,', 'day_not_exported', /names no day/],
  [
    'nobody.here,,45.00,EUR,2026-04-12,',
    'owner_unknown',
    /No deal, code or credited order names nobody\.here/,
  ],
];

async function openShop(): Promise<Workshop> {
  const shop = await openWorkshop({ flow: FLOW });
  shop.write('codes.csv', CODES);
  shop.write('terms.csv', 'deal_id,rate\nDEALMIA,10\nDEALBEN,10\n');
  shop.drop('1-april.csv', ORDERS);
  await shop.run();
  await shop.sandbox.setFaults([{ kind: 'reset_after', operation: 'new_influencer_referral' }]);
  const [header = ''] = ORDERS.split('\n');
  shop.drop('0-lost.csv', `${header}\n1013,77.00,EUR,MIA10,2026-04-09T10:09:00Z,paid,\n`);
  await shop.run();
  await shop.sandbox.setFaults(null);
  return shop;
}

const eventsOf = (stdout: string, event: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string | null> & { answer: Record<string, string> })
    .filter((line) => line.event === event);

describe('a claim that an order was not credited', () => {
  it('gets one answer with its proof, which is decided anew until it is given, and is kept then', async () => {
    const shop = await openShop();
    const text = (lines: readonly string[]) =>
      `Creator,Order number,Amount,Currency,Date,Discount code\n${lines.join('\n')}\n`;
    shop.write('claims.csv', text(CLAIMS.map(([line]) => line)));
    const added = await shop.cli('claims', 'add', 'claims.csv', '--deadline', '2026-05-01');
    expect(added.stdout).toMatch(/^Added 25 claims\. 0 lines known already/);
    expect(added.exitCode).toBe(0);
    const listed = await shop.cli('claims', '--json');
    // The deadline is over.
    expect(listed.exitCode).toBe(3);
    const claims = eventsOf(listed.stdout, 'claim').toReversed();
    expect(claims.map(({ answer }, index) => [CLAIMS[index]?.[0], answer.kind])).toEqual(
      CLAIMS.map(([line, answer]) => [line, answer]),
    );
    for (const [index, [line, , says]] of CLAIMS.entries())
      expect(claims[index]?.answer.text, line).toMatch(says);
    // Each answer that a person can act on names an existing command.
    const next = Object.fromEntries(claims.map(({ answer }) => [answer.kind, JSON.stringify(answer.next)]));
    expect(next.held).toContain('npx influencer-sync review --held --order 1011');
    expect(next.in_doubt).toMatch(/npx influencer-sync review \d+ --help/);
    expect(next.code_unknown).toContain('/codes/assign?job=orders&code=MIA1O');

    // The same lines are the same claims, however they are written, and a line that cannot be used stops no other one.
    shop.write(
      'again.csv',
      text([
        'MIA.TEST,1001,,,,',
        'mia.test,,45.0,eur,2026-04-12,',
        ',1001,,,,',
        'mia.test,,45.00,,2026-04-12,',
        'mia.test,,45.00,EUR,12.04.2026,',
        'mia.test,,,,,MIA10',
        'jane@example.com,1001,,,,',
        'N/A,1001,,,,',
        '"=cmd|\' /C calc\'!A0",1001,,,,',
      ]),
    );
    const again = await shop.cli('claims', 'add', 'again.csv');
    expect(again.exitCode).toBe(3);
    expect(again.stdout).toMatch(/^Added 1 claim\. 2 lines known already/);
    for (const bad of [
      '4 creator',
      '5 currency',
      '6 day: "12.04.2026"',
      '7 order_id',
      '8 creator',
      '9 creator',
    ])
      expect(again.stdout).toContain(`again.csv:${bad}`);
    expect(again.stdout).not.toContain('jane');

    // A line that says more completes the open claim; what the claim states stays as it is.
    shop.write(
      'more.csv',
      text([
        ...['mia.test,99996,12.00,EUR,2026-04-10,', 'mia.test,99999,,,2026-04-11,', 'mia.test,1005,,,,OLD10'],
        'mia.test,1001,45.00,EUR,2026-04-10,MIA10',
      ]),
    );
    const more = await shop.cli('claims', 'add', 'more.csv');
    expect(more.stdout).toMatch(/^Added 0 claims\. 4 lines known already, which completed 1 claim\./);
    expect(more.stdout).toMatch(/more\.csv:3 day: "2026-04-11": Claim \d+ of this order states another one/);
    expect(more.exitCode).toBe(3);
    const completed = eventsOf((await shop.cli('claims', '--json')).stdout, 'claim');
    expect(completed.find(({ order_id }) => order_id === '99996')).toMatchObject({
      day: '2026-04-10',
      amount: '12.0000',
      answer: { kind: 'not_in_exports' },
    });

    // The code is assigned: the answer of an open claim is decided anew.
    shop.write('codes.csv', `${CODES}MIA1O,4819,mia.test,DEALMIA,,,\n`);
    await shop.run();
    const answer = async (order: string) =>
      eventsOf((await shop.cli('claims', '--json')).stdout, 'claim').find(
        ({ order_id, creator }) => order_id === order && creator === 'mia.test',
      );
    expect((await answer('1006'))?.answer.kind).toBe('credited');

    // What was answered is kept as it was given, until the claim is opened again.
    const reply = await shop.cli('claims', 'reply', '--creator', '@MIA.test', '--format', 'csv');
    expect(reply.stdout).toMatch(/^claim,state,order_id,amount/);
    expect(reply.stdout).toMatch(
      /,1006,,,,MIA1O,credited,Credited to you on .*: 23\.00 EUR\. It is in no closed statement yet\.,23\.0000,EUR,,/,
    );
    expect(reply.stdout).toContain(',open,1004,,,,,held,The order is being checked.');
    expect(reply.stdout).toContain(
      'credited_to_another,"The order is credited to another creator, by what it carries."',
    );
    expect(reply.stdout).not.toMatch(/ben\.test|BEN15|DEALBEN/i);
    const page = await shop.cli('claims', 'reply', '--creator', 'mia.test', '--format', 'html');
    expect(page.stdout).toContain('Credited to you on');
    expect(page.stdout).not.toMatch(/ben\.test|BEN15|DEALBEN|review --/);
    await shop.cli('statement', 'close', '--month', '2026-04', '--reason', 'paid');
    const kept = await answer('1001');
    expect(kept).toMatchObject({ state: 'answered', answer: { kind: 'credited', statement_month: null } });
    const id = kept?.claim_id ?? '';
    expect((await shop.cli('claims', 'close', id, '--as', 'open', '--reason', 'asked again')).exitCode).toBe(
      0,
    );
    expect(await answer('1001')).toMatchObject({
      state: 'open',
      answer: {
        text: expect.stringContaining('It counts in the statement of 2026-04 and earned 4.50 EUR.'),
        statement_month: '2026-04',
      },
    });
    const closed = await shop.cli('claims', 'close', id, '--as', 'upheld', '--reason', 'right');
    expect(closed.stdout).toContain(`Claim ${id} is upheld. No order has changed.`);
    expect((await shop.cli('claims', 'close', id, '--as', 'upheld', '--reason', 'right')).exitCode).toBe(2);
    expect(await answer('1001')).toMatchObject({
      state: 'upheld',
      close_reason: 'right',
      answer: { kind: 'credited' },
    });
    expect((await shop.cli('claims', 'close', '999', '--as', 'rejected', '--reason', 'x')).stderr).toContain(
      'There is no claim 999',
    );

    // Totals by answer and currency, and what is not known is said.
    const sums = eventsOf((await shop.cli('claims', '--creator', 'mia.test', '--json')).stdout, 'claims_sum');
    expect(sums.find(({ kind }) => kind === 'candidates')).toMatchObject({
      claims: 3,
      amounts: [{ amount: '136.0000', currency: 'EUR' }],
      without_amount: 0,
    });
    const { stdout } = await shop.cli('claims', '--creator', 'mia.test');
    expect(stdout).toMatch(/Held +2 +unknown/);
    expect(stdout).toMatch(/Candidates by amount and day +3 +136\.00 EUR/);
    const { rows: audit } =
      await sql`select count(*)::integer as n from ops.audit where subject_kind = 'claim'`.execute(shop.db);
    expect(audit).toEqual([{ n: 7 }]);

    // What became of an order after it was credited is part of the answer.
    const [header = ''] = ORDERS.split('\n');
    shop.drop(
      '2-later.csv',
      [
        header,
        '1008,45.00,EUR,MIA10,2026-04-11T22:30:00Z,cancelled,',
        '1009,40.00,EUR,MIA10,2026-04-11T22:31:00Z,paid,',
        '1010,46.00,EUR,BEN15,2026-04-11T22:32:00Z,paid,',
        '1002,80.00,EUR,BEN15,2026-04-10T10:01:00Z,refunded,',
        '',
      ].join('\n'),
    );
    await shop.run();
    const lines = ['1008', '1009', '1010'].map((order) => `mia.test,${order}`);
    lines.push('ben.test,1010', 'nobody.else,1010', 'ben.test,1002');
    shop.write('later.csv', `creator,order_id\n${lines.join('\n')}\n`);
    await shop.cli('claims', 'add', 'later.csv');
    const later = eventsOf((await shop.cli('claims', '--json')).stdout, 'claim')
      .slice(0, lines.length)
      .toReversed();
    expect(later.map(({ answer: { kind, credited } }) => [kind, credited])).toEqual([
      ['no_longer_counted', null],
      ['credited', { amount: '46.0000', currency: 'EUR' }],
      ['credit_in_question', null],
      ['credit_in_question', null],
      ['owner_unknown', null],
      ['no_longer_counted', null],
    ]);
    expect(later.map(({ answer: { reply } }) => reply)).toEqual([
      expect.stringMatching(
        /^It was credited to you on .*: 45\.00 EUR\. It does not count any more: .* cancelled/,
      ),
      expect.stringMatching(/^Credited to you on .*: 46\.00 EUR\. .*: 40\.00 EUR counts now\./),
      expect.stringMatching(/^It was credited to you on .*: 46\.00 EUR, but the order has changed since/),
      expect.stringMatching(/^The order is being checked/),
      expect.stringMatching(/^We are checking whether/),
      expect.stringMatching(/It does not count any more: the order was refunded afterwards/),
    ]);
    // The answer names those to whom it was sent, and not those whom the new decision names.
    for (const { answer } of later.slice(2, 4)) {
      expect(answer.text).toMatch(/^Credited to mia\.test \(deal DEALMIA/);
      expect(answer.text).not.toMatch(/ben\.test|BEN15/);
    }
  });

  it('says what was refunded, and what it came to, before an export stated it in another currency', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    shop.write('codes.csv', CODES);
    shop.write('terms.csv', 'deal_id,rate\nDEALMIA,10\n');
    const header = 'order_id,order_revenue,refunded_amount,currency,discount_codes,placed_at,status';
    const stated = [
      ['50.00,,EUR', '80.00,,EUR'],
      ['50.00,15.00,EUR', '70.00,,EUR'],
      ['60.00,,USD', '90.00,2.00,USD'],
    ];
    for (const [index, [one, other]] of stated.entries()) {
      const rest = 'MIA10,2026-04-10T10:00:00Z,paid';
      shop.drop(`${index}.csv`, `${header}\n2001,${one},${rest}\n2002,${other},${rest}\n`);
      await shop.run();
    }
    shop.write('claims.csv', 'creator,order_id\nmia.test,2001\nmia.test,2002\n');
    await shop.cli('claims', 'add', 'claims.csv');
    shop.write(
      'odd.csv',
      'creator,order_id,amount,currency\nmia.test,2001,-50.00,EUR\nmia.test,2001,"50,00",EUR\n',
    );
    const odd = await shop.cli('claims', 'add', 'odd.csv');
    expect(odd.stdout.replace(/\s+/g, ' ')).toMatch(
      /odd\.csv:2 amount: "-50\.00": The amount of an order is above zero\. odd\.csv:3 amount: "50,00": .* such as 1249\.00\./,
    );
    const answers = async () =>
      eventsOf((await shop.cli('claims', '--json')).stdout, 'claim')
        .toReversed()
        .map(({ answer: { kind, text, reply } }) => [kind, text, reply]);
    expect(await answers()).toEqual([
      [
        'credit_in_question',
        expect.stringMatching(
          /50\.00 EUR\. Refunded when it was last stated in EUR: 15\.00 EUR\. An export states it in USD since\. It is held/,
        ),
        expect.stringMatching(/changed since\. Refunded when it was last stated in EUR: 15\.00 EUR\. We are/),
      ],
      [
        'credit_in_question',
        expect.stringMatching(
          /Refunded by now: 2\.00 USD\. An export .* It is held .* Before that, it came to 70\.00 EUR\. /,
        ),
        expect.stringContaining('Refunded by now: 2.00 USD.'),
      ],
    ]);
    const decide = ['--as', 'sent', '--source', 'shop', '--reason', 'the shop sells in USD now'];
    expect((await shop.cli('statement', 'restated', ...decide)).exitCode).toBe(0);
    expect((await answers()).map(([kind, , reply]) => [kind, reply])).toEqual([
      [
        'credited',
        expect.stringMatching(/: 50\.00 EUR\. Refunded when it was last stated in EUR: 15\.00 EUR\./),
      ],
      ['credited', expect.stringContaining('The order has changed since: 70.00 EUR counts now.')],
    ]);
    // An order that is claimed under two spellings, or by handle and by deal, counts once.
    shop.write('again.csv', 'creator,order_id\n@Mia.Test,gid://shopify/Order/2001\nDEALMIA,2001\n');
    await shop.cli('claims', 'add', 'again.csv');
    await sql`update intake.orders set order_name = '#2001' where order_id = '2001'`.execute(shop.db);
    shop.write('name.csv', 'creator,order_id\nmia.test,#2001\n');
    await shop.cli('claims', 'add', 'name.csv');
    const sums = async () => {
      const { stdout } = await shop.cli('claims');
      expect(stdout).toMatch(/order #2001[\s\S]*It\s+is the order of claim \d+, too\./);
      return stdout.replace(/ +/g, ' ').match(/\n (?:Credited|Held) \d .*/g);
    };
    const { stdout } = await shop.cli('claims', '--creator', 'mia.test');
    expect(stdout).toMatch(/Credited +3 +130\.00 EUR/);
    expect(await sums()).toEqual(['\n Credited 4 130.00 EUR']);
    // So it is after the answers were given, and of an order that is held, whose amount only one of the claims states.
    for (const creator of ['mia.test', 'DEALMIA']) await shop.cli('claims', 'reply', '--creator', creator);
    shop.drop('3.csv', `${header}\n2003,30.00,,EUR,MIA10,2026-04-10T10:00:00Z,weird\n`);
    await shop.run();
    shop.write('held.csv', 'creator,order_id,amount,currency\nmia.test,2003,,\nDEALMIA,2003,30.00,EUR\n');
    await shop.cli('claims', 'add', 'held.csv');
    expect(await sums()).toEqual(['\n Held 2 30.00 EUR', '\n Credited 4 130.00 EUR']);
  });

  it('says of a refund that was known before the order was credited that it is subtracted already', async () => {
    const shop = await openWorkshop({ flow: FLOW.replace('revenue: total', 'revenue: total_less_refunds') });
    shop.write('codes.csv', CODES);
    shop.write('terms.csv', 'deal_id,rate\nDEALMIA,10\n');
    const header = 'order_id,order_revenue,refunded_amount,currency,discount_codes,placed_at,status';
    const rest = 'EUR,MIA10,2026-04-10T10:00:00Z,paid';
    shop.drop('1.csv', `${header}\n3001,64.95,20.00,${rest}\n3002,64.95,,${rest}\n`);
    await shop.run();
    const explained = async (id: string) =>
      (await shop.cli('explain', 'order', id)).stdout.replace(/\s+/g, ' ');
    expect(await explained('3001')).toContain(': 44.95 EUR. The refund of 20.00 EUR is already subtracted.');
    expect(await explained('3002')).not.toContain('subtracted');
    // Of a refund that is stated later, only what counts now is without it.
    shop.drop('2.csv', `${header}\n3002,64.95,20.00,${rest}\n`);
    await shop.run();
    expect(await explained('3002')).toMatch(
      /: 64\.95 EUR\. Refunded by now: 20\.00 EUR\..* 44\.95 EUR counts now\./,
    );
  });

  it('says what closed statements count of the order, and what the next one takes back', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    shop.write('codes.csv', CODES);
    shop.write('terms.csv', 'deal_id,rate\nDEALMIA,10\n');
    const header = 'order_id,order_revenue,refunded_amount,currency,discount_codes,placed_at,status';
    const state = async (name: string, ...orders: readonly string[]) => {
      const rows = orders.map((order) => order.replace('/', ',MIA10,2026-04-10T10:00:00Z,'));
      shop.drop(`${name}.csv`, `${header}\n${rows.join('\n')}\n`);
      await shop.run();
    };
    const close = (month: string) => shop.cli('statement', 'close', '--month', month, '--reason', 'paid');
    const replies = async () =>
      eventsOf((await shop.cli('claims', '--json')).stdout, 'claim')
        .toReversed()
        .map(({ answer: { reply } }) => String(reply).replace(/ on \S+:/, ':'));
    await state(
      '1',
      '3001,50.00,,EUR/paid',
      '3002,80.00,,EUR/paid',
      '3003,20.00,,EUR/paid',
      '3004,9.00,,EUR/paid',
    );
    shop.write(
      'claims.csv',
      'creator,order_id\nmia.test,3001\nmia.test,3002\nmia.test,3003\nmia.test,3004\n',
    );
    await shop.cli('claims', 'add', 'claims.csv');
    await close('2026-04');
    await state('2', '3001,50.00,,EUR/cancelled', '3002,80.00,15.00,EUR/paid', '3003,20.00,,USD/paid');
    const returned = ['--order', '3003', '--as', 'returned', '--reason', 'paid back'];
    expect((await shop.cli('statement', 'restated', ...returned)).exitCode).toBe(0);
    const gone =
      'It was credited to you: 50.00 EUR. It does not count any more: the order was cancelled afterwards.';
    const counted = 'It counted in the statement of 2026-04 and earned';
    expect(await replies()).toEqual([
      `${gone} ${counted} 5.00 EUR. The next statement takes back 5.00 EUR.`,
      `Credited to you: 80.00 EUR. Refunded by now: 15.00 EUR. ${counted} 8.00 EUR. The next statement takes back 1.50 EUR.`,
      `It was credited to you: 20.00 EUR. It does not count any more: the order was refunded afterwards. ${counted} 2.00 EUR. The next statement takes back 2.00 EUR.`,
      'Credited to you: 9.00 EUR. It counts in the statement of 2026-04 and earned 0.90 EUR.',
    ]);
    // What counts no more is taken back by any terms; what else earns is not known while they cannot be read.
    shop.write('terms.csv', 'deal_id,rate\nDEALMIA,ten\n');
    expect((await replies()).map((reply) => reply.split('. ').at(-1))).toEqual([
      'The next statement takes back 5.00 EUR.',
      'It is not known whether the next statement corrects it.',
      'The next statement takes back 2.00 EUR.',
      'It is not known whether the next statement corrects it.',
    ]);
    shop.write('terms.csv', 'deal_id,rate\nDEALMIA,10\n');
    await close('2026-05');
    await state('3', '3002,80.00,,EUR/paid');
    expect((await replies()).slice(0, 2)).toEqual([
      `${gone} ${counted} 5.00 EUR. The statement of 2026-05 takes back 5.00 EUR.`,
      `Credited to you: 80.00 EUR. ${counted} 8.00 EUR. The statement of 2026-05 takes back 1.50 EUR. The next statement adds 1.50 EUR.`,
    ]);
  });

  it('is answered with "unknown" where a file is held or a row could not be used, never with a no', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    shop.write('codes.csv', `${CODES}ZOE20,4819,,DEALZOE,,,\n`);
    shop.write('terms.csv', 'deal_id,rate\nDEALMIA,10\n');
    shop.drop(
      '1-april.csv',
      `${ORDERS.replace('1007,24.00,EUR', '1007,24.00,EURO')}1015,13.00,EUR,ZOE20,2026-04-20T10:01:00Z,weird,
`,
    );
    await shop.run();
    shop.write('claims.csv', 'creator,order_id,day\nmia.test,99999,2026-04-10\nmia.test,99998,2026-04-12\n');
    await shop.cli('claims', 'add', 'claims.csv');
    const answers = async () =>
      eventsOf((await shop.cli('claims', '--json')).stdout, 'claim')
        .slice(-2)
        .map((one) => one.answer.text);
    expect(await answers()).toEqual(
      Array(2).fill(expect.stringMatching(/1 row of the files of shop since that day could not be used/)),
    );
    const answer = async (line: string) => {
      shop.write('one.csv', `creator,order_id,amount,currency,day,code\n${line}\n`);
      await shop.cli('claims', 'add', 'one.csv');
      const [newest] = eventsOf((await shop.cli('claims', '--json')).stdout, 'claim');
      return newest?.answer.kind;
    };
    // A code that nobody owns may be anyone's, and of a deal without a handle it is not known whose it is.
    expect(await answer('ben.test,1006,,,,')).toBe('code_unknown');
    expect(await answer('mia.test,1015,,,,')).toBe('held');
    expect(await answer('mia.test,1014,,,,')).toBe('no_code');
    // What states an order later could not be read.
    const [header = ''] = ORDERS.split('\n');
    shop.drop(
      '2-bad.csv',
      `${header}\n1014,15.oo,EUR,MIA10,2026-04-20T10:00:00Z,paid,\n1001,45.oo,EUR,MIA10,2026-04-10T10:00:00Z,cancelled,\n1016,1.00,EUR,,2026-04-21T10:00:00Z,paid,\n`,
    );
    await shop.run();
    expect(await answer('mia.test,1001,,,,')).toBe('credit_in_question');
    expect(await answer('ben.test,1014,,,,')).toBe('owner_unknown');
    shop.drop('2-held.csv', 'something,else\n1,2\n');
    await shop.run();
    expect(await answers()).toEqual(
      Array(2).fill(expect.stringMatching(/1 file of shop is held\. The order may be in it\./)),
    );
  });
});

it('an order is in no export only if all exports that may state it are read, and of after its day', async () => {
  const shop = await openWorkshop({ flow: FLOW });
  shop.write('codes.csv', CODES);
  shop.write('terms.csv', 'deal_id,rate\nDEALMIA,10\n');
  const [header = ''] = ORDERS.split('\n');
  const drop = async (name: string, rows: readonly string[]) => {
    shop.drop(
      name,
      `${header}\n${rows.map((row) => (row.startsWith('Alle') ? `${row},,\n` : `${row},paid,\n`)).join('')}`,
    );
    await shop.run();
  };
  const answer = async (line: string) => {
    shop.write('one.csv', `creator,order_id,amount,currency,day,code\n${line}\n`);
    await shop.cli('claims', 'add', 'one.csv');
    const [newest] = eventsOf((await shop.cli('claims', '--json')).stdout, 'claim');
    return newest?.answer.text;
  };
  // One export ends during the day, and the next begins after it.
  await drop('orders-6.csv', ['6001,10.00,EUR,MIA10,2026-04-25T10:00:00Z']);
  await drop('orders-7.csv', ['6002,10.00,EUR,MIA10,2026-04-26T00:10:00Z']);
  expect(await answer('mia.test,6999,,,2026-04-25,')).toMatch(/only in part: .* is orders-6\.csv/);
  // Of an order that is held, and of a code that nobody owns, it is not known whose they are.
  await drop('orders-8.csv', [
    '6005,34.00,EUR,,2026-04-27T10:00:00Z,weird,DEALMIA\n6006,45.00,EUR,OLDMIA,2026-04-27T10:00:00Z',
    '6007,46.00,EUR,BEN15,2026-04-27T10:00:00Z',
    '6008,9.00,EUR,,2026-04-28T10:00:00Z',
  ]);
  expect(await answer('mia.test,,34.00,EUR,2026-04-27,')).toMatch(/^One order .*: 6005 of shop/);
  expect(await answer('mia.test,,45.00,EUR,2026-04-27,')).toMatch(
    /^No order .* but 1 order .*: 6006 of shop/,
  );
  expect(await answer('mia.test,,46.00,EUR,2026-04-27,')).toMatch(/do not have it: orders-8\.csv/);
  const may = ['6003,11.00,EUR,MIA10,2026-05-01T09:00:00Z', '6004,12.00,EUR,BEN15,2026-05-01T10:00:00Z'];
  await drop('orders-2026-05-02.csv', may);
  expect(await answer('mia.test,7001,,,2026-05-01,')).toMatch(/do not have it: orders-2026-05-02\.csv/);
  await drop('orders-2026-05-03.csv', [...may, 'Alle,23.00,EUR,,']);
  expect(await answer('mia.test,7002,,,2026-05-01,')).toMatch(/1 row .* was taken for totals/);
  // It states only orders that are known already, and one that could not be read.
  await drop('orders-2026-05-04.csv', [...may, ',13.00,EUR,MIA10,2026-05-01T11:00:00Z']);
  expect(await answer('mia.test,7003,,,2026-05-01,')).toMatch(/1 row .* could not be used/);
});
