import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { ensureLedgerId } from '../../src/ledger/continuity/identity.ts';
import {
  countMachines,
  keepLedgerLocation,
  markCompared,
  readLedgerLocation,
  readMachineId,
  registerMachine,
} from '../../src/ledger/continuity/machines.ts';
import { setup } from '../support/setup.ts';

it('a machine has an id from its first post on, and posts with the same one from then on', async () => {
  const { db, folder } = await setup();
  const journals = join(folder, 'journal');
  expect(readMachineId(journals)).toBeNull();
  await registerMachine(db, journals);
  const id = readMachineId(journals);
  expect(readFileSync(join(journals, 'machine'), 'utf8')).toBe(`${id}\n`);
  await sql`update ledger.machines set posted_at = '2026-01-01', whole_at = null`.execute(db);
  await registerMachine(db, journals);
  const { rows } = await sql`
    select machine_id, posted_at > now() - interval '1 hour' as posted, whole_at = ledger.place() as whole
    from ledger.machines`.execute(db);
  expect(rows).toEqual([{ machine_id: id, posted: true, whole: true }]);
  writeFileSync(join(journals, 'machine'), 'no id\n');
  expect(readMachineId(journals)).toBeNull();
  // A full disk left it without an id: the machine is another one from now on.
  await registerMachine(db, journals);
  const next = readMachineId(journals);
  expect(next).toMatch(/^[0-9a-f-]{36}$/);
  expect(next).not.toBe(id);
  expect(await countMachines(db)).toBe(2);
  rmSync(join(journals, 'machine'));
  mkdirSync(join(journals, 'machine'));
  expect(() => readMachineId(journals), 'it cannot be read').toThrow('EISDIR');
});

it('a database that moved must be compared on the other machines that posted in the last 90 days and have not compared it', async () => {
  const { db } = await setup();
  await ensureLedgerId(db);
  const mine = randomUUID();
  const add = (machineId: string, host: string, daysAgo: number, isWhole = false) =>
    sql`
      insert into ledger.machines (machine_id, host, posted_at, whole_at)
      values (${machineId}::uuid, ${host}, now() - ${daysAgo} * interval '1 day', case when ${isWhole} then ledger.place() end)`.execute(
      db,
    );
  await add(mine, 'mine', 1);
  await add(randomUUID(), 'older', 89);
  await add(randomUUID(), 'newer', 2);
  await add(randomUUID(), 'whole', 1, true);
  await add(randomUUID(), 'forgotten', 91);
  const hosts = async (machineId: string | null) =>
    (await readLedgerLocation(db, machineId)).others.map(({ host }) => host);
  expect(await hosts(mine)).toEqual(['newer', 'older']);
  expect(await hosts(null)).toEqual(['mine', 'newer', 'older']);
  expect(await countMachines(db)).toBe(4);
  await markCompared(db, mine);
  expect(await hosts(null)).toEqual(['newer', 'older']);

  expect((await readLedgerLocation(db, mine)).isSame, 'where it was is not known').toBe(true);
  await sql`update ledger.identity set place = 'elsewhere'`.execute(db);
  expect((await readLedgerLocation(db, mine)).isSame).toBe(false);
  await keepLedgerLocation(db);
  const { now, isSame } = await readLedgerLocation(db, mine);
  const { rows } = await sql<{ place: string }>`select ledger.place() as place`.execute(db);
  expect({ now, isSame }).toEqual({ now: rows[0]?.place, isSame: true });
  await sql`create or replace function ledger.place() returns text language sql as 'select null::text'`.execute(
    db,
  );
  expect(await readLedgerLocation(db, mine), 'a server that does not report it').toMatchObject({
    now: null,
    isSame: true,
  });
});
