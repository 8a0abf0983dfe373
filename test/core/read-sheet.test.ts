import { describe, expect, it } from 'vitest';
import { describeProblems, readSheet, type Sheet } from '../../src/core/text/read-sheet.ts';

type Column = 'name' | 'note' | 'count';

const SHEET: Sheet<Column, { line: number; name: string; note: string }> = {
  columns: ['name', 'note', 'count'],
  required: [['name']],
  mayHaveOthers: false,
  mayBePadded: true,
  insteadOfAddress: 'Write a name.',
  readRow({ line, cell, refuse, isRepeated }) {
    const [name, note] = [cell('name'), cell('note')];
    if (note === 'bad') return refuse('note', 'This is bad.', 'Write something else.');
    return isRepeated('name', name, 'this name') ? null : { line, name, note };
  },
};

const namesIn = (text: string, sheet = SHEET) => readSheet(text, sheet).rows.map(({ name }) => name);
const problemsIn = (text: string, sheet = SHEET) =>
  readSheet(text, sheet).problems.map(({ line, column, value, reason }) => [line, column, value, reason]);

describe('a small CSV file', () => {
  it('is read with any mix of line ends, and with each line counted once', () => {
    const { rows, problems } = readSheet(
      'name,note\r\nA,1\nB,"2\r\n3\r4"\rC,5\r\n\r\n\nD,"6"\n\r"E",7\r',
      SHEET,
    );
    expect(problems).toEqual([]);
    expect(rows).toEqual([
      { line: 2, name: 'A', note: '1' },
      { line: 3, name: 'B', note: '2\n3\n4' },
      { line: 6, name: 'C', note: '5' },
      { line: 9, name: 'D', note: '6' },
      { line: 11, name: 'E', note: '7' },
    ]);
  });

  it('is separated by what gives its header most of the known columns', () => {
    for (const separator of [',', ';', '\t'])
      expect(namesIn(`Name${separator}count\nA${separator}1`)).toEqual(['A']);
    expect(problemsIn('name;my, own, words\nA;x')).toEqual([
      [1, 'my, own, words', null, 'The column is unknown and not used.'],
    ]);
    expect(readSheet('name,shade of red\nA,x', SHEET).problems[0]?.help).toContain(
      'rename it, for example to note_shade_of_red.',
    );
  });

  it('shows the line on which a broken quote stands or opens, each once', () => {
    const unclosed =
      'A quote opens here and is never closed: nothing from here to the end of the file is used.';
    expect(problemsIn('name,note\nA,x"1"y\n\n\nB,"2\nC,3\n')).toEqual([
      [2, null, null, 'The row is not valid CSV.'],
      [5, null, null, unclosed],
    ]);
    expect(problemsIn('"name,note\nA,1')).toEqual([[1, null, null, unclosed]]);
  });

  it('has one cell for each column in every row, and no text in a column without a name', () => {
    expect(problemsIn('name,note\nA\nB,1,2\nC,3')).toEqual([
      [2, null, null, 'The row has 1 cell, and the header has 2.'],
      [3, null, null, 'The row has 3 cells, and the header has 2.'],
    ]);
    expect(problemsIn('name,,note\nA,,1\n')).toEqual([]);
    expect(problemsIn('name,,note\nA,x,1\n')).toEqual([[1, null, null, 'Column 2 has no name.']]);
    expect(problemsIn('name,,note\nA,x,1\n', { ...SHEET, mayHaveOthers: true })).toEqual([]);
  });

  it('may have columns with remarks for people, which are named and not used', () => {
    for (const remark of [
      'Comment',
      'comments (internal)',
      'Bemerkung',
      'my_notes',
      'observación',
      'note 2',
    ]) {
      const found = readSheet(`name,count,${remark}\nA,1,x\n`, { ...SHEET, columns: ['name', 'count'] });
      expect({ problems: found.problems, warnings: found.warnings }).toEqual({ problems: [], warnings: [] });
      expect(found.remarks, remark).toHaveLength(1);
    }
    for (const other of ['notify', 'commented', 'internals', 'annotation', 'campaign'])
      expect(problemsIn(`name,${other}\nA,x\n`), other).toHaveLength(1);
    const refused = { ...SHEET, refusedOthers: { names: /old/, help: 'Use note.' } };
    expect(problemsIn('name,old remarks\nA,x\n', refused)).toHaveLength(1);
  });

  it('has its mistakes listed by line, and shows no e-mail address', () => {
    const text = 'name,note,NAME,mia@shop.test\nA,bad,,\nA,,,\nA,,,\njane@shop.test,bad,,\n';
    const found = readSheet(text, SHEET);
    expect(found.rows).toEqual([{ line: 3, name: 'A', note: '' }]);
    expect(
      describeProblems(found.problems, 'list.csv').map(({ where, message }) => [where, message]),
    ).toEqual([
      ['list.csv:1 name', 'The column appears twice.'],
      ['list.csv:1 m***@***', 'The column is unknown and not used.'],
      ['list.csv:2 note', '"bad": This is bad.'],
      ['list.csv:4 name', '"A": Line 3 already has this name.'],
      ['list.csv:5 name', 'This is an e-mail address, which is personal data.'],
    ]);
    const anyText = readSheet(text, { ...SHEET, insteadOfAddress: null });
    expect(JSON.stringify(anyText.problems)).not.toMatch(/jane|mia/);
  });

  it('that lacks a required column has no rows', () => {
    const found = readSheet('note\nbad\n', SHEET);
    expect(found).toMatchObject({
      rows: [],
      missingColumns: ['name'],
      problems: [{ line: 1, column: 'name' }],
    });
  });
});
