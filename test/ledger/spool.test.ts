import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Outcome } from '../../src/core/ledger.ts';
import { bindAccount } from '../../src/ledger/open-account.ts';
import { reapLost } from '../../src/ledger/reap.ts';
import type { Answer } from '../../src/ledger/record.ts';
import { countUnreadable, openSpool, replaySpool } from '../../src/ledger/spool.ts';
import { setup } from '../support/setup.ts';
import { endLeases, insertEntry, mustClaim, readFacts, setupEntry, startWorker } from './entries.ts';

function accepted(entryId: string): Answer {
  const outcome = { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null } as const;
  return { entryId, attempt: 1, outcome, backoffMs: 0 };
}

it('the spool keeps an answer that the database could not store, and the next process records it before it reaps lost claims', async () => {
  const { db, folder, worker, entryId } = await setupEntry();
  await mustClaim(worker, entryId);
  openSpool(join(folder, 'spool'), worker.owner).append(accepted(entryId));
  await endLeases(db, worker);

  const next = await startWorker(db);
  expect(await replaySpool(db, join(folder, 'spool'), next.owner)).toMatchObject({ answers: 1 });
  expect(await reapLost(db)).toBe(0);
  expect((await readFacts(db, entryId)).state).toBe('accepted');
  expect(readdirSync(join(folder, 'spool'))).toEqual([]);
});

it('the spool of a living process is left to that process', async () => {
  const { db, folder } = await setup();
  const [worker, other] = [await startWorker(db), await startWorker(db)];
  const entryId = await insertEntry(db, { runId: worker.runId, orderId: '1' });
  await mustClaim(worker, entryId);
  openSpool(join(folder, 'spool'), worker.owner).append(accepted(entryId));
  expect(await replaySpool(db, join(folder, 'spool'), other.owner)).toMatchObject({ answers: 0 });
  expect(await replaySpool(db, join(folder, 'spool'), worker.owner)).toMatchObject({ answers: 1 });
});

it('the spool skips a line that a crash truncated, because it was not acknowledged', async () => {
  const { db, folder, worker, entryId } = await setupEntry();
  await mustClaim(worker, entryId);
  openSpool(join(folder, 'spool'), worker.owner).append(accepted(entryId));
  appendFileSync(join(folder, 'spool', `${worker.owner}.ndjson`), '{"entryId":"99","att');
  expect(await replaySpool(db, join(folder, 'spool'), worker.owner)).toMatchObject({ answers: 1 });
});

it('an answer of which the disk takes only a part is not acknowledged, and stays a doubt; the next one is kept', async () => {
  const { db, folder } = await setup();
  const worker = await startWorker(db);
  const [long, short] = await Promise.all(
    ['1', '2'].map((orderId) => insertEntry(db, { runId: worker.runId, orderId })),
  );
  for (const entryId of [long, short]) await mustClaim(worker, entryId ?? '');
  const outcome = {
    kind: 'rejected',
    httpStatus: 404,
    message: 'x'.repeat(1_000),
    stopsGate: false,
  } as const;
  const answers = [{ ...accepted(long ?? ''), outcome }, accepted(short ?? '')];
  const url = new URL('../../src/ledger/spool.ts', import.meta.url).href;
  const script = `
    const { openSpool } = await import(${JSON.stringify(url)});
    const spool = openSpool(${JSON.stringify(join(folder, 'spool'))}, '${worker.owner}');
    for (const answer of ${JSON.stringify(answers)})
      try { spool.append(answer); console.log('kept'); } catch ({ code }) { console.log(code); }`;
  // No file may be longer than 512 bytes (dash) or 1024 (bash), as on a file system that is nearly full.
  const { stdout } = spawnSync(
    'sh',
    ['-c', 'trap "" XFSZ; ulimit -f 1; exec "$0" --input-type=module -e "$1"', process.execPath, script],
    { encoding: 'utf8' },
  );
  expect(stdout).toBe('EFBIG\nkept\n');
  await endLeases(db, worker);
  expect(await replaySpool(db, join(folder, 'spool'), randomUUID())).toEqual({
    answers: 1,
    lost: 0,
    unreadable: 0,
  });
  expect(await reapLost(db)).toBe(1);
  expect((await readFacts(db, long ?? '')).state).toBe('in_doubt');
  expect((await readFacts(db, short ?? '')).state).toBe('accepted');
});

it('a spooled answer changes nothing if it was already recorded', async () => {
  const { db, folder, worker, entryId } = await setupEntry();
  await mustClaim(worker, entryId);
  const spool = openSpool(join(folder, 'spool'), worker.owner);
  spool.append(accepted(entryId));
  spool.append(accepted(entryId));
  await replaySpool(db, join(folder, 'spool'), worker.owner);
  expect((await readFacts(db, entryId)).state).toBe('accepted');
  const applied = await db.selectFrom('ledger.answers').select('applied').orderBy('answer_id').execute();
  expect(applied).toEqual([{ applied: true }, { applied: false }]);
});

it('an answer that the database cannot store is stored without what it cannot store, or set aside; the others are recorded', async () => {
  const { db, folder } = await setup();
  const worker = await startWorker(db);
  const entries = ['1', '2', '3'].map((orderId) => insertEntry(db, { runId: worker.runId, orderId }));
  const [odd = '', broken = '', sound = ''] = await Promise.all(entries);
  for (const entryId of [odd, broken, sound]) await mustClaim(worker, entryId);
  const spool = openSpool(join(folder, 'spool'), worker.owner);
  const reason = 'HTTP 500: \0 \ud800';
  spool.append({ ...accepted(odd), outcome: { kind: 'in_doubt', httpStatus: 500, reason } });
  spool.append({ ...accepted(broken), outcome: { kind: 'in_doubt', httpStatus: 1e12, reason } });
  spool.append(accepted(sound));
  expect(await replaySpool(db, join(folder, 'spool'), worker.owner)).toEqual({
    answers: 2,
    lost: 0,
    unreadable: 1,
  });
  expect((await readFacts(db, odd)).state).toBe('in_doubt');
  expect((await readFacts(db, broken)).state).toBe('sending');
  expect((await readFacts(db, sound)).state).toBe('accepted');
  expect(readdirSync(join(folder, 'spool'))).toEqual(['unreadable']);
});

it('the lines that were set aside are counted over all files, and one of a process is added to those before it', async () => {
  const { db, folder } = await setup();
  const [one, other] = [await startWorker(db), await startWorker(db)];
  const spool = join(folder, 'spool');
  expect(countUnreadable(spool)).toBe(0);
  for (const [{ owner }, lines] of [
    [one, 2],
    [one, 1],
    [other, 3],
  ] as const) {
    mkdirSync(spool, { recursive: true });
    writeFileSync(join(spool, `${owner}.ndjson`), 'odd\n'.repeat(lines));
    expect(await replaySpool(db, spool, owner)).toEqual({ answers: 0, lost: 0, unreadable: lines });
  }
  expect(countUnreadable(spool)).toBe(6);
});

it('an answer whose claim the database lost is kept until it is known what else is lost, and then stored as a lost claim', async () => {
  const { db, folder, worker, entryId } = await setupEntry();
  const kept = await insertEntry(db, { runId: worker.runId, orderId: '2' });
  const { claim } = await mustClaim(worker, entryId);
  await mustClaim(worker, kept);
  await bindAccount(db, claim.accountId);
  const lost = { ...claim, claimId: randomUUID(), claimNo: '99' };
  const spool = openSpool(join(folder, 'spool'), worker.owner);
  spool.append({ ...accepted(entryId), claim: lost });
  spool.append(accepted(kept));
  const replay = (isContinuous: boolean) =>
    replaySpool(db, join(folder, 'spool'), worker.owner, { isContinuous });
  expect(await replay(false)).toEqual({ answers: 1, lost: 0, unreadable: 0 });
  expect((await readFacts(db, kept)).state).toBe('accepted');
  expect(await db.selectFrom('ledger.lost_claims').select('claim_id').execute()).toEqual([]);
  expect(await replay(true)).toEqual({ answers: 2, lost: 1, unreadable: 0 });
  expect(readdirSync(join(folder, 'spool'))).toEqual([]);
  expect(
    await db.selectFrom('ledger.lost_claims').select(['claim_id', 'disposition', 'claimed_at']).execute(),
  ).toEqual([{ claim_id: lost.claimId, disposition: 'accepted', claimed_at: null }]);
});

it('a file with an answer of another account is left to the ledger of that account', async () => {
  const { db, folder, worker, entryId } = await setupEntry();
  const { claim } = await mustClaim(worker, entryId);
  await bindAccount(db, claim.accountId);
  const spool = openSpool(join(folder, 'spool'), worker.owner);
  spool.append({ ...accepted(entryId), claim });
  spool.append({ ...accepted(entryId), claim: { ...claim, accountId: 'A2' } });
  expect(await replaySpool(db, join(folder, 'spool'), worker.owner)).toMatchObject({ answers: 0 });
  expect((await readFacts(db, entryId)).state).toBe('sending');
  expect(readdirSync(join(folder, 'spool'))).toEqual([`${worker.owner}.ndjson`]);
});

it('an answer that does not name its claim counts only for the attempt of the process that wrote it', async () => {
  const { db, folder } = await setup();
  const [worker, other] = [await startWorker(db), await startWorker(db)];
  const [mine, ofOther] = [
    await insertEntry(db, { runId: worker.runId, orderId: '1' }),
    await insertEntry(db, { runId: worker.runId, orderId: '2' }),
  ];
  await mustClaim(worker, mine);
  await mustClaim(other, ofOther);
  const spool = openSpool(join(folder, 'spool'), worker.owner);
  for (const answer of [accepted(ofOther), { ...accepted(mine), attempt: 2 }, accepted(mine)])
    spool.append(answer);
  expect(await replaySpool(db, join(folder, 'spool'), worker.owner)).toEqual({
    answers: 1,
    lost: 0,
    unreadable: 2,
  });
  expect((await readFacts(db, mine)).state).toBe('accepted');
  expect((await readFacts(db, ofOther)).state).toBe('sending');
});

it('a line that is no answer of an attempt is set aside, whichever part of it is wrong', async () => {
  const { db, folder, worker, entryId } = await setupEntry();
  const { claim } = await mustClaim(worker, entryId);
  await bindAccount(db, claim.accountId);
  const answer = { ...accepted(entryId), claim };
  const path = join(folder, 'spool', `${worker.owner}.ndjson`);
  const odd = [
    { ...answer, entryId: 'one' },
    { ...answer, attempt: 1.5 },
    { ...answer, outcome: { kind: 'perhaps' } },
    { ...accepted(entryId), outcome: { kind: 'perhaps' } },
    // Of an earlier version, whose answers do not name their claim.
    accepted('one'),
    { ...accepted(entryId), attempt: 1.5 },
    { ...answer, claim: { ...claim, claimId: 7 } },
    { ...answer, claim: { ...claim, claimId: undefined } },
  ];
  mkdirSync(join(folder, 'spool'));
  writeFileSync(path, [...odd, answer].map((line) => `${JSON.stringify(line)}\n`).join(''));
  expect(await replaySpool(db, join(folder, 'spool'), worker.owner)).toEqual({
    answers: 1,
    lost: 0,
    unreadable: odd.length,
  });
  expect(countUnreadable(join(folder, 'spool'))).toBe(odd.length);
  expect((await readFacts(db, entryId)).state).toBe('accepted');
});

it('several processes can replay the same files at once', async () => {
  const { db, folder } = await setup();
  const spool = join(folder, 'spool');
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    const worker = await startWorker(db);
    const entryId = await insertEntry(db, { runId: worker.runId, orderId: String(count) });
    await mustClaim(worker, entryId);
    openSpool(spool, worker.owner).append(accepted(entryId));
    await endLeases(db, worker);
    ids.push(entryId);
  }
  await Promise.all([1, 2, 3].map(() => replaySpool(db, spool, randomUUID())));
  for (const entryId of ids) expect((await readFacts(db, entryId)).state).toBe('accepted');
  expect(readdirSync(spool)).toEqual([]);
});

it('a file that another process has recorded and removed since the listing is passed over', async () => {
  const { db, folder } = await setup();
  const [worker, other] = [await startWorker(db), randomUUID()];
  const entryId = await insertEntry(db, { runId: worker.runId, orderId: '1' });
  await mustClaim(worker, entryId);
  const spool = join(folder, 'spool');
  openSpool(spool, worker.owner).append(accepted(entryId));
  symlinkSync(join(folder, 'removed'), join(spool, `${other}.ndjson`));
  expect(await replaySpool(db, spool, worker.owner)).toEqual({ answers: 1, lost: 0, unreadable: 0 });
});

it('an answer of each kind can wait in the spool, which only its user reads, and which is not kept open', async () => {
  const { db, folder } = await setup();
  const worker = await startWorker(db);
  const outcomes: readonly Outcome[] = [
    { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null },
    { kind: 'rejected', httpStatus: 404, message: 'no such deal', stopsGate: false },
    { kind: 'not_written', reason: 'connection refused' },
    { kind: 'throttled', httpStatus: 429, retryAfterMs: 1_000 },
    { kind: 'in_doubt', httpStatus: null, reason: 'reset' },
  ];
  const spool = join(folder, 'a', 'spool');
  const ids: string[] = [];
  for (const outcome of outcomes) {
    const entryId = await insertEntry(db, { runId: worker.runId, orderId: outcome.kind });
    await mustClaim(worker, entryId);
    openSpool(spool, worker.owner).append({ entryId, attempt: 1, outcome, backoffMs: 0 });
    ids.push(entryId);
  }
  appendFileSync(join(spool, `${worker.owner}.ndjson`), 'odd\n');
  const modeOf = (...names: string[]) => statSync(join(spool, ...names)).mode & 0o777;
  expect([modeOf(), modeOf(`${worker.owner}.ndjson`)]).toEqual([0o700, 0o600]);
  const open = readdirSync('/proc/self/fd').map((file) => {
    try {
      return readlinkSync(`/proc/self/fd/${file}`);
    } catch {
      return '';
    }
  });
  expect(open.filter((path) => path.startsWith(spool))).toEqual([]);
  expect(await replaySpool(db, spool, worker.owner)).toEqual({ answers: 5, lost: 0, unreadable: 1 });
  expect([modeOf('unreadable'), modeOf('unreadable', `${worker.owner}.ndjson`)]).toEqual([0o700, 0o600]);
  expect((await Promise.all(ids.map((id) => readFacts(db, id)))).map(({ state }) => state)).toEqual([
    ...['accepted', 'rejected', 'ready', 'ready', 'in_doubt'],
  ]);
});

it('a missing spool replays nothing', async () => {
  const { db, folder } = await setup();
  expect(await replaySpool(db, join(folder, 'none'), 'nobody')).toMatchObject({ answers: 0 });
});

it('a spool that cannot be read, or whose answers cannot be recorded, is kept as it is, and the error is thrown', async () => {
  const { db, folder, worker, entryId } = await setupEntry();
  await mustClaim(worker, entryId);
  const spool = join(folder, 'spool');
  openSpool(spool, worker.owner).append(accepted(entryId));
  await sql`alter table ledger.answers add constraint none check (false) not valid`.execute(db);
  await expect(replaySpool(db, spool, worker.owner)).rejects.toThrow('none');
  expect(readdirSync(spool)).toEqual([`${worker.owner}.ndjson`]);
  await sql`alter table ledger.answers drop constraint none`.execute(db);
  mkdirSync(join(spool, '0.ndjson'));
  await expect(replaySpool(db, spool, worker.owner)).rejects.toThrow('EISDIR');
  await expect(replaySpool(db, join(spool, `${worker.owner}.ndjson`), worker.owner)).rejects.toThrow(
    'ENOTDIR',
  );
  rmdirSync(join(spool, '0.ndjson'));
  expect(await replaySpool(db, spool, worker.owner)).toMatchObject({ answers: 1 });
});
