import { expect, it } from 'vitest';
import { loadCodes } from '../../src/attribute/load-codes.ts';
import type { CodeRow } from '../../src/attribute/parse-codes.ts';
import { type ToldCode, toCodeRows } from '../../src/attribute/read-code-changes.ts';
import { receiveEvent } from '../../src/pipeline/receive-event.ts';
import { readEvent } from '../../src/webhook/read-event.ts';
import { setup } from '../support/setup.ts';

const AT = ['2026-05-01T10:00:00.000Z', '2026-05-02T10:00:00.000Z'].map((text) => new Date(text));

function told(dealId: string, oldCode: string | null, newCode: string | null, day = 0): ToldCode {
  return { dealId, collabId: null, oldCode, newCode, at: AT[day] ?? new Date(0) };
}

/** `code deal from→to`, limits as days of May. */
function windowsOf(...changes: ToldCode[]): readonly string[] {
  const day = (moment: CodeRow['from']) => (moment === null ? '' : moment.text.slice(8, 10));
  return toCodeRows(changes, []).map(
    ({ code, dealId, from, to }) => `${code} ${dealId} ${day(from)}→${day(to)}`,
  );
}

it('a code belongs to its deal from always until it is taken away', () => {
  expect(windowsOf(told('D1', null, 'MIA10'))).toEqual(['MIA10 D1 →']);
  expect(windowsOf(told('D1', null, 'MIA10'), told('D1', 'MIA10', null, 1))).toEqual(['MIA10 D1 →02']);
  expect(windowsOf(told('D1', 'MIA10', 'MIA15'))).toEqual(['MIA10 D1 →01', 'MIA15 D1 →']);
});

it('a code that goes to another deal belongs to each in its time, never to two at once', () => {
  expect(windowsOf(told('D1', null, 'SALE'), told('D2', null, 'sale', 1))).toEqual([
    'SALE D1 →02',
    'sale D2 02→',
  ]);
});

it('an event that changes only the percentage changes no owner', () => {
  expect(windowsOf(told('D1', null, 'MIA10'), told('D1', 'MIA10', 'mia10', 1))).toEqual(['MIA10 D1 →']);
});

it('codes.csv goes first, and an address is no code', () => {
  const listed = toCodeRows([told('D9', null, 'Mia10')], []);
  expect(toCodeRows([told('D1', null, 'MIA10'), told('D1', null, 'mia@example.com')], listed)).toEqual([]);
});

it('a code that an event of the service told of is one of the job, and orders are matched anew', async () => {
  const { db } = await setup();
  const options = { job: 'j', path: null, timeZone: null, brandId: '4819' };
  const before = await loadCodes(db, options);
  const code = { old_discount_code: null, new_discount_code: 'MIA15' };
  const body = Buffer.from(JSON.stringify({ deal_id: 'D1', code_information: code }));
  await receiveEvent(db, readEvent({ body, addressKind: null, timestamp: undefined }));
  const after = await loadCodes(db, options);
  expect(after).toMatchObject({ codes: 1, problems: [] });
  expect(after.hash).not.toBe(before.hash);
  const rows = await db.selectFrom('intake.codes').select(['code', 'deal_id', 'line_no']).execute();
  expect(rows).toEqual([{ code: 'MIA15', deal_id: 'D1', line_no: -1 }]);
});
