import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { customerHasher, tombstoneHasher } from '../../src/intake/customers/map/customer-hash.ts';
import { acquireLease } from '../../src/ops/lease.ts';
import { blockWrites, isAnyoneBlocked } from '../jobs/attribute-orders/backfill/history.ts';
import { HASH_KEY } from '../jobs/identify-customers/story.ts';
import { deliver, openReceiver } from '../ledger/receiver/deliver.ts';
import { leasesAreOver } from '../runs/workshop.ts';
import { startCli } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';
import { FOLDED, findEverywhere, OTHERS, openPrivacyShop, PERSON, type PrivacyShop } from './story.ts';

const DIGESTS = ['4819', '4820'].map((brandId) => customerHasher(HASH_KEY, brandId)(FOLDED));
const TOMBSTONE = tombstoneHasher(HASH_KEY)(FOLDED);
const WRITTEN = [FOLDED, encodeURIComponent(FOLDED).toLowerCase()];

/** Spellings of the address in a text, and the text that is left of it. */
const SPELLINGS: readonly (readonly [string, string, (instead: string) => string])[] = [
  ['after an escaped line break', `Hello,\n${PERSON}\tagain`, (x) => `Hello,\n${x}\tagain`],
  ['in a link', `q?e=${encodeURIComponent(FOLDED)}&n=1`, (x) => `q?e=${x}&n=1`],
  [
    'in a link in a link in a link',
    `u?next=${encodeURIComponent(encodeURIComponent(`${PERSON}/1`))}`,
    (x) => `u?next=${x}%252F1`,
  ],
  ['in a form, after a blank', `t=mail+to+${encodeURIComponent(PERSON)}+now`, (x) => `t=mail+to+${x}+now`],
  [
    'in JSON in JSON, after an escaped line break',
    JSON.stringify(JSON.stringify({ a: `x\n${PERSON}` })),
    (x) => JSON.stringify(JSON.stringify({ a: `x\n${x}` })),
  ],
  ['with an at-sign of JSON', PERSON.replace('@', '\\u0040'), (x) => x],
  ['with an at-sign of HTML', `<${PERSON.replace('@', '&#64;')}>`, (x) => `<${x}>`],
  ['with a full-width at-sign', PERSON.replace('@', '\uff20'), (x) => x],
  ['in full-width letters', 'ｊane.doe＋shop＠ｅxample．com', (x) => x],
  ['with an invisible character', PERSON.replace('doe', 'd\u00adoe'), (x) => x],
  ['after a path with a backslash', `C:\\${PERSON}`, (x) => `C:\\${x}`],
];

const HEADER =
  'Name,Email,Financial Status,Paid at,Currency,Total,Discount Code,Created at,Notes,Note Attributes,Id';
const orderLine = (id: string, cells: Readonly<Record<string, string>> = {}): string => {
  const order: Readonly<Record<string, string>> = {
    Name: `#${id}`,
    'Financial Status': 'paid',
    Currency: 'EUR',
    Total: '10.00',
    Id: id,
    'Created at': '2026-10-10 11:11:26 +0000',
    ...cells,
  };
  return HEADER.split(',')
    .map((name) => order[name] ?? '')
    .join(',');
};

/** Puts the person's address into every input and reads them all; one batch is still waiting. */
async function tellEverything(shop: PrivacyShop): Promise<void> {
  shop.put('exports', 'orders.csv', [
    HEADER,
    orderLine('1', { Email: PERSON, 'Discount Code': 'MIA10', Notes: `for ${PERSON}` }),
    orderLine('2', { Email: PERSON, 'Discount Code': PERSON, Name: `#2 ${PERSON}` }),
    orderLine('3', {
      'Note Attributes': `utm_campaign: ${PERSON}`,
      Notes: `ref: ${encodeURIComponent(PERSON)}`,
    }),
    orderLine('4', { 'Discount Code': OTHERS[0] ?? '' }),
    orderLine('5', { Total: PERSON }),
    orderLine('6', { 'Financial Status': PERSON }),
  ]);
  shop.put('customers', '1.csv', [PERSON, ...OTHERS]);
  shop.put('customers', '2-rejected.csv', [`"${PERSON}, ${PERSON}"`, 'joe2@example.com']);
  expect((await shop.ran('orders')).exitCode).toBe(3);
  await shop.ran('customers');
  shop.put('club', '1.csv', [` '${PERSON.toUpperCase()}`, ...OTHERS]);
  // The service does not know the brand, so the addresses wait.
  expect((await shop.ran('club')).exitCode).toBe(2);
  const receiver = await openReceiver(shop.db);
  const event = {
    deal_id: 'D1',
    custom_link_information: { old_custom_link: null, new_custom_link: 'https://acme.test/?ref=mia' },
    send_product_info: { customer: { email: PERSON }, shipping_address: { street: 'Main St 1' } },
    comment: PERSON,
  };
  expect(await deliver(receiver.url, JSON.stringify(event))).toBe(200);
  await storedBefore(shop);
}

/**
 * Addresses in ids, names, codes and links are refused or masked when they are read. Earlier versions stored
 * those of links, percent-encoded.
 */
async function storedBefore(shop: PrivacyShop): Promise<void> {
  const encoded = encodeURIComponent(FOLDED);
  await sql`insert into ops.webhook_events (kind, body, body_sha256) values ('unknown', ${JSON.stringify({ old: PERSON })}::jsonb, 'old')`.execute(
    shop.db,
  );
  await sql`update intake.orders set links = array[${encoded}] where order_id = '3'`.execute(shop.db);
  await sql`update intake.attributions set matched_value = ${encoded} where order_id = '3'`.execute(shop.db);
  await sql`insert into reporting.code_days select (jsonb_populate_record(d, ${JSON.stringify({ code: encoded, code_folded: encoded })}::jsonb)).* from reporting.code_days d limit 1`.execute(
    shop.db,
  );
}

const events = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Certificate);
type Certificate = {
  readonly found: readonly { readonly place: string; readonly rows: number; readonly action: string }[];
  readonly was_forgotten: boolean;
};

describe('forget', () => {
  it('removes a person from every table and file except for the tombstone, and changes no data of others', async () => {
    const shop = await openPrivacyShop();
    await tellEverything(shop);
    const before = await findEverywhere(shop, [...WRITTEN, ...DIGESTS]);
    expect(before).toEqual(
      expect.arrayContaining([
        ...['intake.customers.customer_hash', 'intake.lookups.customer_hash', 'ops.webhook_events.body'],
        ...['intake.waiting_batches.customer_hashes', 'intake.waiting_batches.influencer_list'],
        ...['intake.orders.links', 'intake.attributions.matched_value', 'reporting.code_days.code'],
      ]),
    );
    const ofOthers = await findEverywhere(shop, OTHERS);

    const dry = await shop.cli('forget', PERSON, '--dry-run', '--json');
    expect(dry.exitCode).toBe(0);
    expect(await findEverywhere(shop, [...WRITTEN, ...DIGESTS])).toEqual(before);
    expect(await findEverywhere(shop, [TOMBSTONE])).toEqual([]);

    // Passed on standard input, in another spelling, with a reason as an operator might give it.
    const options = { cwd: shop.folder, env: shop.env, input: `  ${PERSON.toLowerCase()}\n` };
    const forgot = await startCli(['forget', '-', '--json', '--reason', `for ${PERSON}`], options).ended;
    expect(forgot).toMatchObject({ exitCode: 0, stderr: '' });
    const [certificate] = events(forgot.stdout);
    expect(certificate?.found).toEqual(
      expect.arrayContaining([
        { place: 'intake.customers', rows: 2, action: 'deleted', why: null },
        { place: 'intake.waiting_batches', rows: 1, action: 'deleted', why: null },
        { place: 'intake.orders.links', rows: 1, action: 'redacted', why: null },
      ]),
    );
    expect(certificate?.found).toEqual(events(dry.stdout)[0]?.found);
    for (const { stdout, stderr } of [dry, forgot]) expect(stdout + stderr).not.toMatch(/jane\.doe/i);

    expect(await findEverywhere(shop, [...WRITTEN, ...DIGESTS])).toEqual([]);
    expect(await findEverywhere(shop, [TOMBSTONE])).toEqual(['intake.forgotten_customers.tombstone']);
    expect(await findEverywhere(shop, OTHERS)).toEqual(ofOthers);
    const { rows: audit } = await sql<{ action: string; reason: string }>`
      select action, reason from ops.audit order by audit_id`.execute(shop.db);
    expect(audit.map(({ action }) => action)).toEqual(['forget_customer', 'redact_customer']);
    expect(audit[0]?.reason).toBe('for J***@***');

    // Posted orders stay posted: the order is in the same export again and changes nothing.
    const posted = await shop.posted();
    shop.put('exports', 'orders-2.csv', [
      HEADER,
      orderLine('1', { Email: PERSON, 'Discount Code': 'MIA10' }),
    ]);
    await shop.ran('orders');
    expect(await shop.posted()).toEqual(posted);
  });

  it('finds the address in every spelling, and changes nothing around it', async () => {
    const shop = await openPrivacyShop();
    shop.put('exports', 'orders.csv', [HEADER, orderLine('1')]);
    await shop.ran('orders');
    const others = OTHERS.flatMap((other) => [other, encodeURIComponent(encodeURIComponent(other))]);
    const toJson = (value: string) =>
      JSON.stringify({ amount: 'AMOUNT', list: [value, null], others, [`key ${value}`]: true }).replace(
        '"AMOUNT"',
        '12345678901234567890.10',
      );
    for (const [where, written, redacted] of SPELLINGS) {
      await sql`delete from ops.webhook_events`.execute(shop.db);
      await sql`insert into ops.webhook_events (kind, body, body_sha256) values ('unknown', ${toJson(written)}::jsonb, 'old')`.execute(
        shop.db,
      );
      await sql`update intake.orders set links = array['a, "b"', ${written}], order_name = ${written}`.execute(
        shop.db,
      );
      const forgot = await shop.cli('forget', PERSON, '--json');
      expect(forgot, where).toMatchObject({ exitCode: 0 });
      const found = events(forgot.stdout)[0]?.found.map(
        ({ place, rows, action }) => `${place} ${rows} ${action}`,
      );
      expect(found?.toSorted(), where).toEqual([
        'intake.orders.links 1 redacted',
        'intake.orders.order_name 1 redacted',
        'ops.webhook_events.body 1 redacted',
      ]);
      const after = redacted(`forgotten-${TOMBSTONE.slice(0, 12)}`);
      const { rows } = await sql<{ isWhole: boolean; links: string[]; order_name: string }>`
        select body::text = ${toJson(after)}::jsonb::text as "isWhole", links, order_name
        from ops.webhook_events, intake.orders`.execute(shop.db);
      expect(rows, where).toEqual([{ isWhole: true, links: ['a, "b"', after], order_name: after }]);
    }
  });

  it('keeps later exports from submitting the person, for other brands, too', async () => {
    const shop = await openPrivacyShop();
    shop.put('customers', '1.csv', ['ann@example.com']);
    await shop.ran('customers');
    const unknown = await shop.cli('forget', PERSON);
    expect(unknown.exitCode).toBe(8);
    expect(unknown.stdout).toContain('Nothing was stored about this customer');
    shop.put('customers', '2.csv', [PERSON.toUpperCase(), 'bob@example.com']);
    shop.put('club', '1.csv', [` '${PERSON} `, 'bob@example.com']);
    const second = await shop.ran('customers');
    expect(second.stdout).toContain('"forgotten":1');
    await shop.ran('club');
    const { rows } = await sql`select influencer_list from intake.waiting_batches`.execute(shop.db);
    expect(rows).toEqual([{ influencer_list: '["bob@example.com"]' }]);
    expect((await shop.submitted()).toSorted()).toEqual(['ann@example.com', 'bob@example.com']);
    expect(await findEverywhere(shop, [...WRITTEN, ...DIGESTS])).toEqual([]);

    const again = await shop.cli('forget', FOLDED, '--json');
    expect(again.exitCode).toBe(8);
    expect(events(again.stdout)[0]).toMatchObject({ was_forgotten: true, found: [] });
  });

  it('refuses to start while a run may hold the address in memory', async () => {
    const shop = await openPrivacyShop();
    const lease = { owner: crypto.randomUUID(), host: 'elsewhere', pid: 1, ttlMs: 60_000 };
    await acquireLease(shop.db, { ...lease, name: 'job:club' });
    const refused = await shop.cli('forget', PERSON);
    expect(refused.exitCode).toBe(5);
    expect(refused.stderr).not.toMatch(/jane/i);
    expect(await findEverywhere(shop, [TOMBSTONE])).toEqual([]);
  });

  it('keeps and reports order ids, and links that an influencer owns', async () => {
    const shop = await openPrivacyShop();
    const encoded = encodeURIComponent(FOLDED);
    const link = { old_custom_link: null, new_custom_link: `https://acme.test/?ref=${encoded}` };
    const receiver = await openReceiver(shop.db);
    await deliver(receiver.url, JSON.stringify({ deal_id: 'DEALMIA', custom_link_information: link }));
    const line = (id: string, name: string) => orderLine(id, { 'Discount Code': 'MIA10', Name: name });
    shop.put('exports', 'orders.csv', [HEADER, line('1', '#1'), line(`${encoded}/2`, '#2')]);
    await shop.ran('orders');
    // The id with an address is refused, in this spelling too.
    expect(await shop.posted()).toHaveLength(1);
    await sql`update ledger.entries set key = ${encoded}`.execute(shop.db);
    await sql`update intake.orders set links = array[${encoded}]`.execute(shop.db);
    const kept = await shop.cli('forget', PERSON, '--json');
    expect(kept.exitCode).toBe(3);
    const places = events(kept.stdout)[0]?.found.filter(({ action }) => action === 'kept') ?? [];
    expect(places.map(({ place }) => place)).toEqual(
      expect.arrayContaining(['intake.code_changes.new_value', 'intake.orders.links', 'ledger.entries.key']),
    );
  });

  it('continues after an interrupted search', async () => {
    const shop = await openPrivacyShop();
    await tellEverything(shop);
    // Refuses the first statement that redacts: the tombstone exists, but the search is not complete.
    await sql`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'cut short'; end $$`.execute(
      shop.db,
    );
    await sql`create trigger refuse before update on ops.webhook_events for each row execute function refuse()`.execute(
      shop.db,
    );
    expect((await shop.cli('forget', PERSON)).exitCode).toBe(1);
    const { rows } = await sql`select searched_at from intake.forgotten_customers`.execute(shop.db);
    expect(rows).toEqual([{ searched_at: null }]);
    await sql`drop trigger refuse on ops.webhook_events`.execute(shop.db);
    expect((await shop.cli('forget', PERSON)).exitCode).toBe(0);
    expect(await findEverywhere(shop, [...WRITTEN, ...DIGESTS])).toEqual([]);
  });

  it.each([
    ['intake.customers', 'changes nothing', false],
    ['ops.webhook_events', 'keeps the person from being submitted again', true],
  ])(
    'that is killed while it changes %s %s, and the next one completes it',
    async (table, _, isForgotten) => {
      const shop = await openPrivacyShop({ api: 'lease_seconds: 5\ntimeout_seconds: 4' });
      await tellEverything(shop);
      const before = await findEverywhere(shop, [...WRITTEN, ...DIGESTS]);
      const release = await blockWrites(shop, table);
      const killed = shop.start('forget', PERSON);
      await waitFor(() => isAnyoneBlocked(shop));
      killed.kill('SIGKILL');
      await killed.ended;
      await release();
      await waitFor(async () => !(await isAnyoneBlocked(shop)));
      const { rows } = await sql`select searched_at from intake.forgotten_customers`.execute(shop.db);
      expect(rows).toEqual(isForgotten ? [{ searched_at: null }] : []);
      if (!isForgotten) expect(await findEverywhere(shop, [...WRITTEN, ...DIGESTS])).toEqual(before);
      await leasesAreOver(shop);
      if (isForgotten) {
        shop.put('customers', '3.csv', [PERSON, 'late@example.com']);
        expect((await shop.ran('customers')).stdout).toContain('"forgotten":1');
      }
      expect((await shop.cli('forget', PERSON)).exitCode).toBe(0);
      expect(await findEverywhere(shop, [...WRITTEN, ...DIGESTS])).toEqual([]);
      expect(await findEverywhere(shop, [TOMBSTONE])).toEqual(['intake.forgotten_customers.tombstone']);
    },
  );
});
