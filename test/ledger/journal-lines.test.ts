import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { linesOf } from '../../src/ledger/continuity/journal-folder.ts';
import {
  answerLine,
  type ClaimedAttempt,
  chainLines,
  claimLine,
  closedLine,
  type JournalHead,
  type JournalledClaim,
  parseClosedLine,
  readJournal,
  writingLine,
} from '../../src/ledger/continuity/journal-lines.ts';
import { makeTestFolder } from '../support/setup.ts';

const HEAD: JournalHead = {
  journal: 1,
  ledger: 'L',
  account: 'A1',
  owner: 'o',
  boot: 'b',
  file: '1:2:3',
  host: 'here',
  pid: 1,
  at: '2026-05-01T10:00:00.000Z',
};
const REFUSED = { kind: 'not_written', reason: 'refused' } as const;

function place(claimNo: number): ClaimedAttempt {
  const claim = {
    ledgerId: 'L',
    claimNo: String(claimNo),
    claimId: `00000000-0000-4000-8000-${String(claimNo).padStart(12, '0')}`,
    accountId: 'A1',
    effect: 'referral' as const,
    keyHash: 'k',
    bodyHash: 'b',
    amount: '1.00',
    currency: 'EUR',
  };
  return { claim, entryId: String(claimNo), attempt: 1 };
}

/** Reads a journal that contains these lines after its head. */
async function read(lines: readonly string[], head = JSON.stringify(HEAD)) {
  const batches: (readonly JournalledClaim[])[] = [];
  async function* all() {
    if (head !== '') yield head;
    for (const line of lines) yield line.trimEnd();
  }
  const summary = await readJournal(all(), async (claims) => void batches.push(claims));
  return { summary, batches };
}

describe('a journal', () => {
  it('tells which claims have an answer, which were perhaps written, which were not, and which is the newest', async () => {
    const [one, two, three] = [place(1), place(2), place(3)];
    const lines = [one, two, three].map((claim) => claimLine(claim, 1_000));
    const { summary, batches } = await read([
      ...lines,
      writingLine('1'),
      writingLine('2'),
      answerLine('2', REFUSED),
    ]);
    const at = new Date(1_000);
    expect(batches).toEqual([[{ ...two, at, isWriting: true, outcome: REFUSED }]]);
    expect(summary).toEqual({
      head: HEAD,
      last: { ...three, at, isWriting: false, outcome: null },
      open: [
        { ...one, at, isWriting: true, outcome: null },
        { ...three, at, isWriting: false, outcome: null },
      ],
      isClosed: false,
      isDamaged: false,
    });
    expect((await read([...lines, closedLine(three)])).summary?.isClosed).toBe(true);
    expect((await read([])).summary).toMatchObject({ last: null, open: [], isDamaged: false });
  });

  it.each([
    ['a line in its midst cannot be read', ['{"claim":1,', claimLine(place(2), 0)], true],
    ['a line in its midst is no object', ['null', claimLine(place(2), 0)], true],
    ['its last line is cut off', [claimLine(place(1), 0), '{"claim":2,'], false],
    ['an answer belongs to no claim', [answerLine('7', REFUSED)], true],
    ['a claim that was never made is written', [claimLine(place(1), 0), writingLine('2')], true],
    ['a line says nothing', ['{}'], true],
    [
      'a claim is answered twice',
      [claimLine(place(1), 0), answerLine('1', REFUSED), answerLine('1', REFUSED)],
      true,
    ],
  ])('of which %s is damaged only if a line can be missing', async (_what, lines, isDamaged) => {
    expect((await read(lines)).summary?.isDamaged).toBe(isDamaged);
  });

  it.each([
    ...['', '{"journal":1,', 'null'],
    ...[JSON.stringify({ ...HEAD, ledger: undefined }), JSON.stringify({ ...HEAD, journal: '1' })],
  ])('without a head that can be read contains nothing: %o', async (head) => {
    expect((await read([claimLine(place(1), 0), answerLine('1', REFUSED)], head)).summary).toBeNull();
    expect((await read([], head)).summary, 'as one without any line does').toBeNull();
  });

  it('of a later version is refused, because its claims may be described in another way', async () => {
    await expect(read([claimLine(place(1), 0)], JSON.stringify({ ...HEAD, journal: 2 }))).rejects.toThrow(
      'has format 2, and this version reads format 1',
    );
  });

  it('whose lines are numbered tells how far it goes, and that a line is missing, added or changed', async () => {
    const begun = chainLines([JSON.stringify(HEAD)]);
    const claimed = chainLines([claimLine(place(1), 0), writingLine('1')], begun.end);
    const answered = chainLines([answerLine('1', REFUSED)], claimed.end);
    const [head = '', ...lines] = Buffer.concat([begun.bytes, claimed.bytes, answered.bytes])
      .toString()
      .trimEnd()
      .split('\n');
    const readLines = async (changed: readonly string[]) => (await read(changed, head)).summary;
    expect(await readLines(lines)).toMatchObject({ end: answered.end, isDamaged: false });
    expect(answered.end.lines).toBe(4);
    expect(await readLines(lines.slice(0, 2))).toMatchObject({ end: claimed.end, isDamaged: false });
    const [claim = '', writing = '', answer = ''] = lines;
    for (const changed of [
      [claim, answer],
      [claim, writing, writing, answer],
      [claim.replace('"1.00"', '"2.00"'), writing, answer],
      [claim, writing.replace('"n":3', '"n":3,"m":1'), answer],
      [claim, writing, answerLine('1', REFUSED)],
    ])
      expect(await readLines(changed)).toMatchObject({ isDamaged: true });
    // Within the last write, no line follows that would show it. The sum that the process has counted does.
    const replaced = await readLines([claim.replace('"1.00"', '"2.00"'), writing]);
    expect(replaced).toMatchObject({ isDamaged: false, end: { lines: claimed.end.lines } });
    expect(replaced?.end?.sum).not.toBe(claimed.end.sum);
  });

  it('is read line by line whatever its answers contain, in pieces of any size', async () => {
    const path = join(makeTestFolder(), 'journal');
    const text = `a\u2028b\u2029c\rd${'é'.repeat(100_000)}\n`;
    writeFileSync(path, `${text}${text}cut`);
    const lines: string[] = [];
    for await (const line of linesOf(path)) lines.push(line);
    expect(lines).toEqual([text.slice(0, -1), text.slice(0, -1), 'cut']);
  });

  it.each(['0', '9007199254740991', '9007199254740993', '9223372036854775807'])(
    'tells claim %s from its neighbours, also in its last line',
    async (claimNo) => {
      const made = { ...place(1), claim: { ...place(1).claim, claimNo } };
      const { summary } = await read([claimLine(made, 0), writingLine(claimNo)]);
      expect(summary).toMatchObject({ isDamaged: false, last: { claim: { claimNo } } });
      expect(summary?.open).toMatchObject([{ claim: { claimNo }, isWriting: true }]);
      const answered = await read([claimLine(made, 0), answerLine(claimNo, REFUSED)]);
      expect(answered.summary).toMatchObject({ isDamaged: false, open: [] });
      expect(parseClosedLine(closedLine(made))?.last?.claim.claimNo).toBe(claimNo);
    },
  );

  it.each([
    ['"claim":1', '"claim":"x"'],
    ['"claim":1', '"claim":1.5'],
    ['"claim":1', '"claim":-1'],
    ['"claim":1', '"claim":"9223372036854775808"'],
    ['"claim":1', '"claim":9223372036854775808'],
    ['"entry":"1"', '"entry":"9223372036854775808"'],
    ['"entry":"1"', '"entry":null'],
    ['"entry":"1"', '"entry":["1"]'],
    ['"attempt":1', '"attempt":null'],
    ['"attempt":1', '"attempt":1.5'],
    ['"attempt":1', '"attempt":2147483648'],
    ['"id":"0', '"id":"x'],
  ])('is damaged by a claim that no ledger can have made: %s is %s', async (written, damaged) => {
    const line = claimLine(place(1), 0);
    expect(line).toContain(written);
    const { summary } = await read([line.replace(written, damaged), claimLine(place(2), 0)]);
    expect(summary).toMatchObject({ isDamaged: true, last: { entryId: '2' }, open: [{ entryId: '2' }] });
    const closed = closedLine(place(1)).replace('"claimId"', '"id"').replace('"entryId"', '"entry"');
    const named = (text: string) => text.replace('"id"', '"claimId"').replace('"entry"', '"entryId"');
    expect(parseClosedLine(named(closed))).not.toBeNull();
    const [from, to] = [written, damaged].map((text) => text.replace('"claim"', '"claimNo"')) as [
      string,
      string,
    ];
    expect(parseClosedLine(named(closed.replace(from, to)))).toBeNull();
  });

  it('has claims of every number that a database can store', async () => {
    const claim = { ...place(1), entryId: '9223372036854775807', attempt: 2_147_483_647 };
    expect((await read([claimLine(claim, 0)])).summary).toMatchObject({
      isDamaged: false,
      open: [{ entryId: '9223372036854775807', attempt: 2_147_483_647 }],
    });
  });

  it('of any size passes on at most 2,000 answered claims at a time', async () => {
    const numbers = Array.from({ length: 4_001 }, (_, index) => index + 1);
    const { batches } = await read(
      numbers.flatMap((claimNo) => [claimLine(place(claimNo), 0), answerLine(String(claimNo), REFUSED)]),
    );
    expect(batches.map(({ length }) => length)).toEqual([2_000, 2_000, 1]);
    expect(batches.flat().map(({ claim }) => claim.claimNo)).toEqual(numbers.map(String));
  });
});
