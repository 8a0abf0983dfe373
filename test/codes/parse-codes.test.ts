import { describe, expect, test } from 'vitest';
import { CODE_COLUMNS, parseCodeCells, parseCodes, readValidityTime } from '../../src/codes/parse-codes.ts';
import { HEADER } from '../jobs/attribute-orders/decide/story.ts';

const codesOf = (...lines: readonly string[]) => parseCodes([HEADER, ...lines].join('\n'));

describe('a file of codes', () => {
  test('may have its columns in any order, a byte order mark, semicolons, blanks and empty lines', () => {
    const { rows, problems, warnings, missingColumns } = parseCodes(
      '\ufeffInfluencer_Handle ; CODE\r\n @Mira.Glow ; été 20 \r\n\r\n;\r\n"b;c";X\r\n',
    );
    expect([problems, warnings, missingColumns]).toEqual([[], [], []]);
    expect(rows).toEqual([
      {
        line: 2,
        code: 'été 20',
        folded: 'été20',
        brandId: null,
        handle: '@Mira.Glow',
        handleFolded: 'mira.glow',
        dealId: null,
        collabId: null,
        target: 'handle:mira.glow',
        from: null,
        to: null,
      },
      expect.objectContaining({ line: 5, code: 'X', folded: 'x', target: 'handle:b;c' }),
    ]);
  });

  test('is separated by commas, unless its header has semicolons and no comma before them', () => {
    expect(parseCodes('code,deal_id;note\nA,D1').rows).toMatchObject([]);
    expect(parseCodes('code,deal_id,note;\nA,D1,x;y').rows).toMatchObject([{ code: 'A', dealId: 'D1' }]);
    expect(parseCodes('code;deal_id;a,b\nA;D1;x').rows).toMatchObject([{ code: 'A', dealId: 'D1' }]);
    expect(parseCodes('code,deal_id\n"A;B",D1').rows).toMatchObject([{ code: 'A;B', dealId: 'D1' }]);
  });

  test('names a code and at least one kind of owner, or nothing of it is used', () => {
    expect(parseCodes('Rabattcode,deal_id\nA,D1')).toMatchObject({ rows: [], missingColumns: ['code'] });
    expect(parseCodes('code,note\nA,x')).toMatchObject({
      rows: [],
      missingColumns: ['influencer_handle, deal_id or collab_id'],
    });
    expect(parseCodes('')).toMatchObject({
      rows: [],
      missingColumns: ['code', 'influencer_handle, deal_id or collab_id'],
    });
    for (const owner of ['influencer_handle', 'deal_id', 'collab_id'])
      expect(parseCodes(`code,${owner}\nA,x`).rows).toHaveLength(1);
  });

  test('may not have another column that says when its codes count, unless it is blank', () => {
    for (const column of ['Expires', 'ends_at', 'Valid until', 'ACTIVE', 'gültig bis', 'Status'])
      expect(parseCodes(`code,deal_id,${column}\nA,D1,2026-09-01`).problems).toMatchObject([
        { line: 1, help: expect.stringContaining('valid_to') },
      ]);
    for (const text of ['code,deal_id,Expires\nA,D1,', 'code,deal_id,Activity,Sender,Gender\nA,D1,x,y,z'])
      expect(parseCodes(text).problems).toEqual([]);
  });

  test('may have other columns, but none that is a known one misspelt or twice', () => {
    const note = {
      line: 1,
      column: 'campaign of anna',
      value: null,
      reason: expect.stringContaining('unknown'),
    };
    const other = parseCodes('code,deal_id,Campaign of Anna,,\nA,D1,x,,');
    expect([other.problems, other.warnings]).toEqual([[], [expect.objectContaining(note)]]);
    const remarks = parseCodes('code,deal_id,Remarks of Anna\nA,D1,x');
    expect(remarks).toMatchObject({ problems: [], warnings: [], remarks: ['remarks of anna'] });
    const misspelt = parseCodes('code,deal_id,valid_form\nA,D1,2026-01-01');
    expect([misspelt.warnings, misspelt.problems]).toMatchObject([
      [],
      [{ line: 1, column: 'valid_form', value: null, help: expect.stringContaining('"valid_from"') }],
    ]);
    expect(misspelt.rows).toMatchObject([{ code: 'A', from: null }]);
    const twice = parseCodes('code,deal_id,Code\nA,D1,B');
    expect(twice.problems).toMatchObject([
      { line: 1, column: 'code', reason: expect.stringContaining('twice') },
    ]);
    expect(twice.rows).toMatchObject([{ code: 'A' }]);
  });

  test('may not have a filled column that says when, where or for what a code counts', () => {
    const refused = [
      'expires',
      'End date',
      'enddate',
      'isActive',
      'Status',
      'gültig bis',
      'Platform',
      'country',
    ];
    for (const column of [...refused, 'Max. uses', 'Shop', 'status notes'])
      expect(parseCodes(`code,deal_id,${column}\nA,D1,x`).problems, column).toHaveLength(1);
    for (const column of ['expires', 'platform'])
      expect(parseCodes(`code,deal_id,${column}\nA,D1,`).problems, column).toEqual([]);
    for (const column of ['weekend tour', 'shopper', 'landing page', 'estate'])
      expect(parseCodes(`code,deal_id,${column}\nA,D1,x`), column).toMatchObject({
        problems: [],
        warnings: [{}],
      });
  });

  test('whose quote is never closed is used up to the line where it opens', () => {
    const { rows, problems } = parseCodes('code,deal_id\nA,D1\n"B,D1\nC,D1\nD,D1\n');
    expect(rows.map(({ code }) => code)).toEqual(['A']);
    expect(problems).toMatchObject([
      { line: 3, column: null, reason: expect.stringContaining('never closed') },
    ]);
    expect(parseCodes('"code,deal_id\nA,D1').problems).toMatchObject([{ line: 1 }]);
  });

  test('is used without a row that is no CSV', () => {
    const { rows, problems } = parseCodes('code,deal_id\nA,D1\nB"x"y,D1\nD,D1\n');
    expect(rows.map(({ code, line }) => [code, line])).toEqual([
      ['A', 2],
      ['D', 4],
    ]);
    const broken = { line: 3, column: null, value: null, reason: 'The row is not valid CSV.' };
    expect(problems).toContainEqual({ ...broken, help: 'Check its quotes.' });
  });

  test('may have blank cells that a spreadsheet has added to every row, and nothing else', () => {
    const padded = parseCodes([`${HEADER},,`, 'A,,m,,,,,,', 'B,,m,,,,, ,'].join('\n'));
    expect([padded.rows.length, padded.problems]).toEqual([2, []]);
    const paddedRows = codesOf('A,,m,,,,,', 'B,,m,,,,, ');
    expect([paddedRows.rows.length, paddedRows.problems]).toEqual([2, []]);
    // A cell with text has moved the others, and nobody knows from where.
    const moved = codesOf('A,,m,,,,,x', 'B,,m,,,,,');
    expect([moved.rows, moved.problems.map(({ line }) => line)]).toEqual([[], [2, 3]]);
    const ragged = codesOf('A,,m,,,,', 'B,,m,,,,,');
    expect([ragged.rows.length, ragged.problems.map(({ line }) => line)]).toEqual([1, [3]]);
    const short = codesOf('A,,m');
    expect(short.problems).toMatchObject([
      {
        line: 2,
        reason: 'The row has 3 cells, and the header has 7.',
        help: expect.stringContaining('commas'),
      },
    ]);
    const long = codesOf('A,,m,,,,,surplus');
    expect(long.problems).toMatchObject([
      {
        line: 2,
        reason: 'The row has 8 cells, and the header has 7.',
        help: expect.stringContaining('quotes'),
      },
    ]);
  });
});

describe('a row of codes', () => {
  test('targets the deal, else the collaboration, else the handle', () => {
    const { rows } = codesOf('A,,mira,D1,C1,,', 'B,,mira,,C1,,', 'C,,@Mira,,,,');
    expect(rows.map(({ target }) => target)).toEqual(['deal:D1', 'collab:C1', 'handle:mira']);
    expect(rows.map(({ handleFolded }) => handleFolded)).toEqual(['mira', 'mira', 'mira']);
  });

  test.each([
    [',,m,,,,', 'code', null, 'The code is blank.'],
    ['\u200b,,m,,,,', 'code', '\u200b', 'The code is blank.'],
    ['None,,m,,,,', 'code', 'None', 'Programs write this where there is no value.'],
    ['MIA10,,n/a,,,,', 'influencer_handle', 'n/a', 'Programs write this where there is no value.'],
    ['MIA10,,,-,,,', 'deal_id', '-', 'Programs write this where there is no value.'],
    ['A,,,,,,', 'influencer_handle', null, 'A has no owner.'],
    ['A,,Mira Glow,,,,', 'influencer_handle', 'Mira Glow', 'A handle cannot contain blanks.'],
    ['A,,m,D 1,,,', 'deal_id', 'D 1', 'An id cannot contain blanks.'],
    ['A,,m,,C\u00071,,', 'collab_id', 'C\u00071', 'An id cannot contain blanks.'],
    ['A,Glow,m,,,,', 'brand_id', 'Glow', 'The id of a brand must be a whole number.'],
    [`A,${'1'.repeat(19)},m,,,,`, 'brand_id', '1'.repeat(19), 'The id of a brand must be a whole number.'],
    ['A,,m,,,31.12.2026,', 'valid_from', '31.12.2026', 'This is not a readable date or time.'],
    ['A,,m,,,,2026-02-30', 'valid_to', '2026-02-30', 'This is not a readable date or time.'],
    [
      'A,,m,,,2026-05-02,2026-05-01',
      'valid_to',
      '2026-05-01',
      'It ends before it begins: valid_from is 2026-05-02.',
    ],
    ['A,,mia@example.com,,,,', 'influencer_handle', null, /^This is an e-mail address/],
  ])('%j is not used: %s', (line, column, value, reason) => {
    const { rows, problems } = codesOf(line, 'OTHER,4819,m,,,,');
    expect(rows).toMatchObject([{ code: 'OTHER', brandId: '4819' }]);
    expect(problems).toMatchObject([
      { line: 2, column, value, reason: typeof reason === 'string' ? reason : expect.stringMatching(reason) },
    ]);
    expect(problems[0]?.help).toMatch(/\.$/);
  });

  test.each([
    ['2026-05-01', '2026-05-01', true],
    ['2026-05-01 10:00', '2026-05-01 10:00', false],
    ['2026-05-01 10:00', '2026-05-01 10:01', true],
    ['2026-05-01T10:00Z', '2026-05-01T12:00+02:00', false],
    ['2026-05-01T10:00Z', '2026-05-01T12:01 +0200', true],
    // Nobody knows how far the zone of a local time is from UTC: at most 14 hours ahead, and 12 behind.
    ['2026-05-02T02:00Z', '2026-05-01 00:01', true],
    ['2026-05-02T02:00Z', '2026-05-01 00:00', false],
    ['2026-05-02 02:00', '2026-05-01T00:00Z', false],
  ])('from %s to %s is a period: %s', (from, to, isPeriod) => {
    expect(codesOf(`A,,m,,,${from},${to}`).rows).toHaveLength(isPeriod ? 1 : 0);
  });

  test('from no file has the same columns, and line 0', () => {
    expect(CODE_COLUMNS.join(',')).toBe(HEADER);
    const { row, problems } = parseCodeCells({
      code: 'A',
      deal_id: 'D1',
      valid_to: '2026-05-01',
      brand_id: null,
    });
    const to = { text: '2026-05-02 00:00:00', isLocal: true };
    expect(row).toMatchObject({ line: 0, code: 'A', target: 'deal:D1', brandId: null, from: null, to });
    expect(problems).toEqual([]);
    expect(parseCodeCells({ code: 'A' })).toMatchObject({
      row: null,
      problems: [{ line: 0, reason: 'A has no owner.' }],
    });
  });
});

describe('a limit of the validity of a code', () => {
  test.each([
    ['2026-04-01', '2026-04-01 00:00:00', '2026-04-02 00:00:00'],
    ['2026-02-28', '2026-02-28 00:00:00', '2026-03-01 00:00:00'],
    ['2028-02-29', '2028-02-29 00:00:00', '2028-03-01 00:00:00'],
    ['2026-12-31', '2026-12-31 00:00:00', '2027-01-01 00:00:00'],
    // For ever.
    ['9999-12-31', '9999-12-31 00:00:00', '9999-12-31 00:00:00'],
  ])('%s is the whole day', (date, start, end) => {
    expect(readValidityTime(date, 'start_of_day')).toEqual({ text: start, isLocal: true });
    expect(readValidityTime(date, 'end_of_day')).toEqual({ text: end, isLocal: true });
  });

  test.each([
    ['2026-04-01 18:00', true],
    ['2026-04-01T23:59:59', true],
    ['2026-04-01T00:00:00Z', false],
    ['2026-04-01 18:00 +0200', false],
    ['2026-04-01T18:00:00.123456-03:30', false],
    ['2026-04-01T18:00+14:00', false],
  ])('%s is a time, local: %s', (text, isLocal) => {
    for (const end of ['start_of_day', 'end_of_day'] as const)
      expect(readValidityTime(text, end)).toEqual({ text, isLocal });
  });

  test.each([
    '2026-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-04-00',
    '2026-04-31',
    '2026-04-01 24:00',
    '2026-04-01 10:60',
    '2026-04-01T10:00:60Z',
    // No place is further than 14 hours from UTC.
    '2026-04-01T10:00:00+25:00',
    '2026-04-01T10:00:00+15:00',
    '2026-04-01T10:00:00+01:60',
    '0000-01-01',
    '0026-04-01',
    '2026-04-01T10:00+16:00',
    '0000-04-01',
    '2026-04-01 ',
    '01.04.2026',
    'tomorrow',
    '2026-4-1',
    '',
  ])('%j is neither a date nor a time', (text) => {
    expect(readValidityTime(text, 'end_of_day')).toBeNull();
  });
});
