/**
 * Posts the ready entries with the production parts. As a separate process, it dies without warning at a
 * named point while it handles its n-th entry. The points are in the wiring, so the parts themselves do not
 * know them.
 */
import diagnostics from 'node:diagnostics_channel';
import { connect } from '../../src/db/connect.ts';
import { createClaimerAndRecorder } from '../../src/ledger/claim-and-record.ts';
import { checkContinuity } from '../../src/ledger/continuity/check-continuity.ts';
import { ensureLedgerId } from '../../src/ledger/continuity/identity.ts';
import { openJournal } from '../../src/ledger/continuity/journal.ts';
import { settleJournals } from '../../src/ledger/continuity/settle-journals.ts';
import { bindAccount } from '../../src/ledger/open-account.ts';
import { readyEntries } from '../../src/ledger/ready-entries.ts';
import { reapLost } from '../../src/ledger/reap.ts';
import { postEntries } from '../../src/ledger/sending/post-entries.ts';
import { createRequestGate } from '../../src/ledger/sending/request-gate.ts';
import { createSender } from '../../src/ledger/sending/send.ts';
import { openSpool, replaySpool } from '../../src/ledger/spool.ts';
import { acquireLease, releaseLeases, startHeartbeat } from '../../src/ops/lease.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import { hello } from '../../src/service/account.ts';
import { createClient } from '../../src/service/client.ts';

/**
 * The point at which the process dies. Points in the middle of a commit are held by the test, on the
 * connection to the database.
 */
export type CrashPoint =
  | 'before_claim'
  | 'after_claim'
  | 'noted'
  | 'mid_write'
  | 'answer_read'
  | 'spooled'
  | 'recorded';

export type PostingOrders = {
  readonly databaseUrl: string;
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly spoolFolder: string;
  readonly journalFolder: string;
  readonly owner: string;
  readonly leaseMs: number;
  readonly concurrency: number;
  /** Null: the process does not die. */
  readonly dieAt: CrashPoint | null;
  /** The entry at which it dies, 1 for the first. */
  readonly dieOnEntry: number;
};

const JOB = 'attribute-orders';

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal is delivered before any other code runs here.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
}

/**
 * Posts to the end, unless the process dies. If no process has to die or be killed, this runs in the process
 * of the test, because starting another one takes a second.
 */
export async function post(orders: PostingOrders): Promise<void> {
  const { owner, leaseMs, concurrency, dieAt } = orders;
  const counts = new Map<CrashPoint, number>();
  function pass(point: CrashPoint): void {
    const count = (counts.get(point) ?? 0) + 1;
    counts.set(point, count);
    if (point === dieAt && count === orders.dieOnEntry) die();
  }

  const db = await connect({ url: orders.databaseUrl, embeddedFolder: '' });
  const client = createClient({
    url: orders.apiUrl,
    key: orders.apiKey,
    connections: concurrency,
    timeoutMs: 3_000,
    connectTimeoutMs: 5_000,
  });
  const { accountId } = await hello(client);
  await bindAccount(db, accountId);
  await acquireLease(db, { name: `job:${owner}`, owner, host: 'test', pid: process.pid, ttlMs: leaseMs });
  const heartbeat = startHeartbeat(db, { owner, ttlMs: leaseMs, leases: 1, takenAt: performance.now() });
  const folder = orders.journalFolder;
  const ledgerId = await ensureLedgerId(db);
  const continuity = await checkContinuity(db, {
    folders: [folder],
    accountId,
    machineId: null,
    isShared: false,
  });
  if (continuity.kind === 'went_back') throw new Error('the ledger went back');
  await replaySpool(db, orders.spoolFolder, owner);
  await settleJournals(db, { folder, ledgerId, now: new Date() });
  await reapLost(db);
  const runId = await beginRun(db, { job: JOB, kind: JOB });

  // The headers have just been handed to the socket, but not the body.
  if (dieAt === 'mid_write')
    diagnostics.subscribe('undici:client:sendHeaders', (message) => {
      if ((message as { request: { path: string } }).request.path.includes('referral')) pass('mid_write');
    });
  const journal = openJournal({ folder, ledgerId, accountId, owner, mark: null });
  const heads = continuity.kind === 'continuous' ? continuity.heads : [];
  const { claim, record } = createClaimerAndRecorder(db, {
    owner,
    runId,
    accountId,
    backfillId: null,
    ledgerId,
    heads,
    place: null,
    journal,
  });
  const spool = openSpool(orders.spoolFolder, owner);
  await postEntries(readyEntries(db, { job: JOB, backfillId: null, limit: null }), {
    claim: async (entryId) => {
      pass('before_claim');
      const entry = await claim(entryId);
      if (entry !== null) pass('after_claim');
      return entry;
    },
    send: createSender(client),
    record: async (answer) => {
      pass('answer_read');
      // Simulates a database that is unreachable when the answer arrives.
      if (dieAt === 'spooled') throw new Error('the database is away');
      const state = await record(answer);
      pass('recorded');
      return state;
    },
    spool: {
      append(answer) {
        spool.append(answer);
        pass('spooled');
      },
    },
    journal: {
      ...journal,
      async writing(entry) {
        await journal.writing(entry);
        pass('noted');
      },
    },
    gate: createRequestGate({
      concurrency,
      probe: async () => true,
      isLeaseHeld: heartbeat.isHeld,
      onWait: () => {},
    }),
    onOutcome: () => {},
  });
  await journal.close();
  heartbeat.stop();
  await replaySpool(db, orders.spoolFolder, owner);
  await releaseLeases(db, owner);
  await client.close();
  await db.destroy();
}

if (import.meta.main) await post(JSON.parse(process.argv[2] ?? '') as PostingOrders);
