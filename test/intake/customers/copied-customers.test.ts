import { hash, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { StatedCustomer } from '../../../src/core/customer.ts';
import type { Database } from '../../../src/db/connect.ts';
import { BinaryRows, copyInto } from '../../../src/db/copy-rows.ts';
import { inPhase } from '../../../src/db/phase.ts';
import type { BatchedCustomer } from '../../../src/intake/customers/batched-customer.ts';
import { addCustomers } from '../../../src/intake/customers/stage-customers.ts';
import { beginFile } from '../../../src/intake/files/begin-file.ts';
import { ENGINES, openShop, useDatabase } from '../story.ts';

const [SERVER] = ENGINES;

const ODD: readonly Partial<StatedCustomer>[] = [
  {},
  { saidYes: false, refusedAt: Date.UTC(2026, 3, 10, 11, 11, 26, 123) },
  { consentedAt: Date.UTC(2026, 3, 10), refusedAt: Date.UTC(1999, 11, 31) },
  { saidYes: false },
  { ordersCount: 0, spent: '0.00', currency: 'EUR', boughtWithCode: false },
  { ordersCount: 99_999_999, spent: '99999999999999.9999', currency: 'USD', boughtWithCode: true },
  { spent: '-12.5', currency: 'EUR' },
  { spent: '10000', consentedAt: 0, refusedAt: 0 },
  { spent: '0.0001', boughtWithCode: true },
];

describe('customers who are likely new', () => {
  const database = useDatabase(SERVER);

  test('are copied, and stored as customers who are inserted', async () => {
    const [copied, inserted] = [await openReading(database()), await openReading(database())];
    const statements: string[] = [];
    const answer = await inPhase({ name: 'test', onStatement: ({ text }) => statements.push(text) }, () =>
      addCustomers(database(), { ...copied, placed: place(copied, ODD), areLikelyNew: true }),
    );
    expect(answer).toEqual([]);
    expect(statements.some((text) => text.trim().startsWith('copy intake.customers'))).toBe(true);
    await addCustomers(database(), { ...inserted, placed: place(inserted, ODD), areLikelyNew: false });
    const rows = await rowsOf(database(), inserted);
    expect(rows).toHaveLength(ODD.length);
    expect(await rowsOf(database(), copied)).toEqual(rows);
  });

  test('are looked up if one of them is known, so that only the others are added', async () => {
    const reading = await openReading(database());
    const [first, ...others] = place(reading, ODD);
    const known = first === undefined ? [] : [first];
    await addCustomers(database(), { ...reading, placed: known, areLikelyNew: false });
    const again = { ...reading, placed: [...known, ...others], areLikelyNew: true };
    expect(await addCustomers(database(), again)).toEqual(known);
    expect(await rowsOf(database(), reading)).toHaveLength(ODD.length);
  });

  test('are not added by a reader that has lost the file', async () => {
    const lost = await openReading(database());
    await openReading(database(), lost);
    const answer = await addCustomers(database(), { ...lost, placed: place(lost, ODD), areLikelyNew: true });
    expect(answer).toBeNull();
    expect(await rowsOf(database(), lost)).toEqual([]);
  });
});

describe('values that are copied in binary', () => {
  const database = useDatabase(SERVER);

  test('arrive as they are', async () => {
    const digits = (min: number, max: number) => fc.stringMatching(new RegExp(`^[0-9]{${min},${max}}$`));
    const decimal = fc
      .tuple(fc.constantFrom('', '-'), digits(1, 14), fc.option(digits(1, 4)))
      .map(([sign, whole, fraction]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}`);
    const row = fc.record({
      id: fc.uuid(),
      spent: fc.option(decimal),
      count: fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
      small: fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 }),
      big: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)),
      flag: fc.option(fc.boolean()),
      text: fc.option(fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '').toWellFormed())),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 40 }), async (given) => {
        const rows = new BinaryRows({ columns: 7, roomBytes: 16 });
        for (const { id, spent, count, small, big, flag, text } of given) {
          rows.begin();
          rows.uuid(Buffer.from(id.replaceAll('-', ''), 'hex'), 0);
          rows.numeric(spent);
          rows.integer(count);
          rows.values(BinaryRows.valuesOf((values) => values.smallint(small)));
          rows.bigint(big);
          rows.boolean(flag);
          rows.text(text);
        }
        const read = await database()
          .transaction()
          .execute(async (trx) => {
            await sql`
              create temporary table given (id uuid, spent numeric, count integer, small smallint, big bigint, flag boolean, text text,
                place integer generated always as identity) on commit drop`.execute(trx);
            const columns = 'id, spent, count, small, big, flag, text';
            await copyInto(trx, `copy given (${columns}) from stdin (format binary)`, rows.toCopyRows());
            const sent = sql.join(given.map(({ spent }) => sql`${spent}::numeric::text`));
            return sql<Record<string, unknown>>`
              select id, spent::text, count, small, big, flag, text, (array[${sent}])[place] as sent from given order by place`.execute(
              trx,
            );
          });
        expect(
          read.rows.map(({ sent, ...values }) => ({ ...values, isSent: values.spent === sent })),
        ).toEqual(
          given.map((values, index) => ({ ...values, spent: read.rows[index]?.spent, isSent: true })),
        );
      }),
      { numRuns: 60 },
    );
  });
});

/** Begins to read a file. @param after the same file is taken over from this reading. */
async function openReading(db: Database, after?: { readonly source: string; readonly runId: string }) {
  const { source, runId } = after ?? (await openShop(db));
  const reader = randomUUID();
  const file = { uri: 'file:///customers.csv', version: 'v1', sizeBytes: 1 };
  const settings = { layout: 'test', layoutHash: 'h', readFor: 'customers' } as const;
  const begun = await beginFile(db, { source, file, ...settings, runId, reader });
  if (begun.kind !== 'read') throw new Error('the file is known');
  return { source, runId, brandId: source, sourceFileId: begun.sourceFileId, reader, recheckAfterDays: null };
}

function place({ brandId }: { readonly brandId: string }, given: typeof ODD): readonly BatchedCustomer[] {
  return given.map((values, index) => ({
    batchId: String(1 + (index % 2)),
    customer: {
      address: `${index}@shop.test`,
      hash: hash('md5', `${brandId} ${index}`),
      saidYes: true,
      consentedAt: null,
      refusedAt: null,
      ordersCount: null,
      spent: null,
      currency: null,
      boughtWithCode: null,
      ...values,
    },
  }));
}

/** The customers of a brand, without what differs between two brands. */
async function rowsOf(db: Database, { brandId, sourceFileId }: { brandId: string; sourceFileId: string }) {
  const { rows } = await sql<{ row: unknown }>`
    select to_jsonb(c) - array['customer_hash', 'brand_id', 'source', 'staged_file_id', 'first_seen_at']
      || jsonb_build_object('is_of_file', staged_file_id = ${sourceFileId}::bigint, 'is_of_source', source = ${brandId}) as row
    from intake.customers c where brand_id = ${brandId} order by 1`.execute(db);
  return rows;
}
