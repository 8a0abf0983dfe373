import { randomUUID } from 'node:crypto';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { decideCreators } from '../../jobs/import-deals/decide-creators.ts';
import { createCreatorIntake } from '../../jobs/import-deals/flow.ts';
import { loadConfig } from '../../jobs/index.ts';
import { decideClicks, proposeClicks } from '../../jobs/post-clicks/decide-clicks.ts';
import { createClickIntake } from '../../jobs/post-clicks/flow.ts';
import type { Database } from '../../src/db/connect.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { intakeSource } from '../../src/intake/read/intake-source.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import { openSourceClients } from '../../src/store/source-clients.ts';
import { useDatabase } from '../intake/story.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { makeTestFolder } from '../support/setup.ts';

/*
 * Exports of clicks, or lists of creators, arrive in any order and in any number of runs. What is decided in the end is
 * what the newest export states, or a hold: of two that nothing tells apart, one is held, and nothing is decided about
 * what they state differently.
 */

const THINGS = 3;
const EXPORTS = 5;
const KINDS = ['clicks', 'creators'] as const;
type Kind = (typeof KINDS)[number];

/** How the names of exports and the times of their store say which one is newer. */
const SCHEMES = {
  dated: (age: number) => `list-2026-0${age + 1}-28.csv`,
  numbered: (age: number) => `list-${age + 7}.csv`,
  modified: (age: number) => `${'qwert'[age]}.csv`,
} as const;

type Export = {
  readonly name: string;
  /** What it states about each thing. */
  readonly said: ReadonlyMap<number, number>;
  /** Its place among the others by age. Two with one place are not told apart. */
  readonly age: number;
};
type Case = {
  readonly exports: readonly Export[];
  readonly scheme: keyof typeof SCHEMES;
  /** Exports as they arrive, by run. */
  readonly runs: readonly (readonly Export[])[];
};

const cases: fc.Arbitrary<Case> = fc
  .record({
    scheme: fc.constantFrom(...(Object.keys(SCHEMES) as (keyof typeof SCHEMES)[])),
    parts: fc.array(fc.subarray([0, 1, 2], { minLength: 1 }), { minLength: EXPORTS, maxLength: EXPORTS }),
    states: fc.array(fc.array(fc.integer({ min: 1, max: 3 }), { minLength: THINGS, maxLength: THINGS }), {
      minLength: EXPORTS,
      maxLength: EXPORTS,
    }),
    tied: fc.option(fc.integer({ min: 1, max: EXPORTS - 1 })),
    order: fc.shuffledSubarray([...Array(EXPORTS).keys()], { minLength: EXPORTS }),
    cuts: fc.array(fc.boolean(), { minLength: EXPORTS, maxLength: EXPORTS }),
  })
  .map(({ scheme, parts, states, tied, order, cuts }) => {
    const exports = states.map(
      (state, at): Export => ({
        name: SCHEMES[scheme](at),
        said: new Map((parts[at] ?? []).map((thing) => [thing, state[thing] ?? 1])),
        age: scheme === 'modified' && at === tied ? at - 1 : at,
      }),
    );
    const runs: Export[][] = [[]];
    for (const [place, at] of order.entries()) {
      runs.at(-1)?.push(exports[at] as Export);
      if (cuts[place] === true && place < EXPORTS - 1) runs.push([]);
    }
    return { exports, scheme, runs };
  });

/** What must be decided about each thing, if these exports are held. */
function expected({ exports }: Case, isHeld: (one: Export) => boolean): readonly string[] {
  const decided: string[] = [];
  for (let thing = 0; thing < THINGS; thing += 1) {
    const read = exports.filter((one) => one.said.has(thing) && !isHeld(one));
    const newest = Math.max(...read.map(({ age }) => age));
    const [state] = read.filter(({ age }) => age === newest).map(({ said }) => said.get(thing));
    if (state === undefined) continue;
    const isContradicted = exports.some(
      (one) => isHeld(one) && one.age === newest && one.said.has(thing) && one.said.get(thing) !== state,
    );
    decided.push(`${thing}: ${isContradicted ? 'held' : state}`);
  }
  return decided;
}

/** True if the export and another one of its age contradict each other, and no newer one states the same thing. */
function mayBeHeld({ exports }: Case, one: Export): boolean {
  return exports.some(
    (other) =>
      other !== one &&
      other.age === one.age &&
      [...one.said].some(
        ([thing, state]) =>
          other.said.has(thing) &&
          other.said.get(thing) !== state &&
          !exports.some(({ said, age }) => age > one.age && said.has(thing)),
      ),
  );
}

const FILES = {
  clicks: (said: Export['said']) => [
    'day,code,clicks',
    ...[...said].map(([thing, state]) => `2026-04-10,CODE${thing},${state}`),
  ],
  creators: (said: Export['said']) => [
    'handle,platform,stage',
    ...[...said].map(([thing, state]) => `creator${thing},tiktok,${state}`),
  ],
} as const;

const database = useDatabase('a Postgres server');

/** Delivers the exports and runs the job as often as the case says. */
async function perform(db: Database, kind: Kind, { runs }: Case) {
  const folder = makeTestFolder();
  const name = `list-${randomUUID()}`;
  mkdirSync(join(folder, 'exports'));
  writeFileSync(join(folder, 'codes.csv'), CODES);
  writeFileSync(
    join(folder, 'pipeline.yaml'),
    `sources:\n  ${name}: {uri: ./exports/, layout: generic-${kind}${kind === 'clicks' ? ', time_zone: UTC' : ''}}\n` +
      `jobs:\n  ${name}: {kind: ${kind === 'clicks' ? 'post-clicks, codes: ./codes.csv' : 'import-deals'}, source: ${name}, brand_id: 4819}\n`,
  );
  const config = loadConfig(join(folder, 'pipeline.yaml'), {});
  const job = config.jobs[name];
  const source = config.sources[name];
  if (job === undefined || source === undefined) throw new Error('no such job');
  const intake = kind === 'clicks' ? createClickIntake() : createCreatorIntake();
  for (const delivered of runs) {
    for (const { name: file, said, age } of delivered) {
      const path = join(folder, 'exports', file);
      writeFileSync(path, `${FILES[kind](said).join('\n')}\n`);
      const modifiedAt = new Date(Date.UTC(2026, 5, 1 + (file.length === 5 ? age : 0)));
      utimesSync(path, modifiedAt, modifiedAt);
    }
    const run = {
      runId: await beginRun(db, { job: name, kind: job.kind }),
      owner: randomUUID(),
      config,
      job,
      db,
      nouns: { done: 'posted', effect: 'clicks' } as never,
      options: { limit: null, file: null, allowEmpty: false },
      progress: { begin() {}, advance() {}, note() {}, end() {} },
      draining: new AbortController().signal,
      isLeaseHeld: () => true,
      sourceClients: openSourceClients(),
      client: null,
    };
    await intakeSource(run, source, intake);
    await inTransaction(db, async (trx) => {
      const rules = { job: name, brandId: '4819', runId: run.runId, accountId: 'A1' };
      if (kind === 'creators') {
        const terms = { sources: [name], dealflowId: 'D1', createAffiliateDetails: false, isPlan: true };
        await decideCreators(trx, { ...rules, ...terms });
        return;
      }
      await sql`update intake.clicks set deal_id = 'D' || subject where source = ${name}`.execute(trx);
      const clicks = { ...rules, sources: [{ source: name, timeZone: null }], startDate: null };
      await decideClicks(trx, clicks);
      await proposeClicks(trx, clicks);
    });
  }
  const { rows } = await (kind === 'clicks'
    ? sql<{ said: string }>`
        select right(subject, 1) || ': ' || case when outcome = 'attributed' then clicks::text else outcome end as said
        from intake.clicks where source = ${name} order by 1`
    : sql<{ said: string }>`
        select right(handle_folded, 1) || ': ' || case when outcome = 'create' then stage::text else outcome end as said
        from intake.creators where source = ${name} order by 1`
  ).execute(db);
  const { rows: proposed } = await sql<{ said: string }>`
    select right(details ->> 'target', 1) || ': ' || (details ->> 'clicks') as said from ledger.entries
    where job = ${name} and state = 'ready' order by 1`.execute(db);
  const { rows: held } = await sql<{ name: string }>`
    select regexp_replace(uri, '.*/', '') as name from intake.source_files
    where source = ${name} and state not in ('sealed', 'duplicate') order by 1`.execute(db);
  return {
    decided: rows.map(({ said }) => said),
    proposed: proposed.map(({ said }) => said),
    held: held.map((file) => file.name),
  };
}

const CODES = 'code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to\n';

it.each(KINDS)(
  '%s that arrive in any order, in any number of runs, are those of the newest export, or held',
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(cases, async (given) => {
        const { decided, proposed, held } = await perform(database(), kind, given);
        const doubtful = given.exports.filter((one) => mayBeHeld(given, one));
        // Of two that contradict each other, the one that arrived later is held.
        expect(held.length).toBe(doubtful.length / 2);
        expect(doubtful.map(({ name }) => name)).toEqual(expect.arrayContaining(held));
        const must = expected(given, ({ name }) => held.includes(name));
        expect(decided).toEqual(must);
        if (kind === 'clicks') expect(proposed).toEqual(must.filter((one) => !one.endsWith('held')));
      }),
      { numRuns: propertyRuns(16) },
    );
  },
);
