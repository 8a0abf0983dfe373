import { describe, expect, it } from 'vitest';
import { withVoid } from '../../src/money/leaks/preview-void.ts';
import { parseTerms } from '../../src/money/load-rules.ts';
import { termsOf } from '../support/terms.ts';

const HEADER = 'deal_id,code,rate,fixed_fee,currency,valid_from,valid_to';

const CONDITIONS = 'deal_id,rate,flat,currency,customer,first_days,excluded_skus,valid_from';

const TIERS = 'deal_id,code,rate,currency,from_orders,from_revenue,tier,cap,min_payout';

function parse(...rows: string[]) {
  return parseTerms([HEADER, ...rows].join('\n'));
}

describe('terms.csv', () => {
  it('contains rates and fees by deal or code; a code matches in any spelling', () => {
    expect(
      parse('D1,,12.5,,,,', ',Été 10,8%,,,2026-01-01,2026-06-30', 'D2,,,300.00,eur,2026-03-01,').rows,
    ).toEqual([
      termsOf({ line: 2, text: 'deal_id=D1 rate=12.5', ratePercent: '12.5' }),
      termsOf({
        line: 3,
        text: 'code=Été 10 rate=8% valid_from=2026-01-01 valid_to=2026-06-30',
        dealId: null,
        codeFolded: 'été10',
        ratePercent: '8',
        validFrom: '2026-01-01',
        validTo: '2026-06-30',
      }),
      termsOf({
        line: 4,
        text: 'deal_id=D2 fixed_fee=300.00 currency=eur valid_from=2026-03-01',
        dealId: 'D2',
        fixedFee: '300.00',
        currency: 'EUR',
        validFrom: '2026-03-01',
      }),
    ]);
  });

  it.each([
    [
      'D1,MIA10,10,,,,',
      'deal_id',
      'The row names both a deal and a code.',
      'Fill in one of deal_id and code.',
    ],
    [
      ',,10,,,,',
      'deal_id',
      'The row names no deal and no code.',
      'Fill in one of deal_id and code. A row without them can only exclude products or set a minimum, for everybody: excluded_skus, min_payout.',
    ],
    [
      'D1,,,,,,',
      'rate',
      'The row says neither a rate nor an amount, and excludes nothing.',
      'Fill in rate, flat, fixed_fee, excluded_skus, cap or min_payout.',
    ],
    [
      'D1,,"12,5",,,,',
      'rate',
      'This is not a readable number.',
      'Write it with a point and without separators: 12.5',
    ],
    [
      'D1,,0.1,,,,',
      'rate',
      'A rate is in percent, and this is less than one.',
      'Write 10 for that share of the revenue, or 0.1% if you mean less than one percent.',
    ],
    [
      'D1,,1000,,,,',
      'rate',
      'A rate is in percent, and this is more than the whole revenue.',
      'Write 12.5 for 12.5 percent.',
    ],
    [
      'D1,,,300,,2026-01-01,',
      'currency',
      'A fee needs its currency.',
      'Write three letters, for example EUR.',
    ],
    [
      'D1,,,300,EUX,2026-01-01,',
      'currency',
      'This is not a currency.',
      'Write three letters, for example EUR.',
    ],
    [
      'D1,,,99.995,EUR,2026-01-01,',
      'fixed_fee',
      'An amount in EUR has 2 decimals, and this has more.',
      'Write the amount that is paid out, or correct the currency.',
    ],
    [
      'D1,,,100.50,JPY,2026-01-01,',
      'fixed_fee',
      'An amount in JPY has no decimals, and this has more.',
      'Write the amount that is paid out, or correct the currency.',
    ],
    [
      'D1,,,300,EUR,,',
      'valid_from',
      'A fee needs the day from which it is owed.',
      'Write the first day of the agreement: 2026-04-01.',
    ],
    ['D1,,10,,,2026-02-30,', 'valid_from', 'This is not a day.', 'Write 2026-04-30.'],
    [
      'D1,,10,,,2026-02-02,2026-02-01',
      'valid_to',
      'It ends before it begins: valid_from is 2026-02-02.',
      'Swap them, or correct the wrong one. Both days are included.',
    ],
    [
      'D1,,10',
      null,
      'The row has 3 cells, and the header has 7.',
      'Write the commas of blank cells too: otherwise it is unclear which cell is missing.',
    ],
    [
      'D1,,12,5,,,,',
      null,
      'The row has 8 cells, and the header has 7.',
      'Put a value that contains the delimiter in quotes.',
    ],
    [
      'jane@shop.example,,10,,,,',
      'deal_id',
      'This is an e-mail address, which is personal data.',
      'Name the deal, the code or the SKUs.',
    ],
  ])('with the row %s is rejected with a reason and a remedy', (row, column, reason, help) => {
    const { rows, problems } = parse(row);
    expect(rows).toEqual([]);
    expect(problems).toMatchObject([{ line: 2, column, reason, help }]);
    expect(JSON.stringify(problems)).not.toContain('jane@');
  });

  it('excludes products for a deal, a code or everyone by SKU or by the beginning of a SKU', () => {
    const ofSkus = (...rows: string[]) => parseTerms(['deal_id,code,rate,excluded_skus', ...rows].join('\n'));
    expect(
      ofSkus('D1,,10,Gift-50; gift-* ;', ',MIA10,,SHIRT-M', ',,,SHIPPING').rows.map(
        ({ excludedSkus }) => excludedSkus,
      ),
    ).toEqual([['gift-50', 'gift-*'], ['shirt-m'], ['shipping']]);
    expect(ofSkus('D1,,10,*', 'D2,,10,A*B').problems).toMatchObject([
      { line: 2, column: 'excluded_skus', value: '*' },
      {
        line: 3,
        column: 'excluded_skus',
        reason: 'A star may only be at the end of a SKU, after its beginning.',
      },
    ]);
    expect(ofSkus('D1,,10,;').problems).toMatchObject([{ reason: 'This names no SKU.' }]);
    expect(ofSkus(',,10,A').problems).toMatchObject([{ reason: 'The row names no deal and no code.' }]);
    expect(JSON.stringify(ofSkus('D1,,10,jane@shop.example').problems)).not.toContain('jane@');
    // Two rows for all deals, valid on the same days.
    expect(ofSkus(',,,A', ',,,B').problems).toMatchObject([{ line: 3 }]);
  });

  it('never has two rates for one deal on one day', () => {
    const rows = ['D1,,10,,,,2026-03-31', 'D1,,12,,,2026-03-31,', 'D2,,10,,,,'];
    expect(parse(...rows).problems).toMatchObject([
      { line: 3, reason: 'The deal D1 has different terms on line 2 for some of these days.' },
    ]);
    expect(parse('D1,,10,,,,2026-03-31', 'D1,,12,,,2026-04-01,').problems).toEqual([]);
    expect(parse('D1,,10,,,,', 'D1,,12,,,2026-04-01,').problems).toHaveLength(1);
  });

  it.each([
    ['D1,10,5,EUR,,,,', 'flat', 'The row says both a rate and a flat amount.'],
    ['D1,,5,,,,,', 'currency', 'The amount in flat needs its currency.'],
    ['D1,,5.005,EUR,,,,', 'flat', 'An amount in EUR has 2 decimals, and this has more.'],
    ['D1,10,,,first,,,', 'customer', 'This is not a kind of customer.'],
    ['D1,10,,,,0,,', 'first_days', 'This is not a number of days.'],
    ['D1,,,,new,,GIFT,', 'customer', 'Only a rate or a flat amount can have a condition.'],
    ['D1,10,,,,30,GIFT,', 'first_days', 'Only a rate or a flat amount can have a condition.'],
  ])('with the conditions of %s is rejected with a reason', (row, column, reason) => {
    const { rows, problems } = parseTerms(`${CONDITIONS}\n${row}`);
    expect([rows, problems]).toMatchObject([[], [{ line: 2, column, reason }]]);
  });

  it.each([
    ['D1,,10,,1,,all,,', 'from_orders', 'This is not a number of orders from 2 on.'],
    ['D1,,10,EUR,,0,all,,', 'from_revenue', 'Every order comes after this revenue.'],
    ['D1,,10,,,500,all,,', 'currency', 'The amount in from_revenue needs its currency.'],
    ['D1,,10,,5,,,,', 'tier', 'It is unclear which orders of the deal are counted.'],
    ['D1,,10,,,,month,,', 'tier', 'The row has no from_orders and no from_revenue.'],
    ['D1,,10,EUR,5,,all,100,', 'from_orders', 'Only a rate or a flat amount can have a condition.'],
    [',MIA,10,EUR,,,,100,', 'cap', 'Only a deal can have this, and the row is for a code.'],
    [',,,EUR,,,,100,', 'deal_id', 'The row names no deal and no code.'],
    ['D1,,,,,,,,50', 'currency', 'The amount in min_payout needs its currency.'],
  ])('with the tiers and limits of %s is rejected with a reason', (row, column, reason) => {
    const { rows, problems } = parseTerms(`${TIERS}\n${row}`);
    expect([rows, problems]).toMatchObject([[], [{ line: 2, column, reason }]]);
  });

  it.each([
    ['2026-05-02,', 'valid_from', 'A cap is for whole months, and this is not the first day of one.'],
    ['2026-05-01,2026-06-29', 'valid_to', 'A cap is for whole months, and this is not the last day of one.'],
  ])('with a cap that is valid from and to %s is rejected with a reason', (days, column, reason) => {
    const { rows, problems } = parseTerms(`${TIERS},valid_from,valid_to\nD1,,,EUR,,,,9,,${days}`);
    expect([rows, problems]).toMatchObject([[], [{ line: 2, column, reason }]]);
  });

  it('has one cap and one minimum for a deal and currency, and tiers from the lowest to the highest', () => {
    const problemsOf = (...rows: string[]) =>
      parseTerms([TIERS, ...rows].join('\n')).problems.map(
        ({ line, reason }) => `${line}: ${reason.slice(0, 50)}`,
      );
    const inEur = 'D1,,,EUR,,,,100,';
    expect(problemsOf('D1,,10,EUR,,,,50,', 'D1,,,USD,,,,100,', ',,,EUR,,,,,20')).toEqual([]);
    expect(problemsOf('D1,,10,EUR,,,,50,', inEur)).toEqual([
      '3: The deal D1 has different terms on line 2 for some',
    ]);
    expect(problemsOf(inEur, 'D1,,,EUR,,,,,9')).toHaveLength(1);
    const tiers = ['D1,,10,,,,,,', 'D1,,11,,5,,all,,', 'D1,,12,,9,,all,,', 'D1,,13,EUR,,90,month,,'] as const;
    expect(problemsOf(...tiers)).toEqual([]);
    expect(problemsOf(tiers[2], tiers[1])).toEqual(['3: The row applies whenever the one on line 2 does, o']);
    const of = (revenue: number, currency = 'EUR') => `D1,,14,${currency},,${revenue},all,,`;
    expect(problemsOf(of(90), of(200))).toEqual([]);
    expect(problemsOf(of(200), of(90))).toHaveLength(1);
    expect(problemsOf(of(200), of(90, 'USD')), 'another currency').toEqual([]);
    // The fifth order of a month is at least the fifth in all.
    expect(problemsOf('D1,,9,,5,,month,,', tiers[1])).toHaveLength(1);
    expect(problemsOf(tiers[1], 'D1,,9,,5,,month,,')).toEqual([]);
  });

  it('has a row with a condition only below the rows that apply whenever it does', () => {
    const problemsOf = (...rows: string[]) =>
      parseTerms([CONDITIONS, ...rows].join('\n')).problems.map(({ line, reason }) => `${line}: ${reason}`);
    const shadowed = (line: number) =>
      `${line}: The row applies whenever the one on line ${line - 1} does, on some of these days, and the lower row counts.`;
    const [plain, isNew, in30, in60] = ['D1,10,,,,,,', 'D1,11,,,new,,,', 'D1,12,,,,30,,', 'D1,,5,EUR,,60,,'];
    expect(problemsOf(plain, isNew, in60, in30, 'D1,9,,,returning,30,,')).toEqual([]);
    expect(problemsOf(isNew, plain)).toEqual([shadowed(3)]);
    expect(problemsOf(in30, in60)).toEqual([shadowed(3)]);
    expect(problemsOf(isNew, isNew)).toEqual([shadowed(3)]);
    expect(problemsOf(isNew, 'D1,9,,,new,30,,', 'D2,10,,,,,,')).toEqual([]);
    // A flat amount is no condition.
    expect(problemsOf(plain, 'D1,,5,EUR,,,,')[0]).toContain('different terms on line 2');
    const [inEur, inUsd] = ['D1,,5,EUR,,,,', 'D1,,6,USD,,,,'];
    expect(problemsOf(inEur, inUsd, 'D1,,7,EUR,new,,,', 'D1,,8,USD,new,,,')).toEqual([]);
    expect(problemsOf(inEur, inUsd, inEur)[0]).toMatch(/^4: .* different terms on line 2/);
    expect(problemsOf(inEur, inUsd, 'D1,10,,,,,,2026-03-01')).toHaveLength(2);
  });

  it('shares no day with another one of the deal that says what its orders earn, whichever limits, fees and products both have', () => {
    const problemsOf = (...rows: string[]) =>
      parseTerms(
        ['deal_id,rate,fixed_fee,currency,excluded_skus,cap,min_payout,valid_from,valid_to', ...rows].join(
          '\n',
        ),
      ).problems.map(({ line, column, reason, help }) => [
        line,
        column,
        reason.replace(/ for some.*/, ''),
        help,
      ]);
    const differs = (line: number, upper = line - 1) => [
      ...[line, 'valid_from', `The deal D1 has different terms on line ${upper}`],
      'End the earlier row the day before the later one begins: both days of a row are included.',
    ];
    const rate = 'D1,12,,,,,,,';
    for (const row of [
      ...['D1,10,,,,,,,', 'D1,10,,EUR,,50,,,', 'D1,10,,EUR,,,20,,', 'D1,,,,GIFT,,,,', 'D1,,,EUR,GIFT,50,,,'],
      ...['D1,10,9,EUR,,,,2026-01-01,', 'D1,,9,EUR,GIFT,,20,2026-01-01,'],
    ]) {
      expect(problemsOf(row, rate), row).toHaveLength(1);
      expect(problemsOf(rate, row), row).toEqual([differs(3)]);
    }
    expect(problemsOf('D1,10,,EUR,,50,,,', 'D1,12,,EUR,,60,,,')).toEqual([differs(3)]);
    // A limit of its own is beside them, also in the currency of the rate, and is the only one of its currency.
    for (const row of ['D1,,,EUR,,50,,,', 'D1,,,EUR,,,20,,', 'D1,,,EUR,,50,20,,'])
      for (const beside of [rate, 'D1,12,,EUR,,,,,', 'D2,,,EUR,,50,20,,', 'D1,,,USD,,50,20,,'])
        expect(problemsOf(row, beside), `${row} ${beside}`).toEqual([]);
    expect(problemsOf('D1,,,EUR,,50,,,', 'D1,,,EUR,,,20,,')).toEqual([differs(3)]);
    // So is a fee, which is the only one of its day and currency.
    const fee = 'D1,,9,EUR,,,,2026-01-01,';
    for (const beside of [
      rate,
      'D1,12,9,USD,,,,2026-01-01,',
      'D1,,9,EUR,,50,,2026-02-01,',
      fee.replace('D1', 'D2'),
    ])
      expect([problemsOf(fee, beside), problemsOf(beside, fee)], beside).toEqual([[], []]);
    for (const beside of [fee, 'D1,12,5,EUR,,,,2026-01-01,', 'D1,,5,EUR,,50,,2026-01-01,'])
      expect(problemsOf(fee, beside)).toEqual([
        [
          ...[3, 'fixed_fee', 'The deal D1 has a fee in EUR from 2026-01-01 on line 2, too.'],
          'Add them up in one row, or give one of them another day in valid_from.',
        ],
      ]);
    // Days, with those that are open, in any order of the lines.
    const days = (from: string, to: string) => `D1,10,,,,,,${from},${to}`;
    const [until, spring, later] = [
      days('', '2026-03-31'),
      days('2026-04-01', '2026-06-30'),
      days('2026-07-01', ''),
    ];
    expect(problemsOf(until, spring, later)).toEqual([]);
    expect(problemsOf(later, until, spring)).toEqual([]);
    expect(problemsOf(days('2026-04-01', '2026-04-01'), until)).toEqual([]);
    expect(problemsOf(until, later, days('2026-03-31', '2026-04-30'))).toEqual([differs(4, 2)]);
    expect(problemsOf(later, days('2026-03-31', '2026-04-30'), until)).toEqual([differs(3, 4)]);
    expect(problemsOf(spring, later, days('2026-06-30', '2026-06-30'))).toEqual([differs(4, 2)]);
    expect(problemsOf(until, days('', '2026-06-30'))).toEqual([differs(3)]);
    expect(problemsOf(later, days('2026-08-01', ''))).toEqual([differs(3)]);
  });

  it('with a condition has no effect on days that it does not share, nor on rows that state no rate', () => {
    const problemsOf = (...rows: string[]) =>
      parseTerms(
        ['deal_id,rate,flat,currency,customer,only_skus,excluded_skus,valid_from,valid_to', ...rows].join(
          '\n',
        ),
      ).problems.map(({ line, column, value, help }) => [line, column, value, help]);
    const isNew = 'D1,11,,,new,,,2026-05-01,';
    expect(problemsOf(isNew, 'D1,,,,,,GIFT,,')).toEqual([]);
    expect(problemsOf(isNew, 'D1,10,,,,,,,2026-04-30')).toEqual([]);
    expect(problemsOf(isNew, 'D1,10,,,,,,,2026-05-01')).toEqual([
      [
        3,
        'valid_from',
        null,
        'Move it above that line, or end the earlier row the day before the later one begins.',
      ],
    ]);
    const flat = 'D1,,5,EUR,,,,2026-05-01,';
    expect(problemsOf(flat, 'D1,20,,,,A;B*,,,2026-04-30')).toEqual([]);
    expect(problemsOf(flat, 'D1,20,,,,A;B*,,,2026-05-01')).toEqual([
      [
        ...[3, 'only_skus', 'a;b*'],
        'Remove the row, or end one of the two the day before the other one begins.',
      ],
    ]);
  });

  it('has rates for products only alone, and below the rows for the whole order and for more products', () => {
    const problemsOf = (...rows: string[]) =>
      parseTerms(['deal_id,rate,flat,currency,customer,only_skus', ...rows].join('\n')).problems.map(
        ({ line, column }) => `${line} ${column}`,
      );
    const [plain, gifts, one] = ['D1,10,,,,', 'D1,20,,,,GIFT-*', 'D1,30,,,,gift-2;gift-3*'];
    expect(problemsOf(plain, gifts, one)).toEqual([]);
    expect(problemsOf(gifts, plain)).toEqual(['3 valid_from']);
    expect(problemsOf(one, gifts)).toEqual(['3 valid_from']);
    expect(problemsOf('D1,,5,EUR,,GIFT-*', 'D1,10,,,new,GIFT-*', 'D1,10,,,,G*FT', ',10,,,,GIFT-*')).toEqual([
      ...['2 only_skus', '3 only_skus', '4 only_skus', '5 deal_id'],
    ]);
    // Without SKUs, it would be a rate for the whole order. Beside a flat amount of the same days, it would never be used.
    expect(problemsOf('D1,20,,,,;')).toEqual(['2 only_skus']);
    const flat = 'D1,,5,EUR,,';
    expect(problemsOf(flat, gifts)).toEqual(['3 only_skus']);
    expect(problemsOf(gifts, flat)).toEqual(['3 valid_from']);
    expect(problemsOf(plain, 'D1,,5,EUR,new,', gifts)).toEqual([]);
  });

  it('is rejected as a whole if its header is invalid', () => {
    expect(parseTerms('deal,rate\nD1,10').problems.map(({ column, reason }) => [column, reason])).toEqual([
      ['deal_id or code', 'The column is missing.'],
      ['deal', 'The column is unknown and not used.'],
    ]);
    // A condition whose name is misspelt would apply to every order.
    expect(parseTerms('deal_id,rate,custmer\nD1,10,new').problems).toMatchObject([
      { line: 1, column: 'custmer', help: expect.stringContaining('Did you mean "customer"?') },
    ]);
    expect(parseTerms('deal_id,rate,region\nD1,10,x').problems).toMatchObject([{ column: 'region' }]);
    expect(parseTerms('deal_id,rate,remark\nD1,10,x').problems).toEqual([]);
    expect(parseTerms('').problems.length).toBeGreaterThan(0);
  });
});

describe('a void of a code', () => {
  const VOID = { code: 'mia10', day: '2026-10-31', reason: '=on "a" site, says jane@shop.example' };

  it.each([
    ['', 'code,rate,valid_from,reason\n'],
    [
      '\ufeffdeal_id;rate;code\r\nD1;10;\r\n;"12";MIA10\r\n\r\n;5;BEN15',
      '\ufeffdeal_id;rate;code;valid_from;valid_to;reason\r\nD1;10;;;;\r\n;12;MIA10;;2026-10-30;\r\n\r\n;5;BEN15;;;\r\n',
    ],
    [
      'code,rate,valid_from,valid_to,reason\nMIA10,10,,2026-06-30,\n"Mia 10",  8,2026-07-01,,"two\nlines"\nBEN15,"5",,,"as \nit ""is"""\n',
      'code,rate,valid_from,valid_to,reason\nMIA10,10,,2026-06-30,\nMia 10,"  8",2026-07-01,2026-10-30,"two\nlines"\nBEN15,"5",,,"as \nit ""is"""\n',
    ],
  ])('ends its rows the day before, adds one with the rate 0, and leaves the others of %j', (text, kept) => {
    const { text: edited, row } = withVoid(text, VOID);
    expect(edited.slice(0, kept.length)).toBe(kept);
    expect(edited.slice(kept.length).trimEnd()).toBe(row);
    expect(row).toMatch(/'=on ""a"" site, says j\*\*\*@\*\*\*/);
    const { rows, problems } = parseTerms(edited);
    expect(problems).toEqual([]);
    expect(rows.at(-1)).toMatchObject({
      codeFolded: 'mia10',
      text: 'code=mia10 rate=0 valid_from=2026-10-31',
      ratePercent: '0',
      validFrom: '2026-10-31',
      validTo: null,
    });
    // Once more, it is there already; on an earlier day, it is in the way, and on a later one it changes nothing.
    expect(withVoid(edited, VOID)).toMatchObject({ text: edited, isWritten: true });
    expect(() => withVoid(edited, { ...VOID, day: '2026-10-30' })).toThrow(
      'what the code earns from 2026-10-31',
    );
    expect(() => withVoid(edited, { ...VOID, day: '2026-11-01' })).toThrow(
      'earn nothing already from 2026-10-31: line ',
    );
  });

  it('is not there yet as long as a lower row of the code may count', () => {
    const beside = (end: string) =>
      withVoid(
        `code,rate,customer,valid_from,valid_to\nMIA10,0,,2026-10-31,\nMIA10,20,returning,,${end}\n`,
        VOID,
      );
    expect(() => beside('')).toThrow('but line 3 is valid then, too');
    expect(() => beside('2026-10-31')).toThrow('but line 3 is valid then, too');
    expect(beside('2026-10-30')).toMatchObject({ isWritten: true, ended: [3] });
  });
});
