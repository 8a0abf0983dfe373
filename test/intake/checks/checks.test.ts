import { describe, expect, it } from 'vitest';
import { FILE_CHECK_NAMES } from '../../../src/core/checks/expectations.ts';
import { applies, type Check } from '../../../src/intake/checks/check.ts';
import { judgeFreshness } from '../../../src/intake/checks/freshness.ts';
import { createDater, judgeFile } from '../../../src/intake/checks/judge-file.ts';
import { compareHeaders } from '../../../src/intake/checks/kinds/header.ts';
import { checks } from '../../../src/intake/checks/kinds/index.ts';
import { EXPECTATIONS, exportsOf, SHOPS } from './synthetic-shop.ts';

const place = createDater('Europe/Amsterdam');
const [SHOP] = SHOPS;
if (SHOP === undefined) throw new Error('there is no shop');
const files = [...exportsOf(SHOP)].slice(0, 60).map(place);
const [seen, earlier] = [files.at(-1), files.slice(0, -1)];
if (seen === undefined) throw new Error('there is no file');

describe('the registry of checks', () => {
  it('contains each check that a source can configure, once', () => {
    expect(checks.map(({ name }) => name).toSorted()).toEqual([...FILE_CHECK_NAMES].toSorted());
  });

  it.each(checks)('$name returns the same result for the same file of orders or customers', (check) => {
    const customers = { ...seen, orders: null, consent: { customers: 100, refused: 5 } };
    const judged = applies(check, seen) ? seen : customers;
    expect(applies(check, judged)).toBe(true);
    const input = { seen: judged, history: earlier, thinned: earlier, expectations: EXPECTATIONS };
    expect(check.judge(input)).toEqual(check.judge(structuredClone(input)));
    expect(check.judge(input).length).toBeGreaterThan(0);
  });

  it.each(checks)('$name learns before it judges, and reports it', (check) => {
    const judged = applies(check, seen) ? seen : { ...seen, consent: { customers: 100, refused: 5 } };
    const [first] = check.judge({ seen: judged, history: [], thinned: [], expectations: EXPECTATIONS });
    expect(first).toMatchObject({ verdict: 'learning', expected: expect.stringMatching(/^learning: 0 of/) });
  });
});

describe('a check that fails', () => {
  const broken: Check = {
    name: 'rows',
    isOfCalendar: false,
    isOfNewFiles: false,
    judge() {
      throw new TypeError('jane@example.com cannot be read');
    },
  };

  it.each([
    ['warn', 'warn'],
    ['hold', 'held'],
  ] as const)('is as severe as its action: with %s the verdict is %s', (action, verdict) => {
    const expectations = { ...EXPECTATIONS, actions: { ...EXPECTATIONS.actions, rows: action } };
    const results = judgeFile({ seen, earlier, expectations, expectedDates: [], registry: [broken] });
    expect(results).toMatchObject([
      { verdict, message: 'The check failed (TypeError). This is a bug: please report it.' },
    ]);
  });
});

describe('changed columns', () => {
  const before = ['Name', 'Id', 'Total', 'Tags'];
  it.each([
    ['new', ['Name', 'Id', 'Total', 'Tags', 'Vendor'], [{ change: 'new', column: 'Vendor' }]],
    ['gone', ['Name', 'Total', 'Tags'], [{ change: 'gone', column: 'Id' }]],
    ['renamed', ['Name', 'Id', 'Amount', 'Tags'], [{ change: 'renamed', column: 'Amount', from: 'Total' }]],
    ['reordered', ['Name', 'Total', 'Id', 'Tags'], [{ change: 'reordered', column: 'Total' }]],
    ['as before', before, []],
    ['twice', ['Name', 'Id', 'Total', 'Tags', 'Tags'], [{ change: 'new', column: 'Tags (2)' }]],
  ])('%s', (_, now, changes) => {
    expect(compareHeaders(before, now)).toEqual(changes);
  });

  it('are judged one by one: the action for a column takes precedence over the action for a kind of change', () => {
    const header = { ...EXPECTATIONS.header, new: 'accept', columns: { Total: 'hold' } } as const;
    const changed = {
      ...seen,
      header: [...seen.header.filter((name) => name !== 'Total'), 'Vendor'],
      headerHash: 'b',
    };
    const results = judgeFile({
      seen: changed,
      earlier,
      expectedDates: [],
      expectations: { ...EXPECTATIONS, header },
    }).filter(({ check }) => check === 'header');
    expect(results.map(({ subject, verdict }) => [subject, verdict])).toEqual([
      ['Vendor', 'ok'],
      ['Total', 'held'],
    ]);
  });

  it('are learned on the first day, on which a tool may send two kinds of exports', () => {
    const other = { ...seen, header: ['A'], headerHash: 'b' };
    const verdictAfter = (earlierFiles: typeof earlier) =>
      judgeFile({ seen: other, earlier: earlierFiles, expectations: EXPECTATIONS, expectedDates: [] }).find(
        ({ check }) => check === 'header',
      )?.verdict;
    expect(verdictAfter([{ ...seen, arrivedAt: new Date(seen.arrivedAt.getTime() - 1_000) }])).toBe(
      'learning',
    );
    expect(verdictAfter(earlier)).toBe('warn');
  });

  it('are accepted if an earlier file had them, also if two kinds of exports alternate', () => {
    const other = { ...seen, header: ['A'], headerHash: 'b' };
    const history = [...earlier, { ...other, header: [] }, ...earlier.slice(-1)];
    const results = judgeFile({
      seen: other,
      earlier: history,
      expectations: EXPECTATIONS,
      expectedDates: [],
    });
    expect(results.find(({ check }) => check === 'header')?.verdict).toBe('ok');
  });
});

describe('freshness', () => {
  const base = { freshness: { minutes: 360, weekdays: [1, 2, 3, 4, 5] }, timeZone: 'Europe/Amsterdam' };
  const at = (text: string) => new Date(text);
  it.each([
    ['a file came in the night before Tuesday', '2026-11-23T23:00:00Z', '2026-11-24T08:00:00Z', 'ok'],
    ['nothing came since Monday’s deadline', '2026-11-23T04:00:00Z', '2026-11-24T08:00:00Z', 'late'],
    ['the deadline is an hour away', '2026-11-23T04:00:00Z', '2026-11-24T04:00:00Z', 'ok'],
    ['it came on Saturday, which counts for Monday', '2026-11-21T04:00:00Z', '2026-11-23T08:00:00Z', 'ok'],
    ['it is the weekend, and Friday’s came', '2026-11-20T04:00:00Z', '2026-11-22T08:00:00Z', 'ok'],
  ])('%s', (_, arrivedAt, now, verdict) => {
    expect(
      judgeFreshness({ ...base, arrivedAt: at(arrivedAt), now: at(now), expectedDates: [] }).verdict,
    ).toBe(verdict);
  });

  it('is late for a source without any file, and is not judged on an expected date', () => {
    const now = at('2026-11-24T08:00:00Z');
    expect(judgeFreshness({ ...base, arrivedAt: null, now, expectedDates: [] }).verdict).toBe('late');
    const expectedDates = [{ day: '2026-11-24', name: 'a holiday', source: null }];
    expect(judgeFreshness({ ...base, arrivedAt: null, now, expectedDates }).verdict).toBe('not_judged');
  });
});
