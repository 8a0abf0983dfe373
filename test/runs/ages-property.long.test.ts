import { randomUUID } from 'node:crypto';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { decideOrders } from '../../jobs/attribute-orders/decide/decide-orders.ts';
import { prepareEntries } from '../../jobs/attribute-orders/decide/prepare-entries.ts';
import { attributeOrders } from '../../jobs/attribute-orders/index.ts';
import { isAttributeOrders } from '../../jobs/attribute-orders/settings.ts';
import { createOrderIntake } from '../../jobs/attribute-orders/take-orders.ts';
import { loadConfig } from '../../jobs/index.ts';
import { loadCodes } from '../../src/codes/load-codes.ts';
import type { Database } from '../../src/db/connect.ts';
import { intakeSource } from '../../src/intake/read/intake-source.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import { openSourceClients } from '../../src/store/source-clients.ts';
import { useDatabase } from '../intake/story.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { makeTestFolder } from '../support/setup.ts';

/*
 * A shop of a few orders exports them once a month. Each order changes its state from month to month, and often back, so
 * that the same bytes occur again. Whatever the files are called, in whatever order and in however many runs they
 * arrive, what is credited in the end is the state in the newest export of each order.
 */

const LAYOUT = `
title: Own orders
lacks: [consent]
columns:
  order_id: [order_id]
  status: [status]
  currency: [currency]
  total: [total]
  refunded: [refunded]
  codes: [code]
  placed_at: [placed_at]
  changed_at: [updated_at]
required: [order_id, total]
money: { decimal: ".", thousands: null, symbols: false }
times: [iso]
codes: { split: "," }
status: { credited: [paid] }
exclusions:
  - { reason: cancelled, columns: [status], equals: [cancelled] }
`;
const CODES =
  'code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to\nMIA10,,mia.test,DEALMIA,,,\n';
const HEADER = 'order_id,status,currency,total,refunded,code,placed_at,updated_at';

/** What an order can be in a month, and what is credited for it then. */
const STATES = [
  { row: 'paid,EUR,100,0,MIA10', net: 100 },
  { row: 'paid,EUR,100,40,MIA10', net: 60 },
  { row: 'paid,EUR,80,,MIA10', net: 80 },
  { row: 'cancelled,EUR,100,,MIA10', net: 0 },
] as const;

const ORDERS = 4;
const MONTHS = 7;

/** How the names and the times of files say which one is newer. `shift`: the time of the store is that of an upload in any order. */
const SCHEMES = {
  dated: (month: number) => `orders-2026-${pad(month + 1)}-28.csv`,
  folders: (month: number) => `dt=2026-${pad(month + 1)}-28/orders.csv`,
  // The source ignores the times of the store, which contradict the numbers.
  numbered: (month: number) => `orders-${month + 5}.csv`,
  // The times of the store agree with the numbers.
  copies: (month: number) => (month === 0 ? 'orders.csv' : `orders (${month + 7}).csv`),
  modified: (month: number) => `${'qwertyuiop'[(month * 7) % 10]}.csv`,
  overwritten: () => 'latest.csv',
  // Names and times mislead: the rows say when their orders last changed.
  column: (month: number) => `orders-${9 - month}.csv`,
} as const;
type Scheme = keyof typeof SCHEMES;

const AGES: Partial<Record<Scheme, string>> = { numbered: ', age: name', column: ', age: column' };

type Export = {
  readonly month: number;
  readonly name: string;
  /** The state of each order in it. */
  readonly said: ReadonlyMap<number, number>;
  readonly modifiedAt: Date;
  /** What the rows of it say about their age. */
  readonly changedAt: Date;
  /** The export of an earlier month, whose rows stand in it too, before or after its own. */
  readonly old: { readonly month: number; readonly isFirst: boolean } | null;
};

type Case = {
  readonly scheme: Scheme;
  readonly exports: readonly Export[];
  /** Exports in the order in which they arrive, by run. */
  readonly runs: readonly (readonly number[])[];
};

const cases: fc.Arbitrary<Case> = fc
  .record({
    scheme: fc.constantFrom(...(Object.keys(SCHEMES) as Scheme[])),
    states: fc.array(fc.array(fc.nat(STATES.length - 1), { minLength: ORDERS, maxLength: ORDERS }), {
      minLength: MONTHS,
      maxLength: MONTHS,
    }),
    parts: fc.array(fc.subarray([0, 1, 2, 3], { minLength: 1 }), { minLength: MONTHS, maxLength: MONTHS }),
    uploads: fc.shuffledSubarray([...Array(MONTHS).keys()], { minLength: MONTHS }),
    /** Two months have one time, so that nothing says which is newer. */
    isTied: fc.boolean(),
    isFew: fc.boolean(),
    isAtOnce: fc.nat(5).map((one) => one === 0),
    order: fc.shuffledSubarray([...Array(MONTHS).keys()], { minLength: MONTHS }),
    cuts: fc.array(fc.boolean(), { minLength: MONTHS, maxLength: MONTHS }),
    olds: fc.array(fc.option(fc.record({ month: fc.nat(MONTHS - 1), isFirst: fc.boolean() })), {
      minLength: MONTHS,
      maxLength: MONTHS,
    }),
  })
  .map(({ scheme, states, parts, uploads, isTied, isFew, isAtOnce, order, cuts, olds }) => {
    const isByTime = scheme === 'modified' || scheme === 'overwritten' || scheme === 'copies';
    const exports = states.map((state, month): Export => {
      const time = isByTime
        ? scheme === 'modified' && isTied && month === 3
          ? 2
          : month
        : (uploads[month] ?? 0);
      // Whatever is overwritten before it was read is lost, so those exports are whole. Exports of few orders and states
      // often have the bytes of an earlier one.
      const orders = isFew || scheme === 'overwritten' ? [0] : (parts[month] ?? []);
      return {
        month,
        name: SCHEMES[scheme](month),
        said: new Map(orders.map((order) => [order, (state[order] ?? 0) % (isFew ? 2 : STATES.length)])),
        modifiedAt: new Date(Date.UTC(2026, 10, 1 + time)),
        changedAt: new Date(Date.UTC(2026, 5, isTied && month === 3 ? 3 : 1 + month)),
        old: scheme === 'column' ? (olds[month] ?? null) : null,
      };
    });
    // One name is overwritten from month to month.
    const arriving = scheme === 'overwritten' ? [...order].sort((a, b) => a - b) : order;
    const runs: number[][] = [[]];
    for (const [place, month] of arriving.entries()) {
      runs.at(-1)?.push(month);
      if ((cuts[place] === true || isFew) && !isAtOnce && place < MONTHS - 1) runs.push([]);
    }
    return { scheme, exports, runs };
  });

/** What must be credited in the end: the amount of each order, or `held`. */
function expected({ scheme, exports }: Case): Record<string, number | 'held'> {
  const result: Record<string, number | 'held'> = {};
  for (let order = 0; order < ORDERS; order += 1) {
    const saying = exports.filter(({ said }) => said.has(order));
    const age = ({ month, modifiedAt, changedAt }: Export) =>
      scheme === 'column' ? changedAt.getTime() : scheme === 'modified' ? modifiedAt.getTime() : month;
    const newest = Math.max(...saying.map(age));
    const states = new Set(saying.filter((one) => age(one) === newest).map(({ said }) => said.get(order)));
    if (states.size === 0) continue;
    const [state = 0] = states;
    result[`o${order}`] = states.size > 1 ? 'held' : (STATES[state]?.net ?? 0);
  }
  return result;
}

const database = useDatabase('a Postgres server');
let brands = 100_000;

/** Delivers the files and runs the job as often as the case says. @returns what is credited, and the bodies. */
async function perform(db: Database, given: Case, runs: Case['runs']) {
  const folder = makeTestFolder();
  const source = `shop-${randomUUID()}`;
  // The orders of another case would look like these in another source of the brand.
  brands += 1;
  const brandId = String(brands);
  mkdirSync(join(folder, 'layouts'));
  mkdirSync(join(folder, 'exports'));
  writeFileSync(join(folder, 'layouts', 'own.yaml'), LAYOUT);
  writeFileSync(join(folder, 'codes.csv'), CODES);
  writeFileSync(
    join(folder, 'pipeline.yaml'),
    `sources:\n  ${source}: {uri: ./exports/, layout: own, order_platform: "${source}", time_zone: UTC${AGES[given.scheme] ?? ''}}\n` +
      `jobs:\n  ${source}: {kind: attribute-orders, source: ${source}, brand_id: ${brandId}, codes: ./codes.csv, revenue: total_less_refunds}\n`,
  );
  const config = loadConfig(join(folder, 'pipeline.yaml'), {});
  const job = config.jobs[source];
  const settings = config.sources[source];
  if (job === undefined || settings === undefined || !isAttributeOrders(job)) throw new Error('no such job');
  for (const months of runs) {
    for (const month of months) {
      const one = given.exports[month];
      if (one !== undefined) deliver(join(folder, 'exports'), given, one);
    }
    const run = {
      runId: await beginRun(db, { job: job.name, kind: job.kind }),
      owner: randomUUID(),
      config,
      job,
      db,
      nouns: attributeOrders.nouns,
      options: { limit: null, file: null, allowEmpty: false },
      progress: { begin() {}, advance() {}, note() {}, end() {} },
      draining: new AbortController().signal,
      isLeaseHeld: () => true,
      sourceClients: openSourceClients(),
      client: null,
    };
    await intakeSource(run, settings, await createOrderIntake(run));
    const { hash: codesHash } = await loadCodes(db, {
      job: job.name,
      path: join(folder, 'codes.csv'),
      timeZone: null,
      brandId,
      linkParameters: [],
    });
    await decideOrders(db, {
      job: job.name,
      brandId,
      revenue: job.revenue,
      codesHash,
      start: null,
      creditsDrafts: false,
      creditsRenewals: true,
      attribution: 'code',
      hasTerms: false,
      elsewhere: [],
      isBrandShared: false,
      sources: [
        {
          source,
          orderPlatform: source,
          credited: 'any',
          notCredited: [],
          mayLackColumn: true,
          ownOrders: false,
        },
      ],
    });
    await prepareEntries(db, {
      job: job.name,
      runId: run.runId,
      accountId: 'A1',
      brandId,
      orderPlatformBySource: { [source]: source },
      orderNotes: 'ours',
    });
    // The service accepts what is ready, so that every later change is an adjustment.
    await sql`
      update ledger.entries set state = 'accepted', attempt = 1, deal_id = 'D1' where job = ${job.name} and state = 'ready'`.execute(
      db,
    );
  }
  const { rows } = await sql<{ orderId: string; outcome: string; net: string; body: string | null }>`
    select a.order_id as "orderId", a.outcome, e.body,
      coalesce(case when d.entry_id is null then case when e.state = 'accepted' then e.amount end else d.new_amount end, 0)::float8::text as net
    from intake.attributions a
    left join ledger.entries e on e.job = a.job and e.order_id = a.order_id
    left join lateral (
      select d.entry_id, d.new_amount from ledger.adjustments d where d.entry_id = e.entry_id order by adjustment_id desc limit 1) d on true
    where a.job = ${job.name} order by a.order_id`.execute(db);
  const { rows: files } = await sql<{ open: string }>`
    select count(*) as open from intake.source_files where source = ${source} and state not in ('sealed', 'duplicate')`.execute(
    db,
  );
  return {
    open: files[0]?.open,
    credited: Object.fromEntries(
      rows.map(({ orderId, outcome, net }) => [orderId, outcome === 'held' ? 'held' : Number(net)]),
    ),
    // The platform and the brand of each source are others.
    bodies: rows.map(({ body }) => body?.replaceAll(source, '').replaceAll(brandId, '')),
  };
}

function deliver(exports: string, given: Case, { name, said, modifiedAt, changedAt, old }: Export): void {
  const path = join(exports, name);
  mkdirSync(join(path, '..'), { recursive: true });
  const rowsOf = (states: Export['said'], at: Date) =>
    [...states].map(
      ([order, state]) =>
        `o${order},${STATES[state]?.row},2026-01-0${order + 1}T10:00:00Z,${at.toISOString()}`,
    );
  const earlier = given.exports[old?.month ?? MONTHS];
  const before = earlier === undefined ? [] : rowsOf(earlier.said, earlier.changedAt);
  const own = rowsOf(said, changedAt);
  const rows = old?.isFirst === true ? [...before, ...own] : [...own, ...before];
  writeFileSync(path, `${[HEADER, ...rows].join('\n')}\n`);
  utimesSync(path, modifiedAt, modifiedAt);
}

function pad(number: number): string {
  return String(number).padStart(2, '0');
}

it('exports that arrive in any order, in any number of runs, credit what the newest of them states', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (given) => {
      const { open, credited, bodies } = await perform(database(), given, given.runs);
      expect(open).toBe('0');
      expect(credited).toEqual(expected(given));
      if (given.scheme === 'overwritten' || given.runs.length > 1) return;
      // In one run, the bodies do not depend on the order either.
      const sorted = [[...given.runs.flat()].sort((a, b) => a - b)];
      expect((await perform(database(), given, sorted)).bodies).toEqual(bodies);
    }),
    { numRuns: propertyRuns(28) },
  );
});
