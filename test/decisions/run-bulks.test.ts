import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { runBulks } from '../../src/decisions/run-bulks.ts';
import { confirmSettlement, previewSettlement } from '../../src/decisions/settle-many.ts';
import { acquireLease, releaseLeases } from '../../src/ops/lease.ts';
import { type AuditRecord, recordAudit } from '../../src/ops/record-audit.ts';
import { findBulk, findBulkProcess } from '../../src/reports/bulk/read-bulk.ts';
import { addDoubts, countDecisions } from '../console/bulk-shop.ts';
import { seedRuns } from '../reports/seed.ts';
import { countStates } from '../runs/workshop.ts';
import { setup, setupEmbedded } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';

const options = {
  leaseMs: 60_000,
  stopping: new AbortController().signal,
  onError: (error: unknown) => {
    throw error;
  },
};

/** Previews and confirms writing off every doubt. */
async function confirmAll(db: Database): Promise<string> {
  return inTransaction(db, async (trx) => {
    const audit = (record: Omit<AuditRecord, 'actor' | 'via'>) =>
      recordAudit(trx, { ...record, actor: 'ann', via: 'console' });
    const decided = { decidedBy: 'ann', reason: 'looked up', audit };
    const none = { dealId: null, collabId: null };
    const previewed = await previewSettlement(trx, {
      ...decided,
      ...none,
      via: 'console',
      decision: 'write_off',
      entries: {},
      chosen: 'All entries in doubt',
    });
    const bulkId = previewed ?? '';
    await confirmSettlement(trx, { ...decided, bulkId });
    return bulkId;
  });
}

it('the embedded database executes a bulk action like a server does', async () => {
  const db = await setupEmbedded();
  await seedRuns(db);
  await addDoubts(db, 20);
  const bulkId = await confirmAll(db);
  await runBulks(db, options);
  expect(await findBulk(db, bulkId)).toMatchObject({ state: 'finished', entries: 21 });
  expect(await countStates(db)).toMatchObject({ in_doubt: 1, written_off: 22 });
});

it('a bulk action is skipped while another process holds its lease', async () => {
  const { db } = await setup();
  await seedRuns(db);
  const bulkId = await confirmAll(db);
  const other = { owner: randomUUID(), host: 'elsewhere', pid: 1, name: `bulk:${bulkId}` };
  await acquireLease(db, { ...other, ttlMs: 60_000 });
  await runBulks(db, options);
  expect(await findBulkProcess(db, bulkId)).toEqual({ host: 'elsewhere', pid: 1 });
  expect(await countDecisions(db)).toMatchObject({ decisions: 0 });
  await releaseLeases(db, other.owner);
  await runBulks(db, options);
  expect(await findBulk(db, bulkId)).toMatchObject({ state: 'finished' });
  expect(await findBulkProcess(db, bulkId)).toBe(null);
});

it('two processes on one bulk action, after one lost the lease unnoticed, settle each entry once', async () => {
  const { db } = await setup();
  await seedRuns(db);
  await addDoubts(db, 200);
  const bulkId = await confirmAll(db);
  const first = runBulks(db, options);
  await waitFor(
    async () =>
      (await db.selectFrom('ops.bulk_items').select('subject_id').where('outcome', '=', 'settled').execute())
        .length > 5,
  );
  await sql`delete from ops.leases where name = ${`bulk:${bulkId}`}`.execute(db);
  await Promise.all([first, runBulks(db, options)]);
  await runBulks(db, options);
  expect(await findBulk(db, bulkId)).toMatchObject({ state: 'finished' });
  expect(await countDecisions(db)).toEqual({
    decisions: 201,
    entries: 201,
    audited: 201,
    entriesAudited: 201,
  });
});
