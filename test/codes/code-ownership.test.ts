import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { toOwnerRows } from '../../src/codes/code-ownership.ts';
import { loadCodes } from '../../src/codes/load-codes.ts';
import type { CodeRow, OwnerRow } from '../../src/codes/parse-codes.ts';
import type { OwnershipChange } from '../../src/codes/read-code-changes.ts';
import { readEvent } from '../../src/ledger/receiver/read-event.ts';
import { receiveEvents } from '../../src/ledger/receiver/receive-event.ts';
import { order } from '../intake/story.ts';
import { BRAND, type Context, decisions, openContext } from '../jobs/attribute-orders/decide/story.ts';
import { setup } from '../support/setup.ts';

const AT = ['2026-05-01T10:00:00.000Z', '2026-05-02T10:00:00.000Z'].map((text) => new Date(text));

function told(dealId: string, oldValue: string | null, newValue: string | null, day = 0): OwnershipChange {
  const targets = { oldTarget: null, newTarget: null };
  return {
    kind: 'discount_code',
    dealId,
    collabId: null,
    oldValue,
    newValue,
    ...targets,
    at: AT[day] ?? new Date(0),
    brandIds: [],
  };
}

/** Does the same for a link. Both states are written as `link → target`. */
function toldLink(dealId: string, old: string | null, now: string | null, day = 0): OwnershipChange {
  const [oldValue = null, oldTarget = null] = old?.split(' → ') ?? [];
  const [newValue = null, newTarget = null] = now?.split(' → ') ?? [];
  return { ...told(dealId, oldValue, newValue, day), kind: 'custom_link', oldTarget, newTarget };
}

const RULES = { brandId: '4819', listed: [], linkParameters: ['ref', 'utm_campaign'] };

/** Returns `code deal from→to`, with the limits as days of May. */
function windowsOf(...changes: OwnershipChange[]): readonly string[] {
  const day = (moment: OwnerRow['from']) => (moment === null ? '' : moment.text.slice(8, 10));
  return toOwnerRows(changes, RULES).map(
    (row) =>
      `${'code' in row ? row.code : row.linkFolded.join('+')} ${row.dealId} ${day(row.from)}→${day(row.to)}`,
  );
}

it('a code belongs to its deal from the beginning until the event that removes it', () => {
  expect(windowsOf(told('D1', null, 'MIA10'))).toEqual(['MIA10 D1 →']);
  expect(windowsOf(told('D1', null, 'MIA10'), told('D1', 'MIA10', null, 1))).toEqual(['MIA10 D1 →02']);
  expect(windowsOf(told('D1', 'MIA10', 'MIA15'))).toEqual(['MIA10 D1 →01', 'MIA15 D1 →']);
});

it('a code that moves to another deal belongs to each deal in its own period, never to both at once', () => {
  expect(windowsOf(told('D1', null, 'SALE'), told('D2', null, 'sale', 1))).toEqual([
    'SALE D1 →02',
    'sale D2 02→',
  ]);
});

it('an event that changes only the percentage does not change the owner', () => {
  expect(windowsOf(told('D1', null, 'MIA10'), told('D1', 'MIA10', 'mia10', 1))).toEqual(['MIA10 D1 →']);
});

it('a link and its target belong to their deal until they are changed or deleted', () => {
  const first = 'https://acme.test/?ref=mia → https://acme.test/p?ref=mia-page';
  const second = 'https://acme.test/?ref=mia-2 → https://acme.test/p?ref=mia-page';
  expect(windowsOf(toldLink('D1', null, first), toldLink('D1', first, second, 1))).toEqual([
    'mia D1 →02',
    'mia-page D1 →',
    'mia-2 D1 →',
  ]);
  expect(
    windowsOf(toldLink('D1', null, 'https://acme.test/mia'), toldLink('D1', 'acme.test/mia', null, 1)),
  ).toEqual(['acme.test/mia D1 →02']);
});

it('a link of two deals belongs to both, so that its orders are held', () => {
  const link = 'https://acme.test/?utm_campaign=spring';
  expect(windowsOf(toldLink('D1', null, link), toldLink('D2', null, link, 1))).toEqual([
    'spring D1 →',
    'spring D2 02→',
  ]);
});

it('a row of codes.csv takes precedence over an event, and an e-mail address is never a code', () => {
  const listed = toOwnerRows([told('D9', null, 'Mia10')], RULES) as readonly CodeRow[];
  const changes = [
    told('D1', null, 'MIA10'),
    told('D1', null, 'mia@example.com'),
    toldLink('D1', null, 'https://acme.test/?ref=mia10'),
    toldLink('D1', null, 'https://acme.test/?ref=mia@example.com'),
  ];
  expect(toOwnerRows(changes, { ...RULES, listed })).toEqual([]);
});

it('a code that equals the handle of another creator stays a code, and a link that equals a handle belongs to that creator', () => {
  const listed: CodeRow[] = [
    {
      ...(toOwnerRows([told('D9', null, 'OTHER')], RULES)[0] as CodeRow),
      handle: 'mia',
      handleFolded: 'mia',
    },
  ];
  const changes = [told('D1', null, 'MIA'), toldLink('D1', null, 'https://acme.test/?ref=mia')];
  const rows = toOwnerRows(changes, { ...RULES, listed });
  expect(rows.map((row) => ('code' in row ? row.code : row.link))).toEqual(['MIA']);
});

describe('a code of a mirrored deal', () => {
  const of = (brandIds: readonly string[], change: OwnershipChange) => ({ ...change, brandIds });
  const owners = (...changes: OwnershipChange[]) =>
    toOwnerRows(changes, RULES).map(({ dealId, brandId, to }) => [dealId, brandId, to === null]);

  it('belongs to the brand of the job if the deal has that brand, alone or among others', () => {
    expect(owners(of(['4819'], told('D1', null, 'SALE')))).toEqual([['D1', null, true]]);
    expect(owners(of(['17', '4819'], told('D1', null, 'SALE')))).toEqual([['D1', null, true]]);
  });

  it('belongs to another brand if the deal does, without removing the same code from a deal of the job', () => {
    const changes = [told('D1', null, 'SALE'), of(['17'], told('D2', null, 'SALE', 1))];
    expect(owners(...changes)).toEqual([
      ['D1', null, true],
      ['D2', '17', true],
    ]);
  });
});

it('an order of one brand is never credited to a deal that the mirror assigns to another brand', async () => {
  const { db, folder } = await setup();
  const context = await openContext(db, {
    path: join(folder, 'codes.csv'),
    writeCodes: (text) => writeFileSync(join(folder, 'codes.csv'), text),
  });
  const change = (dealId: string, code: string, collabId?: string) => {
    const information = { old_discount_code: null, new_discount_code: code };
    const body = { deal_id: dealId, collab_id: collabId, code_information: information };
    return readEvent({ body: Buffer.from(JSON.stringify(body)), addressKind: null, timestamp: undefined });
  };
  await receiveEvents(db, [
    change('https://app.test/deal/THEIRS', 'THEIRS'),
    change('OURS', 'OURS'),
    change('BOTH', 'BOTH'),
    change('BOTH', 'BOTH-THEIRS', 'C17'),
    change('UNREAD', 'UNREAD'),
  ]);
  const codes = ['THEIRS', 'OURS', 'BOTH', 'BOTH-THEIRS', 'UNREAD'];
  await context.read({ orders: codes.map((code) => order(code, { codes: [code] })) });
  const theirs = (await decided(context, '')).filter((line) => line.includes('THEIRS'));
  expect(theirs, 'nothing is mirrored yet').toEqual([
    'BOTH-THEIRS: attributed code BOTH-THEIRS → deal:BOTH',
    'THEIRS: attributed code THEIRS → deal:https://app.test/deal/THEIRS',
  ]);
  await sql`
    insert into mirror.deal_versions (deal_id, brand_id, raw, row_hash, valid_from, first_seen_at, run_id)
    select deal_id, brand_id, '{}', '', now(), now(), ${context.runId}::bigint
    from (values ('THEIRS', '17'), ('OURS', ${BRAND}), ('BOTH', '17')) as d(deal_id, brand_id)`.execute(db);
  await sql`
    insert into mirror.collaboration_versions (collab_id, deal_id, brand_id, raw, row_hash, valid_from, first_seen_at, run_id)
    select collab_id, 'BOTH', brand_id, '{}', '', now(), now(), ${context.runId}::bigint
    from (values ('C17', '17'), ('C4819', ${BRAND})) as c(collab_id, brand_id)`.execute(db);
  expect(await decided(context, '')).toEqual([
    'BOTH-THEIRS: unattributed code_of_other_brand BOTH-THEIRS',
    'BOTH: attributed code BOTH → deal:BOTH',
    'OURS: attributed code OURS → deal:OURS',
    'THEIRS: unattributed code_of_other_brand THEIRS',
    'UNREAD: attributed code UNREAD → deal:UNREAD',
  ]);
  // An explicit row in codes.csv takes precedence.
  const written = await decided(context, `THEIRS,${BRAND},,OURS,,,`);
  expect(written).toContain('THEIRS: attributed code THEIRS → deal:OURS');
});

async function decided(context: Context, codes: string): Promise<string[]> {
  await context.attribute({ codes });
  return (await decisions(context)).sort();
}

it('a code from an event of the service is added to the job, and its orders are matched again', async () => {
  const { db } = await setup();
  const options = { job: 'j', path: null, timeZone: null, brandId: '4819', linkParameters: [] };
  const before = await loadCodes(db, options);
  const code = { old_discount_code: null, new_discount_code: 'MIA15' };
  const body = Buffer.from(JSON.stringify({ deal_id: 'D1', code_information: code }));
  await receiveEvents(db, [readEvent({ body, addressKind: null, timestamp: undefined })]);
  const after = await loadCodes(db, options);
  expect(after).toMatchObject({ codes: 1, problems: [] });
  expect(after.hash).not.toBe(before.hash);
  const rows = await db.selectFrom('intake.codes').select(['code', 'deal_id', 'line_no']).execute();
  expect(rows).toEqual([{ code: 'MIA15', deal_id: 'D1', line_no: -1 }]);
});

it('a code belongs to the deal that got it last, also if the events arrive in another order', async () => {
  const { db } = await setup();
  const ago = (seconds: number) => String(Math.floor(Date.now() / 1000) - seconds);
  const event = (dealId: string, webhook_timestamp: string | undefined) => {
    const information = { old_discount_code: null, new_discount_code: 'MIA' };
    const body = { deal_id: dealId, webhook_timestamp, code_information: information };
    return readEvent({ body: Buffer.from(JSON.stringify(body)), addressKind: null, timestamp: undefined });
  };
  const options = { job: 'j', path: null, timeZone: null, brandId: '4819', linkParameters: [] };
  const owner = async () => {
    await loadCodes(db, options);
    const codes = db.selectFrom('intake.codes').select('deal_id').where('valid_to', 'is', null);
    return (await codes.execute()).map(({ deal_id }) => deal_id);
  };
  await receiveEvents(db, [event('NEW', ago(60)), event('OLD', ago(3_600))]);
  expect(await owner()).toEqual(['NEW']);
  // A time that is ahead, or long ago, is no time of the change.
  for (const [deal, time] of [
    ['AHEAD', ago(-3_600)],
    ['LONG AGO', ago(30 * 86_400)],
    ['NONE', undefined],
  ] as const) {
    await receiveEvents(db, [event(deal, time)]);
    expect(await owner()).toEqual([deal]);
  }
});

it('a link of two deals is a problem in the report of the run, with the value from the event', async () => {
  const { db } = await setup();
  const event = (dealId: string) => {
    const link = { old_custom_link: null, new_custom_link: 'https://acme.test/?ref=spring' };
    const body = Buffer.from(JSON.stringify({ deal_id: dealId, custom_link_information: link }));
    return readEvent({ body, addressKind: null, timestamp: undefined });
  };
  await receiveEvents(db, [event('D1'), event('D2')]);
  const options = { job: 'j', path: null, timeZone: null, brandId: '4819', linkParameters: ['ref'] };
  const { problems } = await loadCodes(db, options);
  expect(problems).toMatchObject(
    ['deal:D1', 'deal:D2'].map(() => ({
      column: 'link',
      value: 'https://acme.test/?ref=spring',
      reason: expect.stringMatching(/^An event of the service gave it to deal:D[12] for the same time/),
    })),
  );
});
