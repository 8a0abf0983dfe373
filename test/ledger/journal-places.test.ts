import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { PipelineConfig } from '../../src/config/schema.ts';
import type { ClaimedEntry, Outcome } from '../../src/core/ledger.ts';
import { formatInstant } from '../../src/core/text/format-instant.ts';
import type { Database } from '../../src/db/connect.ts';
import {
  compare,
  findContinuityProblem,
  requireWholeLedger,
} from '../../src/ledger/continuity/compare-ledger.ts';
import { ensureLedgerId } from '../../src/ledger/continuity/identity.ts';
import { openJournal } from '../../src/ledger/continuity/journal.ts';
import {
  beginRecord,
  describeBlindness,
  describeJournals,
  ownJournalFolders,
} from '../../src/ledger/continuity/journal-places.ts';
import { makeTestFolder, setup } from '../support/setup.ts';
import { ACCOUNT, insertEntry, mustClaim, startWorker } from './entries.ts';

function configOf(
  folder: string,
  { apiUrl = 'https://api.example.com', stateFolder = join(folder, 'state') } = {},
): PipelineConfig {
  return {
    api: { url: apiUrl },
    database: { url: '', dataFolder: join(folder, '.data') },
    ledger: { mark: null, stateFolder },
  } as PipelineConfig;
}

/** An embedded ledger that has posted an order. Its tables are in the suite's server, which costs less. */
async function openPosted() {
  const { db, folder } = await setup();
  const config = configOf(folder);
  const ledgerId = await ensureLedgerId(db);
  const places = ownJournalFolders(config, ledgerId);
  expect(beginRecord(config, places.copyFolder ?? '')).toBe(join(folder, 'state', 'ledgers', ledgerId));
  const journal = openJournal({ ...places, ledgerId, accountId: ACCOUNT, owner: randomUUID(), mark: null });
  const worker = await startWorker(db, { journal });
  const entry = await mustClaim(worker, await insertEntry(db, { runId: worker.runId, orderId: '1' }));
  await journal.writing(entry);
  await journal.close();
  const kindOf = async (given = config) =>
    (await compare(db, { config: given, accountId: ACCOUNT })).continuity;
  return { db, folder, config, ledgerId, places, kindOf };
}

/** What keeps a run from posting, as its error says it. */
async function problemOf(db: Database | null, config: PipelineConfig) {
  const { problem } = await compare(db, { config });
  await expect(
    requireWholeLedger(db, config).then(
      () => null,
      (error: unknown) => error,
    ),
  ).resolves.toEqual(problem);
  if (problem === null) return null;
  return { ...problem.details, message: problem.message };
}

const SAFE = { safe: 'Nothing was read or sent.', exitCode: 7 };
const RECOVER = "npx influencer-sync ledger recover --reason '…'";

it('a run that must not post says what is missing, where, and what to do', async () => {
  const { db, folder, config, ledgerId } = await openPosted();
  const id = ledgerId.slice(0, 8);
  const where = `${folder}/.data/journal and ${folder}/state`;
  const onServer = { ...config, database: { ...config.database, url: 'postgres://there/db' } };
  expect(await problemOf(db, config)).toBeNull();
  expect(await findContinuityProblem(db, config)).toBeNull();

  const recovered = (above: number, up_to: number, isGivenUp = false) =>
    sql`
    insert into ledger.recoveries (kind, decided_by, reason, accepts_undescribed, ranges)
    values ('recover', 'ada', 'restored', ${isGivenUp}, ${JSON.stringify([{ ledger_id: randomUUID(), above, up_to }])}::jsonb)`.execute(
      db,
    );
  const incomplete = (claims: string) => ({
    ...SAFE,
    code: 'ledger_incomplete',
    message: `The ledger was recovered, but ${claims} still missing that no journal on this machine describes.`,
    help: `Run this on every other machine that posts for this account, with its own data folder:\n  ${RECOVER}\nIf their journals are lost, give up these claims. Their orders may then be posted again:\n  ${RECOVER} --accept-undescribed`,
  });
  await recovered(4, 5);
  expect(await problemOf(db, config)).toEqual(incomplete('1 claim is'));
  await recovered(5, 6);
  expect(await problemOf(db, config)).toEqual(incomplete('2 claims are'));
  expect(await findContinuityProblem(db, config)).toMatchObject({ details: { code: 'ledger_incomplete' } });
  // Whoever gives up what no journal describes gives up what the same recovery has found missing, too.
  await recovered(6, 7, true);
  expect(await problemOf(db, config)).toBeNull();

  await sql`update ledger.identity set place = 'where it was before'`.execute(db);
  const moved = (said: string, whose: string, others: readonly string[] = []) => ({
    ...SAFE,
    code: 'ledger_moved',
    where,
    message: `The database is not where it was: it was restored, failed over, copied or upgraded. ${said}.`,
    help: [
      `If this is the newest copy of the database, compare it with the journals of this machine${whose}:`,
      `  ${RECOVER}`,
      ...(others.length === 0 ? [] : ['and there:', ...others.map((other) => `  ${other}`)]),
      'If a data folder is lost, give up its claims. Their orders may then be posted again:',
      `  ${RECOVER} --accept-undescribed`,
      'With one ledger.mark_uri for all machines, each run compares automatically.',
    ].join('\n'),
  });
  const here = 'The journals of this machine lack nothing';
  expect(await problemOf(db, config)).toEqual(
    moved(
      `${here}, and another machine may have posted orders that the database lacks`,
      ', and of every other machine that has posted to it',
    ),
  );
  const now = Date.now();
  const hosts: string[] = [];
  for (const [host, daysAgo, said] of [
    ['east', 1, 'another machine has'],
    ['west', 2, '2 other machines have'],
  ] as const) {
    const postedAt = new Date(now - daysAgo * 86_400_000);
    await sql`insert into ledger.machines (machine_id, host, posted_at) values (${randomUUID()}::uuid, ${host}, ${postedAt})`.execute(
      db,
    );
    hosts.push(`${host}, which last posted ${formatInstant(postedAt)} UTC`);
    expect(await problemOf(db, config)).toEqual(moved(`${here}, and ${said} posted to it`, '', hosts));
  }
  const elsewhere = {
    ...config,
    ledger: { mark: null, stateFolder: null },
    database: { url: '', dataFolder: '/none' },
  } as PipelineConfig;
  expect(await problemOf(db, elsewhere)).toEqual({
    ...moved('This machine has no journal of it, and 2 other machines have posted to it', '', hosts),
    where: '/none/journal',
  });

  const lose = (table: string) =>
    db.transaction().execute(async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      await sql.raw(`delete from ${table}`).execute(trx);
    });
  await lose('ledger.attempts');
  const { continuity } = await compare(db, { config });
  const { from = null } = continuity.kind === 'went_back' ? continuity.missing : {};
  const at = `${formatInstant(from ?? 0)} UTC`;
  const lacks = `The database lacks 1 order (10.00 EUR), posted between ${at} and ${at}; the service accepted 0 of them.`;
  const journal = continuity.kind === 'went_back' ? continuity.mark.file : '';
  const wentBack = {
    ...SAFE,
    code: 'ledger_went_back',
    where: `ledger ${id}, journal ${journal} in ${where}`,
    message: `The ledger lost claims. The database has no claim at all, but this machine made claims up to 1. ${lacks}`,
    help: `The database was restored from a backup, failed over to a standby that lacked the newest commits, or replaced by an older copy of its data folder. If a newer copy exists, use that copy. Otherwise hold these orders as accepted or in doubt:\n  ${RECOVER}`,
  };
  expect(await problemOf(db, config)).toEqual(wentBack);
  await sql`
    insert into ledger.attempts (entry_id, attempt, claim_id, owner, run_id, body_hash, claim_no, claimed_at)
    select entry_id, 9, gen_random_uuid(), gen_random_uuid(), run_id, '', 0, '2026-11-01T10:00:00Z' from ledger.entries`.execute(
    db,
  );
  expect(await problemOf(db, config)).toEqual({
    ...wentBack,
    message: `The ledger lost claims. The database ends with claim 0 of 2026-11-01 10:00:00 UTC, but this machine made claims up to 1. ${lacks}`,
  });

  await sql`update ledger.identity set ledger_id = gen_random_uuid()`.execute(db);
  const other = (await ensureLedgerId(db)).slice(0, 8);
  const swapped = (place: string, holds: string, first: string) => ({
    ...SAFE,
    code: 'ledger_swapped',
    where,
    message: `This is another ledger: ${place} holds ${holds}, but ledger ${id} has posted from here. ${lacks}`,
    help: `${first}\nIf that database is lost, hold the orders that it posted as accepted or in doubt:\n  ${RECOVER}\nTo start a new ledger that may post these orders again:\n  npx influencer-sync run <job> --new-ledger --reason '…'`,
  });
  const isUrlMissing = 'Is DATABASE_URL missing? Set it to the database that was used before.';
  expect(await problemOf(db, config)).toEqual(
    swapped('the embedded database', `ledger ${other} with 1 claim`, isUrlMissing),
  );
  await lose('ledger.attempts');
  expect(await problemOf(db, onServer)).toEqual(
    swapped('this database', `ledger ${other}`, 'Set DATABASE_URL to the database that was used before.'),
  );
  expect(await problemOf(null, config)).toEqual(
    swapped('the embedded database', 'a new ledger', isUrlMissing),
  );
});

it('an older copy of an embedded ledger that was moved to a server is refused, with the server; the server is not, nor a folder that is closed', async () => {
  const { db, folder, config, ledgerId, places } = await openPosted();
  const copyFolder = places.copyFolder ?? '';
  const moved = 'to db:5432/sync at 2026-10-31T10:00:00.000Z';
  writeFileSync(join(copyFolder, 'moved'), `${moved}\n`);
  expect(await problemOf(db, config)).toEqual({
    ...SAFE,
    code: 'ledger_on_server',
    where: `ledger ${ledgerId.slice(0, 8)}, ${copyFolder}/moved`,
    message: `This embedded database is an older copy: its ledger was moved to a server (${moved}).`,
    help: 'Set DATABASE_URL to that server. Remove this file only if you are sure that the server does not have the ledger.',
  });
  expect(
    await problemOf(db, { ...config, database: { ...config.database, url: 'postgres://db/sync' } }),
  ).toBeNull();
  expect(
    await problemOf(db, { ...config, ledger: { mark: null, stateFolder: null } } as PipelineConfig),
  ).toBeNull();
  writeFileSync(join(folder, '.data', 'moved'), '');
  expect(await problemOf(db, config)).toBeNull();
});

it('messages name the folder of the journals or the mark, and the folder outside of the data folder if there is one', () => {
  const folder = makeTestFolder();
  const config = configOf(folder, { stateFolder: '' });
  const local = join(folder, '.data', 'journal');
  const mark = { uri: 's3://mark/' };
  const of = (ledger: object) => describeJournals({ ...config, ledger } as PipelineConfig);
  expect(of({ mark: null, stateFolder: '' })).toBe(local);
  expect(of({ mark: null, stateFolder: null })).toBe(local);
  expect(of({ mark, stateFolder: null })).toBe('s3://mark/');
  expect(of({ mark: null, stateFolder: '/state' })).toBe(`${local} and /state`);
});

it('an embedded ledger keeps the same journal in the data folder and outside of it, closed under the same name', async () => {
  const { places, kindOf } = await openPosted();
  const { folder, copyFolder } = places;
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.ndjson'));
  expect(readFileSync(join(copyFolder ?? '', name), 'utf8')).toBe(readFileSync(join(folder, name), 'utf8'));
  expect(await kindOf()).toMatchObject({ kind: 'continuous' });
});

it('an older copy of the data folder lacks claims that the journal outside of it has, wherever the folder is now', async () => {
  const { db, folder, places, kindOf } = await openPosted();
  rmSync(places.folder, { recursive: true });
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`delete from ledger.attempts`.execute(trx);
  });
  const moved = configOf(folder);
  for (const config of [moved, { ...moved, database: { ...moved.database, dataFolder: '/elsewhere' } }])
    expect(await kindOf(config)).toMatchObject({
      kind: 'went_back',
      isOther: false,
      missing: { entries: 1 },
    });
});

it('a new ledger in the data folder of another one is refused, unless the service is a sandbox, which is started over so', async () => {
  const { db, folder, places, ledgerId, kindOf } = await openPosted();
  rmSync(places.folder, { recursive: true });
  mkdirSync(join(folder, 'state', 'ledgers', randomUUID()));
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`delete from ledger.attempts`.execute(trx);
    await sql`delete from ledger.identity`.execute(trx);
  });
  for (const create of [async () => {}, () => ensureLedgerId(db)]) {
    await create();
    expect(await kindOf()).toMatchObject({ kind: 'went_back', isOther: true, markedLedgerId: ledgerId });
    expect(await kindOf(configOf(folder, { apiUrl: 'http://127.0.0.1:4010' }))).toMatchObject({
      kind: 'unmarked',
    });
  }
  const elsewhere = configOf(folder);
  expect(
    await kindOf({ ...elsewhere, database: { ...elsewhere.database, dataFolder: '/elsewhere' } }),
  ).toMatchObject({ kind: 'unmarked' });
  // What was posted to a sandbox alone is no reason to refuse the first ledger of the real service.
  beginRecord(configOf(folder, { apiUrl: 'http://127.0.0.1:4010' }), places.copyFolder ?? '');
  expect(await kindOf()).toMatchObject({ kind: 'unmarked' });
});

it('what no run can see is stated: without a home, in the data folder, where nothing can be written, or if nothing is recorded yet', () => {
  const folder = makeTestFolder();
  writeFileSync(join(folder, 'file'), '');
  const ledgerId = randomUUID();
  const describe = (stateFolder: string | null, hasClaims = true) => {
    const config = configOf(folder);
    return describeBlindness({ ...config, ledger: { mark: null, stateFolder } }, { ledgerId, hasClaims });
  };
  expect(describe('')).toContain('(this user has no home folder)');
  expect(describe(join(folder, '.data', 'state'))).toContain('(it is in the data folder)');
  expect(describe(join(folder, 'file'))).toContain('(it cannot be written, ENOTDIR)');
  expect(describe(join(folder, 'state'))).toContain(`there is no record of the ledger in ${folder}/state`);
  expect(describe(join(folder, 'state'), false)).toBeNull();
  expect(describe(null)).toBeNull();
  const unusable = configOf(folder, { stateFolder: join(folder, 'file') });
  expect(ownJournalFolders(unusable, ledgerId).copyFolder).toBeNull();
  expect(beginRecord(unusable, join(folder, 'file', 'x'))).toBeNull();
});

it('with a mark the newest journals of all machines are compared, and all of them once the database lacks claims or has moved', async () => {
  const { db, folder, config, ledgerId, places } = await openPosted();
  const uri = join(folder, 'mark');
  mkdirSync(uri);
  const withMark = { ...config, ledger: { mark: { uri }, stateFolder: null } } as PipelineConfig;
  const read = async (given: PipelineConfig) => {
    const { problem, continuity, isShared, folders } = await compare(db, { config: given });
    return {
      code: problem?.details.code ?? null,
      kind: continuity.kind,
      isShared,
      files: folders.slice(1).flatMap((place) => readdirSync(place)),
    };
  };
  // Another machine has posted, too: the journals of both are in the mark.
  const journalFolder = join(folder, 'elsewhere');
  const owner = randomUUID();
  const journal = openJournal({ folder: journalFolder, ledgerId, accountId: ACCOUNT, owner, mark: null });
  const worker = await startWorker(db, { journal });
  await mustClaim(worker, await insertEntry(db, { runId: worker.runId, orderId: '2' }));
  await journal.close();
  const [older = ''] = readdirSync(places.folder).filter((file) => file.endsWith('.ndjson'));
  const [newer = ''] = readdirSync(journalFolder);
  for (const [place, name] of [
    [places.folder, older],
    [journalFolder, newer],
  ] as const)
    renameSync(join(place, name), join(uri, name));
  const none = { ...withMark, ledger: { mark: null, stateFolder: null } } as PipelineConfig;
  expect(await read(none)).toEqual({ code: null, kind: 'unmarked', isShared: false, files: [] });
  expect(await read(withMark)).toEqual({ code: null, kind: 'continuous', isShared: false, files: [newer] });
  await sql`update ledger.identity set place = 'where it was before'`.execute(db);
  expect(await read(none)).toMatchObject({ code: 'ledger_moved', isShared: false });
  expect(await read(withMark)).toEqual({
    code: null,
    kind: 'continuous',
    isShared: true,
    files: [older, newer].toSorted(),
  });
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`delete from ledger.attempts where claim_no = 1`.execute(trx);
  });
  expect(await read(withMark)).toMatchObject({ code: 'ledger_went_back', isShared: true });
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const unreadable = { ...config, ledger: { mark: { uri: file }, stateFolder: null } } as PipelineConfig;
  expect(await findContinuityProblem(db, unreadable)).toMatchObject({
    details: { code: 'mark_unavailable' },
  });
  await sql`drop view if exists ledger.double_credits; alter table ledger.identity rename to gone`.execute(
    db,
  );
  await expect(findContinuityProblem(db, none), 'any other error').rejects.toThrow('ledger.identity');
});

it('claims without an amount, and those that were never sent, are said to be missing without one', async () => {
  const { db, config, ledgerId, places } = await openPosted();
  const lacks = async () =>
    ((await problemOf(db, config))?.message ?? '').split('The database lacks ')[1] ?? '';
  const note = async (claimNo: string, amount: string | null, outcome?: Outcome) => {
    const journal = openJournal({ ...places, ledgerId, accountId: ACCOUNT, owner: randomUUID(), mark: null });
    const claim = {
      ledgerId,
      claimNo,
      claimId: randomUUID(),
      accountId: ACCOUNT,
      effect: 'click' as const,
      keyHash: claimNo.repeat(64),
      bodyHash: 'b'.repeat(64),
      amount,
      currency: null,
    };
    await journal.claimed([{ claim, entryId: '99', attempt: 1 }]);
    if (outcome !== undefined) journal.answered({ claim } as ClaimedEntry, outcome);
    await journal.close();
  };
  await note('8', '1.00', { kind: 'not_written', reason: 'connection refused' });
  expect(await lacks()).toBe('claims, none of which was sent.');
  await note('9', null, { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null });
  expect(await lacks()).toMatch(
    /^1 order, posted between .* UTC and .* UTC; the service accepted 1 of them\.$/,
  );
});
