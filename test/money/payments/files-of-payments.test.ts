import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KnownError } from '../../../src/core/known-error.ts';
import { findPayee, loadPayees } from '../../../src/money/payments/load-payees.ts';
import { parseBankFile } from '../../../src/money/payments/parse-bank-file.ts';
import { IBANS } from './payment-shop.ts';

/** Each function says the whole result for each input, so that nothing of it is left open. */

describe('a booking in a file of the bank', () => {
  const booking = (given: object) => ({
    key: expect.stringMatching(/^[0-9a-f]{64}$/),
    kind: 'paid',
    bookedOn: '2026-06-03',
    currency: 'EUR',
    amount: '10.0000',
    endToEndId: null,
    accountMark: null,
    bankReference: null,
    ...given,
  });
  const CSV = 'End to End Id;bank_reference;iban;amount;currency;booked_on;type;note\n';
  const [mark] = parseBankFile(`iban,amount,currency,day,type\n${IBANS.mia},1,EUR,2026-06-03,paid\n`, {
    where: 'a',
    now: new Date(),
  }).bookings;
  const HELP = {
    type: ['type', 'It is unknown whether money left or came back.', 'Write paid or returned.'],
    currency: ['currency', 'This is not a currency.', 'Write its three letters, for example EUR.'],
    amount: [
      'amount',
      'This is not an amount above zero with a decimal point.',
      'Write 10.00 for 10,00 and 1000.00 for 1,000.00.',
    ],
    day: ['day', 'This is not a day.', 'Write 2026-06-03.'],
    iban: ['iban', 'This is not an IBAN.', 'Correct it, or leave it blank.'],
  } as const;

  it.each([
    ['R1;B1;;10.00;EUR;2026-06-03;paid;x', booking({ endToEndId: 'R1', bankReference: 'B1' })],
    ['R1;;;10;eur;2026-06-03;PAID;', booking({ endToEndId: 'R1' })],
    ['R1;;;0.01;EUR;2026-06-03;Returned;', booking({ endToEndId: 'R1', kind: 'returned', amount: '0.0100' })],
    [`;;${IBANS.mia};10.00;EUR;2026-06-03;paid;`, booking({ accountMark: mark?.accountMark })],
    ['R1;;;10.00;EUR;2026-06-03;;', 'type'],
    ['R1;;;10.00;EUR;2026-06-03;booked;', 'type'],
    ['R1;;;10.00;;2026-06-03;paid;', 'currency'],
    ['R1;;;10.00;EURO;2026-06-03;paid;', 'currency'],
    ['R1;;;;EUR;2026-06-03;paid;', 'amount'],
    ['R1;;;0.00;EUR;2026-06-03;paid;', 'amount'],
    ['R1;;;-17.77;EUR;2026-06-03;paid;', 'amount'],
    ['R1;;;17,77;EUR;2026-06-03;paid;', 'amount'],
    ['R1;;;10.00;EUR;03.06.2026;paid;', 'day'],
    ['R1;;;10.00;EUR;;paid;', 'day'],
    ['R1;;DE00;10.00;EUR;2026-06-03;paid;', 'iban'],
  ] as const)('as CSV %s', (row, wanted) => {
    const read = parseBankFile(`${CSV}${row}\n`, { where: 'bank.csv', now: new Date() });
    if (typeof wanted !== 'string')
      return expect(read).toEqual({ bookings: [wanted], announced: 0, problems: [] });
    const [column, message, help] = HELP[wanted];
    expect(read).toEqual({
      bookings: [],
      announced: 0,
      problems: [{ where: expect.stringContaining(column), message: expect.stringContaining(message), help }],
    });
    // A cell of an account is in no message.
    expect(JSON.stringify(read)).not.toMatch(/17[.,]77|EURO|DE00|booked|03\.06/);
  });

  it('as CSV has as many cells as the header, since 12,5 before a blank cell looks like two', () => {
    const read = parseBankFile('reference,day,type,currency,amount\nR1,2026-06-03,paid,EUR,12,\n', {
      where: 'a',
      now: new Date(),
    });
    expect([read.bookings, read.problems.length]).toEqual([[], 1]);
  });

  const camt = (...entries: readonly string[]) =>
    parseBankFile(
      `\ufeff <d:Document xmlns:d="urn"><d:BkToCstmrStmt><d:Stmt>${entries.join('')}</d:Stmt></d:BkToCstmrStmt></d:Document>`,
      { where: 'a.xml', now: new Date() },
    );
  const BOOKED = '<Sts>BOOK</Sts><BookgDt><Dt>2026-06-03</Dt></BookgDt>';
  const DEBIT = '<CdtDbtInd>DBIT</CdtDbtInd>';
  const EUR = '<Amt Ccy="EUR">10</Amt>';
  const details = (...of: readonly string[]) =>
    `<NtryDtls>${of.map((one) => `<TxDtls>${one}</TxDtls>`).join('')}</NtryDtls>`;
  const problem = (message: string, entry = 1) => ({
    where: `entry ${entry}`,
    message,
    help: 'Look it up in the account. If it is a payment, write it into a CSV as paid or returned, and read that (docs/payments.md).',
  });
  const [DIRECTION, UNREADABLE, MISSING] = [
    'It does not say whether money left or came.',
    'Its amount or currency cannot be read.',
    'Its amount or currency is missing.',
  ];
  const account = (side: string, iban: string) =>
    `<RltdPties><${side}><Id><IBAN>${iban}</IBAN></Id></${side}></RltdPties>`;

  const OWN_ID = `IS-${'A1'.repeat(13)}`;
  const OWN = `<Refs><EndToEndId>${OWN_ID}</EndToEndId></Refs>`;

  it.each([
    ['without details', EUR + DEBIT + BOOKED, [booking({})]],
    [
      'whose time is given',
      `${EUR}${DEBIT}<Sts><Cd>BOOK</Cd></Sts><BookgDt><DtTm>2026-06-03T23:30:00+02:00</DtTm></BookgDt>`,
      [booking({})],
    ],
    [
      'with one detail, whose amount is that of the entry',
      `${EUR}${DEBIT}${BOOKED}<AcctSvcrRef>B</AcctSvcrRef>${details(`<Refs><EndToEndId> R </EndToEndId></Refs>${account('CdtrAcct', IBANS.mia)}`)}`,
      [booking({ endToEndId: 'R', bankReference: 'B', accountMark: mark?.accountMark })],
    ],
    [
      'with two details, each with its own amount, direction and reference',
      `${EUR}${DEBIT}${BOOKED}<AcctSvcrRef>B</AcctSvcrRef>${details(
        '<Refs><AcctSvcrRef>B1</AcctSvcrRef></Refs><Amt Ccy="EUR">4.50000</Amt>',
        `<CdtDbtInd>CRDT</CdtDbtInd><Amt Ccy="EUR">9</Amt><AmtDtls><TxAmt><Amt Ccy="USD">5.5</Amt></TxAmt></AmtDtls>${account('DbtrAcct', IBANS.mia)}`,
      )}`,
      [
        booking({ amount: '4.5000', bankReference: 'B1' }),
        booking({
          kind: 'returned',
          amount: '5.5000',
          currency: 'USD',
          bankReference: 'B',
          accountMark: mark?.accountMark,
        }),
      ],
    ],
    [
      'with two details, one without an amount',
      EUR + DEBIT + BOOKED + details(EUR, ''),
      [booking({}), MISSING],
    ],
    [
      'with details in two groups, each a payment of its own',
      EUR + DEBIT + BOOKED + details(EUR) + details('<Amt Ccy="EUR">3</Amt>'),
      [booking({}), booking({ amount: '3.0000' })],
    ],
    [
      'that names only the own account, which says nothing of the other one',
      `${EUR}${DEBIT}${BOOKED}${details(account('DbtrAcct', IBANS.mia))}`,
      [booking({})],
    ],
    [
      'that came back, and names only the own account',
      `${EUR}<CdtDbtInd>CRDT</CdtDbtInd>${BOOKED}${details(account('CdtrAcct', IBANS.mia))}`,
      [booking({ kind: 'returned' })],
    ],
    [
      'to an account whose check digits do not fit',
      `${EUR}${DEBIT}${BOOKED}${details(account('CdtrAcct', IBANS.mia.replace('89', '98')))}`,
      [booking({})],
    ],
    [
      'of as many digits as an amount has',
      `<Amt Ccy="EUR">${'9'.repeat(14)}.9999</Amt>${DEBIT}${BOOKED}`,
      [booking({ amount: `${'9'.repeat(14)}.9999` })],
    ],
    [
      'of more digits than an amount has',
      `<Amt Ccy="EUR">1${'0'.repeat(14)}</Amt>${DEBIT}${BOOKED}`,
      [UNREADABLE],
    ],
    ['in another direction', `${EUR}<CdtDbtInd>DEBIT</CdtDbtInd>${BOOKED}`, [DIRECTION]],
    ['without a currency', `<Amt>10</Amt>${DEBIT}${BOOKED}`, [MISSING]],
    ['whose currency is none', `<Amt Ccy="eur">10</Amt>${DEBIT}${BOOKED}`, [UNREADABLE]],
    ['of nothing', `<Amt Ccy="EUR">0.00</Amt>${DEBIT}${BOOKED}`, [UNREADABLE]],
    ['below zero', `<Amt Ccy="EUR">-1.00</Amt>${DEBIT}${BOOKED}`, [UNREADABLE]],
    ['with more decimals than an amount has', `<Amt Ccy="EUR">1.00001</Amt>${DEBIT}${BOOKED}`, [UNREADABLE]],
    ['without a direction', EUR + BOOKED, [DIRECTION]],
    ['without a day', `${EUR}${DEBIT}<Sts>BOOK</Sts>`, ['Its day is missing, or is none.']],
    [
      'on a day that is none',
      EUR + DEBIT + BOOKED.replace('06-03', '06-31'),
      ['Its day is missing, or is none.'],
    ],
    [
      'that is a debit and the reversal of a payment of this tool, which banks write if money left or came',
      `${EUR}${DEBIT}<RvslInd>true</RvslInd>${BOOKED}${details(OWN)}`,
      ['It is a debit and a reversal, so the payment may have been made or may have come back.'],
    ],
    [
      'that is a debit, and the reversal of another payment',
      `${EUR}${DEBIT}<RvslInd>true</RvslInd>${BOOKED}${details('<Refs><EndToEndId>R</EndToEndId></Refs>')}`,
      [booking({ endToEndId: 'R' })],
    ],
    [
      'that is a credit and the reversal of a payment, which came back',
      `${EUR}<CdtDbtInd>CRDT</CdtDbtInd><RvslInd>1</RvslInd>${BOOKED}${details(OWN)}`,
      [booking({ kind: 'returned', endToEndId: OWN_ID })],
    ],
    [
      'that is no reversal, and says so',
      `${EUR}${DEBIT}<RvslInd>false</RvslInd>${BOOKED}${details(OWN)}`,
      [booking({ endToEndId: OWN_ID })],
    ],
    ['that is only announced', `${EUR}${DEBIT}${BOOKED.replace('BOOK', 'PDNG')}`, []],
    ['that does not say whether it is booked', EUR + DEBIT + BOOKED.replace('<Sts>BOOK</Sts>', ''), []],
  ])('as camt.053 %s', (_, entry, wanted) => {
    expect(camt(`<Ntry>${entry}</Ntry>`)).toEqual({
      bookings: wanted.filter((one) => typeof one !== 'string'),
      announced: wanted.length === 0 ? 1 : 0,
      problems: wanted.flatMap((one) => (typeof one === 'string' ? [problem(one)] : [])),
    });
  });

  it('counts only on a day that has come, now and when the bank wrote the file', () => {
    const now = new Date('2026-11-29T12:00:00Z');
    const days = ['2026-11-29', '2026-11-30', '2026-12-01', '2027-06-01'];
    const notYet = {
      message: expect.stringContaining('the bank cannot have booked it yet'),
      help: expect.stringContaining('swapped'),
    };
    const rows = days.map((day) => `R1,1,EUR,${day},paid\n`);
    const sheet = parseBankFile(`reference,amount,currency,day,type\n${rows.join('')}`, { where: 'a', now });
    expect(sheet.bookings.map(({ bookedOn }) => bookedOn)).toEqual(days.slice(0, 2));
    expect(sheet.problems).toMatchObject([
      { where: expect.stringContaining(':4 '), ...notYet },
      { where: expect.stringContaining(':5 '), ...notYet },
    ]);
    const entries = days.map((day) => `<Ntry>${EUR}${DEBIT}${BOOKED.replace('2026-06-03', day)}</Ntry>`);
    const camtOf = (header: string, created: string) =>
      parseBankFile(
        `<Document><BkToCstmrStmt>${header}<Stmt>${created}${entries.join('')}</Stmt></BkToCstmrStmt></Document>`,
        { where: 'a.xml', now },
      );
    const on = (day: string) => `<CreDtTm>${day}T06:00:00+01:00</CreDtTm>`;
    for (const [header, created, counted] of [
      ['', '', 2],
      ['', '<CreDtTm>yesterday</CreDtTm>', 2],
      ['', on('2026-11-28'), 1],
      [`<GrpHdr>${on('2026-11-28')}</GrpHdr>`, '', 1],
      [`<GrpHdr>${on('2026-11-27')}</GrpHdr>`, on('2026-11-28'), 1],
      ['', on('2027-06-02'), 2],
    ] as const) {
      const { bookings, problems } = camtOf(header, created);
      expect(bookings.map(({ bookedOn }) => bookedOn)).toEqual(days.slice(0, counted));
      expect(problems).toMatchObject(
        days.slice(counted).map((_, at) => ({ where: `entry ${counted + at + 1}`, ...notYet })),
      );
    }
  });

  it('is named by its place in the file if it cannot be read, and a file above 50 MB is refused', () => {
    const good = `<Ntry>${EUR}${DEBIT}${BOOKED}</Ntry>`;
    expect(camt(good, '<Ntry><Sts>BOOK</Sts></Ntry>')).toEqual({
      bookings: [booking({})],
      announced: 0,
      problems: [problem(MISSING, 2)],
    });
    expect(() => parseBankFile(' '.repeat(50_000_001), { where: 'a.xml', now: new Date() })).toThrow(
      'larger than 50 MB',
    );
    // One that is not refused for its size is read, and this one says at once that it is none.
    expect(() => parseBankFile('<!DOCTYPE'.padEnd(50_000_000), { where: 'a.xml', now: new Date() })).toThrow(
      'document type',
    );
  });
});

describe('a row of payees.csv', () => {
  const load = (...rows: readonly string[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'payees-'));
    try {
      const payees = join(folder, 'payees.csv');
      writeFileSync(payees, `creator,name,iban,currency,bic,country\n${rows.join('\n')}\n`);
      return loadPayees({ payments: { payees, from: null, minimum: {}, name: null, iban: null, bic: null } });
    } catch (error) {
      if (!(error instanceof KnownError)) throw error;
      const { code, problems = [] } = error.details;
      return [code, ...problems.map(({ where, message }) => `${where} ${message}`)];
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  const name140 = 'n'.repeat(140);
  const mia = { creator: 'mia', name: 'Mia', iban: IBANS.mia, bic: null, country: null, currency: 'EUR' };

  it.each([
    [`@Mia,Mia,${IBANS.mia},eur,,`, mia],
    [
      `mia,${name140},${IBANS.mia.toLowerCase()},EUR,cobadeffxxx,de`,
      { ...mia, name: name140, bic: 'COBADEFFXXX', country: 'DE' },
    ],
    [`,Mia,${IBANS.mia},EUR,,`, /creator.*The row names no creator\./],
    [`mia,Mia,${IBANS.mia},EU,,`, /currency.*This is not a currency\./],
    [`mia,Mia,${IBANS.mia},EURO,,`, /currency.*This is not a currency\./],
    [`mia,,${IBANS.mia},EUR,,`, /name.*missing, or longer than 140/],
    [`mia,${name140}n,${IBANS.mia},EUR,,`, /name.*missing, or longer than 140/],
    [`mia,Mia,${IBANS.mia.replace('89', '98')},EUR,,`, /iban.*check digits do not fit/],
    ['mia,Mia,,EUR,,', /iban.*check digits do not fit/],
    [`mia,Mia,${IBANS.mia},EUR,COBA,`, /bic.*This is not a BIC\./],
    [`mia,Mia,${IBANS.mia},EUR,,DEU`, /country.*This is not a country\./],
  ] as const)('%s', (row, wanted) => {
    expect(load(row)).toEqual(
      wanted instanceof RegExp ? ['payees_unusable', expect.stringMatching(wanted)] : [wanted],
    );
  });

  it('may end with a blank cell that a spreadsheet added to all, and has no other columns', () => {
    expect(load(`mia,Mia,${IBANS.mia},EUR,,,`)).toEqual([mia]);
    expect(load(`mia,Mia,${IBANS.mia},EUR,,,x`)).toEqual(['payees_unusable', expect.any(String)]);
    expect(load(`mia,Mia,${IBANS.mia},EUR,,`)).toEqual([mia]);
  });

  it('is read from a file that is there and is text; without one, nobody has bank data', () => {
    const folder = mkdtempSync(join(tmpdir(), 'payees-'));
    try {
      const payees = join(folder, 'payees.csv');
      const of = (path: string | null) =>
        loadPayees({
          payments: { payees: path, from: null, minimum: {}, name: null, iban: null, bic: null },
        });
      const unusable = (message: string) =>
        expect.objectContaining({
          details: expect.objectContaining({ code: 'payees_unusable', exitCode: 2, message, where: payees }),
        });
      expect(of(null)).toEqual([]);
      expect(() => of(payees)).toThrow(unusable('The file with bank data cannot be read.'));
      writeFileSync(payees, Buffer.from([0x64, 0xe9]));
      expect(() => of(payees)).toThrow(unusable('The file with bank data is not UTF-8.'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is the only one of its creator and currency', () => {
    const row = (creator: string, currency: string) => `${creator},Mia,${IBANS.mia},${currency},,`;
    expect(load(row('mia', 'EUR'), row('mia', 'USD'), row('ben', 'EUR'))).toHaveLength(3);
    expect(load(row('mia', 'EUR'), row('@MIA', 'eur'))).toEqual([
      'payees_unusable',
      expect.stringMatching(/this creator and EUR/),
    ]);
  });

  it('of the deal comes before the one of the handle, and one in another currency is none', () => {
    const [ofDeal, ofHandle] = [
      { ...mia, creator: 'd1' },
      { ...mia, creator: 'mia' },
    ];
    const find = (dealId: string | null, handle: string | null, currency = 'EUR') =>
      findPayee([ofHandle, ofDeal], { dealId, handle, currency });
    expect(find('D1', 'mia')).toBe(ofDeal);
    expect(find('D2', '@Mia')).toBe(ofHandle);
    expect(find(null, null)).toBeNull();
    expect(find('D1', 'mia', 'USD')).toBeNull();
  });
});
