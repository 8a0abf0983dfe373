import { hash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it, test } from 'vitest';
import { reportCustomers } from '../../../jobs/identify-customers/report.ts';
import {
  consentOf,
  mergeConsent,
  NOBODY_PASSED_OVER,
  NOTHING_SEEN,
  type OptionalColumn,
  type StatedCustomer,
} from '../../../src/core/customer.ts';
import type { Database } from '../../../src/db/connect.ts';
import { createCustomerStager } from '../../../src/intake/customers/create-customer-stager.ts';
import { prepareBatches } from '../../../src/intake/customers/prepare-batches.ts';
import { sealCustomers, withdrawCustomers } from '../../../src/intake/customers/seal-customers.ts';
import { settleBatches, splitBatch } from '../../../src/intake/customers/settle-batches.ts';
import { waitingBatches } from '../../../src/intake/customers/waiting-batches.ts';
import { beginFile } from '../../../src/intake/files/begin-file.ts';
import { holdFile } from '../../../src/intake/files/seal-read.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { setup } from '../../support/setup.ts';
import { countBlocked, waitFor } from '../../support/wait-for.ts';
import { ENGINES, openShop, rejection, type Shop, useDatabase } from '../story.ts';

type Given = Partial<StatedCustomer> & { readonly address: string };

/** Opens a brand with its own source, whose files are read for their customers. */
async function openStore(db: Database) {
  const shop = await openShop(db);
  return { ...shop, brandId: shop.source };
}
type Store = Shop & { readonly brandId: string };

function customer({ brandId }: Store, given: Given): StatedCustomer {
  return {
    hash: hash('md5', `${brandId} ${given.address.toLowerCase()}`),
    saidYes: true,
    consentedAt: null,
    refusedAt: null,
    ordersCount: null,
    spent: null,
    currency: null,
    boughtWithCode: null,
    ...given,
  };
}

/** What a row with a refusal says. */
const NO = { saidYes: false, refusedAt: Date.UTC(2026, 3, 10) } as const;
/** What a row says that has a yes with a later date than that, or an earlier one. */
const LATER_YES = { consentedAt: Date.UTC(2026, 3, 11) } as const;
const EARLIER_YES = { consentedAt: Date.UTC(2026, 3, 9) } as const;
const UNKNOWN = { saidYes: false } as const;

/** A statement handles at least this many customers. */
const STATEMENT = 10_000;
const NOTHING = {
  passedOver: NOBODY_PASSED_OVER,
  doubtful: [],
  rejected: [],
  rowsRead: 0,
  seen: NOTHING_SEEN,
};

type StageOptions = {
  readonly uri?: string;
  readonly content?: string;
  readonly batchSize?: number;
  readonly recheckAfterDays?: number;
  readonly rejected?: number;
  readonly doubtful?: readonly Given[];
  readonly optional?: readonly OptionalColumn[];
  readonly maxUnreadableShare?: number;
  readonly maxRejectedShare?: number;
  readonly source?: string;
  /** With another hash, the file is read again. */
  readonly layoutHash?: string;
};

/** Begins a file and stages its rows; `seal` and `hold` end it. */
async function stage(store: Store, given: readonly (string | Given)[], options: StageOptions = {}) {
  const { db, runId, brandId } = store;
  const reader = randomUUID();
  const begun = await beginFile(db, {
    source: options.source ?? store.source,
    file: { uri: options.uri ?? `file:///${randomUUID()}`, version: 'v1', sizeBytes: 1 },
    layout: 'test',
    layoutHash: options.layoutHash ?? 'h',
    runId,
    reader,
    readFor: 'customers',
    withdraw: withdrawCustomers,
  });
  if (begun.kind !== 'read') throw new Error('the file is known');
  const read = { sourceFileId: begun.sourceFileId, reader };
  const stager = createCustomerStager(db, {
    previousHashOf: null,
    ...read,
    runId,
    job: 'test',
    brandId,
    batchSize: options.batchSize ?? 3,
    recheckAfterDays: options.recheckAfterDays ?? null,
    isWanted: null,
    lookupBudget: 0,
    lookedUpAlready: new Set(),
  });
  const customers = given.map((one) => customer(store, typeof one === 'string' ? { address: one } : one));
  const rejected = Array.from({ length: options.rejected ?? 0 }, () => rejection());
  const rowsRead = customers.length + rejected.length;
  const refused = customers.filter((one) => consentOf(one) === 'no').length;
  const passedOver = { ...NOBODY_PASSED_OVER, refused };
  const seen = { ...NOTHING_SEEN, optional: options.optional ?? [] };
  await stager.add({
    ...NOTHING,
    customers: customers.slice(0, STATEMENT),
    passedOver,
    doubtful: (options.doubtful ?? []).map((one) => customer(store, one)),
    rejected,
    rowsRead,
    seen,
  });
  for (let at = STATEMENT; at < customers.length; at += STATEMENT)
    await stager.add({ ...NOTHING, customers: customers.slice(at, at + STATEMENT) });
  const staged = await stager.finish();
  return {
    staged,
    seal: async (rows = rowsRead) =>
      staged === null
        ? { kind: 'lost' }
        : sealCustomers(db, {
            ...read,
            runId,
            rowsRead: rows,
            contentSha256: options.content ?? randomUUID(),
            staged,
            maxRejectedShare: options.maxRejectedShare ?? 0.2,
            maxUnreadableShare: options.maxUnreadableShare ?? 0.2,
            source: store.source,
            brandId,
          }),
    hold: () => holdFile(db, { ...read, reason: { code: 'x', message: 'x', help: 'x' } }),
  };
}

/** Reads a whole file and seals it. */
async function read(store: Store, given: readonly (string | Given)[], options: StageOptions = {}) {
  const { staged, seal } = await stage(store, given, options);
  return { staged, sealed: await seal() };
}

/** Returns the addresses that a run would send now, one list per call. */
async function calls(
  { db, brandId }: Store,
  batchSize = 3,
  unknownFrom: readonly string[] = [],
): Promise<string[][]> {
  await prepareBatches(db, { brandId, batchSize, unknownFrom });
  const batches = await Array.fromAsync(waitingBatches(db, brandId));
  return batches.map(({ influencerList }) => JSON.parse(influencerList) as string[]);
}

/** Returns customers that are in a different batch than their row names. */
async function wanderers({ db, brandId }: Store): Promise<readonly unknown[]> {
  const { rows } = await sql`
    select c.customer_hash from intake.customers c
    left join (select batch_id, unnest(customer_hashes) as hash from intake.waiting_batches where brand_id = ${brandId}) b
      on b.hash = c.customer_hash
    where c.brand_id = ${brandId} and b.batch_id is distinct from c.batch_id`.execute(db);
  return rows;
}

async function submitAll({ db, brandId, runId }: Store): Promise<void> {
  for await (const batch of waitingBatches(db, brandId)) {
    const taken = { batch, state: 'accepted', httpStatus: 200, message: null } as const;
    await settleBatches(db, [taken], { runId, sourceType: null });
  }
}

/** Returns the consent of each customer of a brand. */
async function consents({ db, brandId }: Store): Promise<readonly string[]> {
  const { rows } = await sql<{ consent: string }>`
    select consent from intake.customers where brand_id = ${brandId}`.execute(db);
  return rows.map(({ consent }) => consent);
}

async function states({ db, brandId }: Store): Promise<Record<string, number>> {
  const { rows } = await sql<{ state: string; customers: string }>`
    select state, count(*) as customers from intake.customer_states where brand_id = ${brandId} group by state`.execute(
    db,
  );
  return Object.fromEntries(rows.map(({ state, customers }) => [state, Number(customers)]));
}

describe.each(ENGINES)('customers on %s', (engine) => {
  const database = useDatabase(engine);

  it('wait in full batches, each customer once, however often files contain them', async () => {
    const store = await openStore(database());
    await read(store, ['a@x.example', 'b@x.example', 'A@x.example', 'c@x.example', 'd@x.example']);
    await read(store, ['d@x.example', 'e@x.example']);
    expect(await calls(store)).toEqual([
      ['a@x.example', 'b@x.example', 'c@x.example'],
      ['d@x.example', 'e@x.example'],
    ]);
    await submitAll(store);
    await read(store, ['a@x.example', 'f@x.example']);
    expect(await calls(store)).toEqual([['f@x.example']]);
    expect(await states(store)).toEqual({ submitted: 5, staged: 1 });
  });

  it('who wait are evaluated again if their file is read with other settings; other and submitted customers stay', async () => {
    const store = await openStore(database());
    const uri = 'file:///customers.csv';
    await read(store, ['sent@x.example'], { uri });
    await calls(store);
    await submitAll(store);
    const second = { uri: 'file:///more.csv' };
    await read(store, ['a@x.example', 'b@x.example'], second);
    await read(store, ['other@x.example']);
    // The batches were joined, so one batch holds customers of two files.
    expect(await calls(store)).toEqual([['a@x.example', 'b@x.example', 'other@x.example']]);
    const again = await read(store, ['b@x.example'], { ...second, layoutHash: 'h2' });
    expect(again.sealed).toMatchObject({ kind: 'sealed' });
    expect((await calls(store)).flat().toSorted()).toEqual(['b@x.example', 'other@x.example']);
    expect(await wanderers(store)).toHaveLength(1); // The submitted customer.
    const held = await stage(store, ['b@x.example'], { ...second, layoutHash: 'h3' });
    await held.hold();
    expect((await calls(store)).flat()).toEqual(['other@x.example']);
    await (await stage(store, ['sent@x.example'], { uri, layoutHash: 'h2' })).hold();
    expect(await states(store)).toEqual({ submitted: 1, staged: 1 });
    await read(store, ['sent@x.example', 'late@x.example'], { uri, layoutHash: 'h3' });
    expect((await calls(store)).flat().toSorted()).toEqual(['late@x.example', 'other@x.example']);
    expect(await states(store)).toEqual({ submitted: 1, staged: 2 });
  });

  it('who are known are recognized after thousands of new ones', async () => {
    const store = await openStore(database());
    const some = Array.from({ length: STATEMENT }, (_, number) => `${number}@x.example`);
    await read(store, ['known@x.example']);
    const { staged, sealed } = await read(
      store,
      [...some, '7@x.example', 'a@x.example', 'known@x.example', ...some.map((address) => `b${address}`)],
      { batchSize: STATEMENT },
    );
    expect(staged).toMatchObject({ new: 2 * STATEMENT + 1, toSubmit: 2 * STATEMENT + 1 });
    expect(sealed).toMatchObject({ kind: 'sealed' });
    const sent = (await calls(store, STATEMENT)).flat();
    expect(sent).toHaveLength(2 * STATEMENT + 2);
    expect(new Set(sent).size).toBe(sent.length);
    expect(await wanderers(store)).toEqual([]);
  });

  it('are split into new batches if the batch size changes', async () => {
    const store = await openStore(database());
    await read(store, ['a@x.example', 'b@x.example', 'c@x.example', 'd@x.example'], { batchSize: 4 });
    expect((await calls(store, 2)).map((list) => list.length)).toEqual([2, 2]);
  });

  it('are joined with others that wait for the same brand and call; a full batch stays as it is', async () => {
    const [store, other] = [await openStore(database()), await openStore(database())];
    await read(other, ['z@x.example']);
    await read(store, ['a@x.example', 'b@x.example', 'c@x.example']);
    const ids = async () =>
      (await Array.fromAsync(waitingBatches(store.db, store.brandId))).map(({ batchId }) => batchId);
    const [full] = await ids();
    await read(store, ['d@x.example']);
    await read(store, ['e@x.example']);
    await sql`
      insert into intake.waiting_batches (job, brand_id, source_file_id, purpose, influencer_list, customer_hashes, key_no)
      select job, brand_id, source_file_id, 'lookup', influencer_list, customer_hashes, key_no
      from intake.waiting_batches where batch_id = ${full}`.execute(store.db);
    expect(await calls(store)).toEqual([
      ['a@x.example', 'b@x.example', 'c@x.example'],
      ['d@x.example', 'e@x.example'],
    ]);
    expect((await ids())[0]).toBe(full);
    expect(await calls(other)).toEqual([['z@x.example']]);
  });

  it('are counted in the right batch, however batches are split or joined', async () => {
    const store = await openStore(database());
    const many = Array.from({ length: 12_000 }, (_, index) => `${index}@x.example`);
    const { staged } = await read(store, [...many, ...many.slice(100, 300)], { batchSize: 700 });
    expect(staged).toMatchObject({ new: 12_000, toSubmit: 12_000 });
    expect(await wanderers(store)).toEqual([]);
    expect((await calls(store, 700)).map((list) => list.length)).toEqual([...Array(17).fill(700), 100]);
    expect((await calls(store, 5_000)).map((list) => list.length)).toEqual([5_000, 5_000, 2_000]);
    expect(await wanderers(store)).toEqual([]);
    const [first] = await Array.fromAsync(waitingBatches(store.db, store.brandId));
    if (first === undefined) throw new Error('none waits');
    const call = { runId: store.runId, sourceType: null };
    await splitBatch(store.db, first, { at: 1, refusal: { httpStatus: 422, message: 'no' }, call });
    expect(await wanderers(store)).toEqual([]);
    expect((await calls(store, 5_000)).flat().toSorted()).toEqual(many.toSorted());
    await submitAll(store);
    expect(await states(store)).toEqual({ submitted: 12_000 });
  });

  it('do not count while their file is being read, and are removed if it is held', async () => {
    const store = await openStore(database());
    const held = await stage(store, ['a@x.example', 'b@x.example']);
    expect(await calls(store)).toEqual([]);
    await held.hold();
    expect(await states(store)).toEqual({});
    const { rows } =
      await sql`select 1 from intake.waiting_batches where brand_id = ${store.brandId}`.execute(store.db);
    expect(rows).toEqual([]);
    await read(store, ['a@x.example']);
    expect(await calls(store)).toEqual([['a@x.example']]);
  });

  it('are taken over from a dead reader, also from another source', async () => {
    const store = await openStore(database());
    const dead = await stage(store, ['a@x.example', 'b@x.example'], { source: `${store.source}-gone` });
    await read(store, ['b@x.example', 'c@x.example']);
    expect(await calls(store)).toEqual([['b@x.example', 'c@x.example']]);
    // If that reader is still alive, its own address of b is sent as well, and that of a is not lost.
    expect(await dead.seal()).toMatchObject({ kind: 'sealed' });
    expect((await calls(store)).flat()).toEqual(expect.arrayContaining(['a@x.example', 'b@x.example']));
  });

  it('are not lost to a reader whose file was taken over', async () => {
    const store = await openStore(database());
    const uri = 'file:///same.csv';
    const first = await stage(store, ['a@x.example'], { uri });
    const second = await stage(store, ['a@x.example'], { uri });
    expect(await first.seal()).toEqual({ kind: 'lost' });
    expect(await second.seal()).toMatchObject({ kind: 'sealed', customerRows: 1 });
    expect(await calls(store)).toEqual([['a@x.example']]);
  });

  it('hold their file if rows do not add up or too many are rejected, but not if the content is known', async () => {
    const store = await openStore(database());
    expect(await (await stage(store, ['a@x.example'])).seal(2)).toMatchObject({
      kind: 'held',
      reason: { code: 'rows_do_not_add_up' },
    });
    const many = Array.from({ length: 20 }, (_, index) => `${index}@x.example`);
    expect((await read(store, many, { rejected: 6 })).sealed).toMatchObject({
      kind: 'held',
      reason: { code: 'too_many_rejected' },
    });
    expect((await read(store, ['a@x.example'], { content: 'same' })).sealed).toMatchObject({
      kind: 'sealed',
    });
    expect((await read(store, ['a@x.example'], { content: 'same' })).sealed).toMatchObject({
      kind: 'duplicate',
    });
    expect(await calls(store)).toEqual([['a@x.example']]);
  });

  it('are held with their file if too many cells of an optional column are unreadable; the reason names column, share, line and limit, but no value', async () => {
    const store = await openStore(database());
    const given = ['a@x.example', 'b@x.example'];
    const spent = {
      ...({ column: 'Total Spent', holds: 'spent', filled: 20 } as const),
      unreadable: 5,
      firstUnreadableLine: 7,
    };
    const fine = { ...spent, column: 'Total Orders', holds: 'orders_count', unreadable: 4 } as const;
    expect(await read(store, given, { optional: [fine, spent] })).toMatchObject({
      sealed: {
        kind: 'held',
        reason: {
          code: 'unreadable_column',
          message:
            '5 of 20 cells in the column "Total Spent" cannot be read as an amount of money, more than the allowed 20 %. The first of them is on line 7.',
          help: expect.stringContaining(`sources.${store.source}.limits.max_unreadable_share`),
        },
      },
    });
    expect(await states(store)).toEqual({});
    const within = { optional: [spent], maxUnreadableShare: 1 };
    expect((await read(store, given, within)).sealed).toMatchObject({ kind: 'sealed' });
  });

  it('are not held for a small share of unreadable cells, nor for a column with nineteen cells', async () => {
    const store = await openStore(database());
    const cells = { column: 'Currency', holds: 'currency', firstUnreadableLine: 2 } as const;
    const few = { ...cells, filled: 20, unreadable: 4 };
    expect((await read(store, ['a@x.example'], { optional: [few] })).sealed).toMatchObject({
      kind: 'sealed',
    });
    const small = { ...cells, filled: 19, unreadable: 19 };
    expect((await read(store, ['b@x.example'], { optional: [small] })).sealed).toMatchObject({
      kind: 'sealed',
    });
  });

  it('who were refused in a run that died before its report are reported by the next run of that job only', async () => {
    const { db, brandId, source, runId, ...store } = await openStore(database());
    await read({ db, brandId, source, runId, ...store }, ['a@x.example']);
    for await (const batch of waitingBatches(db, brandId)) {
      const refused = { batch, state: 'refused', httpStatus: 400, message: 'Not an address.' } as const;
      await settleBatches(db, [refused], { runId, sourceType: null });
    }
    const report = async () => {
      const { rows } = await sql<{ run_id: string }>`
        insert into ops.runs (job, kind, host, pid) values (${source}, 'identify-customers', 'test', 1) returning run_id`.execute(
        db,
      );
      const next = rows[0]?.run_id ?? '';
      const said = await reportCustomers(db, { runId: next, brandId, sources: [source], lookups: null });
      await sql`update ops.runs set counts = ${JSON.stringify(said.counts)}::jsonb where run_id = ${next}`.execute(
        db,
      );
      return { needsAttention: said.needsAttention, ...said.counts.refusals, why: said.details.refusals };
    };
    expect(await report()).toEqual({
      needsAttention: true,
      split: 0,
      customers: 1,
      why: [{ message: 'Not an address.', customers: 1 }],
    });
    expect(await report()).toEqual({ needsAttention: false, split: 0, customers: 0, why: [] });
  });

  it('are removed from their batch if another file marks them as unsubscribed', async () => {
    const store = await openStore(database());
    await read(store, ['a@x.example', 'b@x.example', 'c@x.example', 'd@x.example']);
    const refusals = [
      { address: 'B@x.example', ...NO },
      { address: 'd@x.example', ...NO },
    ];
    expect((await read(store, refusals)).staged).toMatchObject({ withdrawn: 2 });
    expect(await calls(store)).toEqual([['a@x.example', 'c@x.example']]);
    await submitAll(store);
    const again = await read(store, ['b@x.example', { address: 'a@x.example', ...NO }], {
      recheckAfterDays: 0,
    });
    // The one waits no more, and the other was submitted.
    expect(again.staged).toMatchObject({ withdrawn: 0 });
    await read(store, ['a@x.example'], { recheckAfterDays: 0 });
    expect(await calls(store)).toEqual([]);
    expect(await states(store)).toEqual({ submitted: 1, unsubscribed: 3 });
  });

  it('count as unsubscribed if any of their rows says so', async () => {
    const store = await openStore(database());
    await read(store, [{ address: 'a@x.example', ...NO }, 'a@x.example', 'b@x.example']);
    expect(await calls(store)).toEqual([['b@x.example']]);
  });

  it('of whom two rows or two files say different things are submitted only if a yes has a later date than the no', async () => {
    const cases = [
      [NO, LATER_YES, 'yes'],
      [NO, EARLIER_YES, 'no'],
      [NO, {}, 'no'],
      [NO, { consentedAt: NO.refusedAt }, 'no'],
      [NO, UNKNOWN, 'no'],
      [UNKNOWN, {}, 'yes'],
      [UNKNOWN, LATER_YES, 'yes'],
    ] as const;
    for (const [one, other, expected] of cases)
      for (const statements of [
        [one, other],
        [other, one],
      ])
        for (const isOneFile of [true, false]) {
          const store = await openStore(database());
          const given = statements.map((statement) => ({ address: 'a@x.example', ...statement }));
          for (const rows of isOneFile ? [given] : given.map((row) => [row])) await read(store, rows);
          const label = JSON.stringify({ statements, isOneFile });
          expect(await consents(store), label).toEqual([expected]);
          expect((await calls(store)).flat(), label).toHaveLength(expected === 'yes' ? 1 : 0);
        }
  });

  it('of whom many rows speak, in any order and in any files, have the same consent', async () => {
    const at = (day: number) => Date.UTC(2026, 3, day);
    const statement = fc.record({
      saidYes: fc.boolean(),
      consentedAt: fc.option(fc.integer({ min: 1, max: 4 }).map(at)),
      refusedAt: fc.option(fc.integer({ min: 1, max: 4 }).map(at)),
    });
    const rows = fc.array(statement, { minLength: 1, maxLength: 6 });
    const splits = fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer()), {
      minLength: 6,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(rows, splits, async (statements, places) => {
        const expected = consentOf(statements.reduce(mergeConsent));
        const store = await openStore(database());
        const given = statements.map((one) => ({ address: 'a@x.example', ...one }));
        const shuffled = given
          .map((row, index) => ({ row, file: places[index]?.[0] ?? 0, rank: places[index]?.[1] ?? 0 }))
          .sort((one, other) => one.rank - other.rank);
        for (const file of [0, 1, 2]) {
          const own = shuffled.filter((one) => one.file === file).map(({ row }) => row);
          if (own.length > 0) await read(store, own);
        }
        expect(await consents(store)).toEqual([expected]);
        expect((await calls(store)).flat()).toHaveLength(expected === 'yes' ? 1 : 0);
      }),
      { numRuns: propertyRuns(20) },
    );
  });

  it('whose consent is unknown leave their batch unless a setting permits their source', async () => {
    const store = await openStore(database());
    const other = `${store.source}-other`;
    await read(store, [{ address: 'a@x.example', ...UNKNOWN }, 'b@x.example']);
    await read(store, [{ address: 'c@x.example', ...UNKNOWN }], { source: other });
    expect((await calls(store, 3, [other])).flat().toSorted()).toEqual(['b@x.example', 'c@x.example']);
    expect((await calls(store)).flat()).toEqual(['b@x.example']);
    // Who has left their batch no longer waits.
    const refused = await read(store, [{ address: 'c@x.example', ...NO }]);
    expect(refused.staged).toMatchObject({ withdrawn: 0 });
  });

  it('who agreed without a date are known to have agreed on the date that a later file names', async () => {
    const store = await openStore(database());
    for (const said of [{}, LATER_YES, NO]) await read(store, [{ address: 'a@x.example', ...said }]);
    expect(await consents(store)).toEqual(['yes']);
  });

  it('of a rejected row with an unlisted word have refused, but only if their file counts', async () => {
    const store = await openStore(database());
    await read(store, ['a@x.example', 'b@x.example', 'c@x.example']);
    const doubts = [
      { address: 'a@x.example', ...NO },
      { address: 'new@x.example', ...NO },
    ];
    await (await stage(store, [{ address: 'd@x.example' }], { doubtful: doubts })).hold();
    expect((await calls(store)).flat()).toContain('a@x.example');
    const { sealed } = await read(store, ['d@x.example'], {
      doubtful: doubts,
      rejected: 2,
      maxRejectedShare: 1,
    });
    expect(sealed).toMatchObject({ kind: 'sealed' });
    expect((await calls(store)).flat().toSorted()).toEqual(['b@x.example', 'c@x.example', 'd@x.example']);
    await read(store, ['a@x.example', 'new@x.example']);
    expect((await calls(store)).flat().toSorted()).toEqual(['b@x.example', 'c@x.example', 'd@x.example']);
  });

  it('who agreed again in a file that is held, or that is read again with other settings, have refused as before', async () => {
    const store = await openStore(database());
    const uri = 'file:///again.csv';
    const [no, yes] = [
      { address: 'a@x.example', ...NO },
      { address: 'a@x.example', ...LATER_YES },
    ];
    await read(store, [no]);
    await (await stage(store, [yes], { uri })).hold();
    await read(store, ['a@x.example']);
    expect(await calls(store)).toEqual([]);
    await read(store, [yes], { uri, layoutHash: 'h2' });
    expect(await consents(store)).toEqual(['yes']);
    await read(store, ['b@x.example'], { uri, layoutHash: 'h3' });
    expect((await calls(store)).flat()).toEqual(['b@x.example']);
    expect((await consents(store)).toSorted()).toEqual(['no', 'yes']);
  });

  it('who refused while a process of the previous version ran do not agree again by an earlier yes', async () => {
    const store = await openStore(database());
    await read(store, [{ address: 'a@x.example', ...NO }]);
    await read(store, [{ address: 'a@x.example', ...LATER_YES }]);
    // The previous version records no time.
    await sql`update intake.customers set is_unsubscribed = true where brand_id = ${store.brandId}`.execute(
      store.db,
    );
    await read(store, [{ address: 'a@x.example', ...LATER_YES }, 'b@x.example']);
    expect((await consents(store)).toSorted()).toEqual(['no', 'yes']);
    expect((await calls(store)).flat()).toEqual(['b@x.example']);
  });

  it('are submitted again when they are due, once for each file', async () => {
    const store = await openStore(database());
    await read(store, ['a@x.example']);
    await submitAll(store);
    expect(await calls(store)).toEqual([]);
    await read(store, ['a@x.example'], { recheckAfterDays: 1 });
    expect(await calls(store)).toEqual([]);
    await read(store, ['a@x.example', 'A@x.example'], { recheckAfterDays: 0 });
    await read(store, ['a@x.example'], { recheckAfterDays: 0 });
    expect(await calls(store)).toEqual([['a@x.example']]);
    await submitAll(store);
    const { rows } = await sql`
      select submissions, is_waiting from intake.customer_states where brand_id = ${store.brandId}`.execute(
      store.db,
    );
    expect(rows).toEqual([{ submissions: 2, is_waiting: false }]);
  });

  it('of a batch that the service refused were never submitted, also if they are due again', async () => {
    const store = await openStore(database());
    await read(store, ['a@x.example']);
    for await (const batch of waitingBatches(store.db, store.brandId)) {
      const refused = { batch, state: 'refused', httpStatus: 400, message: 'no such list' } as const;
      await settleBatches(store.db, [refused], { runId: store.runId, sourceType: null });
    }
    const stand = async () => {
      const { rows } = await sql`
        select state, state_reason, submissions, submitted_at, is_waiting from intake.customer_states
        where brand_id = ${store.brandId}`.execute(store.db);
      return rows;
    };
    const never = { submissions: 0, submitted_at: null };
    const refused = { state: 'refused', state_reason: 'no such list', is_waiting: false };
    expect(await stand()).toEqual([{ ...refused, ...never }]);
    await read(store, ['a@x.example'], { recheckAfterDays: 0 });
    expect(await stand()).toEqual([{ state: 'staged', state_reason: null, is_waiting: true, ...never }]);
  });

  it('keep the order data of the latest file that has any, and an amount the currency that was stated with it', async () => {
    const store = await openStore(database());
    const kept = async (said: Partial<StatedCustomer>) => {
      await read(store, [{ address: 'a@x.example', ...said }]);
      const { rows } = await sql<{ said: string }>`
        select concat_ws(' ', orders_count, trim_scale(spent), coalesce(currency, 'unknown'), bought_with_code) as said
        from intake.customers where brand_id = ${store.brandId}`.execute(store.db);
      return rows[0]?.said;
    };
    expect(await kept({ ordersCount: 1, spent: '5.00', currency: 'EUR', boughtWithCode: false })).toBe(
      '1 5 EUR f',
    );
    expect(await kept({ ordersCount: 2, boughtWithCode: true })).toBe('2 5 EUR t');
    expect(await kept({ spent: '5.00', boughtWithCode: false })).toBe('2 5 unknown t');
    expect(await kept({ spent: '7.50', currency: 'USD' })).toBe('2 7.5 USD t');
    expect(await kept({ spent: '7.50', currency: 'JPY' })).toBe('2 7.5 JPY t');
    expect(await kept({})).toBe('2 7.5 JPY t');
  });
});

/** Returns true if a session is waiting for a lock. */
async function somebodyWaits(db: Database): Promise<boolean> {
  return (await countBlocked(db)) === 1;
}

test('a customer whom two readers add at the same moment is added once', async () => {
  const { db } = await setup();
  const store = await openStore(db);
  let second: ReturnType<typeof stage> | undefined;
  await db.transaction().execute(async (trx) => {
    await stage({ ...store, db: trx }, ['a@x.example']);
    second = stage(store, ['a@x.example', 'b@x.example']);
    await waitFor(() => somebodyWaits(db));
  });
  expect((await second)?.staged).toMatchObject({ new: 1, toSubmit: 2 });
});

test('a customer whose file is abandoned while another reader adds them counts as new for that reader', async () => {
  const { db } = await setup();
  const store = await openStore(db);
  const first = await stage(store, ['a@x.example', 'b@x.example'], { source: `${store.source}-other` });
  let second: ReturnType<typeof stage> | undefined;
  await db.transaction().execute(async (trx) => {
    // The table is read only for customers that are already known: the second reader has found b, and waits
    // before it records that.
    await sql`lock table intake.identify_batches in access exclusive mode`.execute(trx);
    second = stage(store, ['b@x.example', 'c@x.example']);
    await waitFor(() => somebodyWaits(db));
    expect(await first.hold()).toBe(true);
  });
  const { staged, seal } = (await second) ?? {};
  expect(staged).toMatchObject({ new: 2, toSubmit: 2 });
  expect(await seal?.()).toMatchObject({ kind: 'sealed' });
  expect(await calls(store)).toEqual([['b@x.example', 'c@x.example']]);
  expect(await wanderers(store)).toEqual([]);
});
