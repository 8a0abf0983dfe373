import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readEvents, runCli } from '../../support/run-cli.ts';
import { startFakeService } from './fake-service.ts';
import { countCustomers, manyEmails, openCustomers, queuedAt, toCustomers } from './story.ts';

describe('a run of identify-customers', () => {
  it('submits each customer once, accounts for every row, and submits no one in a second run', async () => {
    const shop = await openCustomers({ layout: 'shopify-customers', job: 'source_type: web-shop' });
    shop.drop(
      'customers.csv',
      [
        'Customer ID,First Name,Email,Accepts Email Marketing,Phone,Total Spent,Total Orders',
        "'9013808660771,Ann,ann@example.com,yes,'+31612345678,120.50,3",
        "'9013808660772,Bob, Bob@EXAMPLE.com ,yes,,10.00,1",
        "'9013808660773,Cy,cy@example.com,no,,0.00,0",
        "'9013808660774,Di,,yes,'+44123,5.00,1",
        "'9013808660775,Ed,ed at example,yes,,5.00,1",
        "'9013808660776,Ann,ANN@example.com,yes,,130.00,4",
        '',
      ].join('\r\n'),
    );
    const first = await shop.identify();
    expect(first.exitCode).toBe(3);
    expect(first.finished).toMatchObject({
      kind: 'identify-customers',
      status: 'issues',
      counts: {
        files: 1,
        rows: 6,
        rejected_rows: 1,
        passed_over: { no_address: 1, refused: 1, contradicting: 0, unknown: 0, forgotten: 0 },
        customers: 3,
        submitted: 2,
        unsubscribed: 1,
        waiting: 0,
        calls: { accepted: 1, to_make: 0 },
      },
    });
    expect(await queuedAt(shop.sandbox.url)).toEqual(['ann@example.com', 'bob@example.com']);
    const second = await shop.identify();
    expect(second).toMatchObject({
      exitCode: 0,
      finished: { counts: { customers: 3, submitted: 0, already: 2, unsubscribed: 1, files: 0 } },
    });
    const { rows } = await sql`
      select state, orders_count, spent, submissions from intake.customer_states order by spent desc`.execute(
      shop.db,
    );
    expect(rows).toEqual([
      { state: 'submitted', orders_count: 4, spent: '130.0000', submissions: 1 },
      { state: 'submitted', orders_count: 1, spent: '10.0000', submissions: 1 },
      { state: 'unsubscribed', orders_count: 0, spent: '0.0000', submissions: 0 },
    ]);
    for (const command of [['runs'], ['status'], ['rejected']] as const) {
      const { exitCode, stdout } = await shop.cli(...command);
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/customers/);
      expect(stdout).not.toMatch(/identified/i);
    }
  });

  it('sends full batches with brand and label, and joins the customers of several files', async () => {
    const service = await startFakeService();
    const shop = await openCustomers({
      serviceUrl: service.url,
      job: 'batch_size: 10, source_type: "web \\"shop\\""',
    });
    shop.drop('1.csv', toCustomers(manyEmails(23)));
    shop.drop('2.csv', toCustomers([...manyEmails(4), ...manyEmails(4, 'd')]));
    const { finished } = await shop.identify();
    expect(finished?.counts).toMatchObject({ submitted: 27, calls: { accepted: 3 } });
    expect(service.batches.map((batch) => batch.length).sort()).toEqual([10, 10, 7]);
    expect(service.batches.flat().sort()).toEqual([...manyEmails(23), ...manyEmails(4, 'd')].sort());
    expect(service.calls[0]).toEqual({ brand_id: 4819, source_type: 'web "shop"' });
  });

  it('continues with other files if one is held', async () => {
    const shop = await openCustomers();
    shop.drop('1-broken.csv', 'Name,Phone\nAnn,1\n');
    shop.drop('2-good.csv', toCustomers(manyEmails(3)));
    const { exitCode, finished } = await shop.identify();
    expect(exitCode).toBe(3);
    expect(finished?.counts).toMatchObject({ files: 1, submitted: 3 });
    expect(await queuedAt(shop.sandbox.url)).toHaveLength(3);
  });

  it('reads the customers of an export of orders, also after another job has read its orders', async () => {
    const flow = `customers: {hash_key: "\${CUSTOMER_HASH_KEY:-}"}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam, consent: not_recorded}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
  customers: {kind: identify-customers, source: shop, brand_id: 4819}
`;
    const shop = await openCustomers({ flow });
    shop.drop(
      'orders.csv',
      'order_id,order_revenue,currency,discount_codes,placed_at,email\n1,10.00,EUR,MIA10,2026-04-10T11:11:26Z,ann@example.com\n2,5.00,EUR,,2026-04-10T11:11:26Z,\n',
    );
    expect((await shop.run()).finished).toMatchObject({ counts: { entries: { accepted: 1 } } });
    expect((await shop.identify()).finished).toMatchObject({
      status: 'ok',
      counts: { rows: 2, submitted: 1, passed_over: { no_address: 1 } },
    });
    expect((await shop.run()).finished).toMatchObject({ status: 'ok', counts: { files: 0 } });
    const { rows } = await sql`select bought_with_code from intake.customers`.execute(shop.db);
    expect(rows).toEqual([{ bought_with_code: true }]);
  });

  it('only plans the calls, without sending or storing anything', async () => {
    const service = await startFakeService();
    const shop = await openCustomers({ serviceUrl: service.url, job: 'batch_size: 10, lookup: {budget: 5}' });
    shop.drop('1.csv', toCustomers(manyEmails(25)));
    const { exitCode, finished } = await shop.plan();
    expect(exitCode).toBe(0);
    expect(finished?.counts).toMatchObject({
      customers: 25,
      waiting: 25,
      calls: { accepted: 0, to_make: 3 },
      lookups: { to_ask: 5, beyond_budget: 20 },
    });
    expect([...service.batches, ...service.lookups]).toEqual([]);
    expect(await countCustomers(shop.db)).toEqual({});
  });

  it('submits at most --limit customers, and the others wait', async () => {
    const service = await startFakeService();
    const shop = await openCustomers({ serviceUrl: service.url });
    shop.drop('1.csv', toCustomers(manyEmails(25)));
    expect((await shop.identify('--limit', '10')).finished?.counts).toMatchObject({
      submitted: 10,
      waiting: 15,
    });
    expect((await shop.identify()).finished?.counts).toMatchObject({
      submitted: 15,
      already: 10,
      waiting: 0,
    });
    expect(service.batches.map((batch) => batch.length)).toEqual([10, 15]);
  });

  it('submits again after recheck_after, but only customers in a new file', async () => {
    const service = await startFakeService();
    const shop = await openCustomers({ serviceUrl: service.url, job: 'recheck_after: 30' });
    shop.drop('1.csv', toCustomers(manyEmails(3)));
    await shop.identify();
    shop.drop('2.csv', toCustomers([...manyEmails(2), 'new@example.com']));
    expect((await shop.identify()).finished?.counts).toMatchObject({ submitted: 1 });
    await sql`update intake.identify_batches set settled_at = settled_at - interval '31 days'`.execute(
      shop.db,
    );
    shop.drop('3.csv', toCustomers([...manyEmails(2), 'newer@example.com']));
    expect((await shop.identify()).finished?.counts).toMatchObject({ submitted: 3, already: 2 });
    expect(service.batches.map((batch) => batch.length)).toEqual([3, 1, 3]);
  });
});

describe('the customers who must not be submitted', () => {
  it('include unsubscribed ones, even if an earlier or later export says otherwise without a date', async () => {
    const shop = await openCustomers({ layout: 'generic-customers' });
    shop.drop('1.csv', 'email,unsubscribed\nann@example.com,yes\nbob@example.com,no\n');
    shop.drop('2.csv', 'email,unsubscribed\nANN@example.com,\ncy@example.com,\ndi@example.com,\n');
    shop.drop('3.csv', 'email,unsubscribed\ncy@example.com,1\n');
    // Who has refused is not known in it.
    shop.drop('4.csv', toCustomers(['ed@example.com']));
    const { finished } = await shop.identify();
    expect(finished?.counts).toMatchObject({
      customers: 4,
      submitted: 2,
      unsubscribed: 2,
      passed_over: { refused: 2 },
    });
    expect(finished).toMatchObject({ held_files: 1 });
    expect(await queuedAt(shop.sandbox.url)).toEqual(['bob@example.com', 'di@example.com']);
  });

  it('include those without consent if the job requires consent', async () => {
    const shop = await openCustomers({ job: 'consent: required', consent: 'recorded' });
    shop.drop('1.csv', 'email,consent\na@example.com,yes\nb@example.com,\nc@example.com,no\n');
    expect((await shop.identify()).finished?.counts).toMatchObject({
      passed_over: { refused: 1, unknown: 1 },
    });
    expect(await queuedAt(shop.sandbox.url)).toEqual(['a@example.com']);
  });

  it('cannot be submitted by ignoring consent: the setting of earlier versions is refused', async () => {
    const shop = await openCustomers({ job: 'consent: ignored' });
    shop.drop('1.csv', 'email,consent,unsubscribed\na@example.com,no,\nb@example.com,,yes\n');
    const { exitCode, stderr } = await shop.cli('run', 'customers');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('by_source');
    expect(await queuedAt(shop.sandbox.url)).toEqual([]);
  });
});

describe('the hash key', () => {
  it('is required, and the error names the command that creates one', async () => {
    const shop = await openCustomers({ env: { CUSTOMER_HASH_KEY: '' } });
    const { exitCode, stderr } = await shop.cli('run', 'customers');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('openssl rand -hex 32');
    // The configuration names the variable already.
    expect(stderr).not.toContain('customers: { hash_key: ');
    shop.env.CUSTOMER_HASH_KEY = 'too short';
    expect((await shop.cli('run', 'customers')).stderr).toMatch(/has 9 characters; it\s+needs\s+32/);
  });

  it('must not change, because every customer would then be new', async () => {
    const shop = await openCustomers();
    shop.drop('1.csv', toCustomers(manyEmails(3)));
    expect((await shop.identify()).exitCode).toBe(0);
    shop.env.CUSTOMER_HASH_KEY = 'another-key-of-more-than-32-characters';
    shop.drop('2.csv', toCustomers(manyEmails(4)));
    const { exitCode, stderr } = await shop.cli('run', 'customers');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('were hashed with another key');
    // Digests under this key are those of nobody.
    const explained = await shop.cli('explain', 'customer', 'a@example.com');
    expect([explained.exitCode, explained.stderr]).toEqual([2, expect.stringContaining('with another key')]);
    expect((await shop.cli('doctor')).stdout.replace(/\s+/g, ' ')).toContain('were hashed with another key');
    expect(stderr).not.toContain('another-key');
    expect(await countCustomers(shop.db)).toEqual({ submitted: 3 });
  });
});

describe('`files reread` of an export of customers', () => {
  it('reads an unchanged file again: a customer who was forgotten is submitted, and no one else twice', async () => {
    const shop = await openCustomers();
    shop.drop('members.csv', toCustomers(['ann@example.com', 'bob@example.com', 'cy@example.com']));
    expect((await shop.identify()).finished?.counts).toMatchObject({ files: 1, submitted: 3 });
    const bob = sql`select h.customer_hash from intake.customers h order by h.customer_hash limit 1`;
    await sql`delete from intake.customers where customer_hash in (${bob})`.execute(shop.db);
    expect((await shop.identify()).finished?.counts).toMatchObject({ files: 0, submitted: 0, already: 2 });

    const asked = await shop.cli('files', 'reread', 'members.csv');
    expect(asked).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('reads 1 file again') });
    expect((await shop.identify()).finished?.counts).toMatchObject({
      files: 1,
      rows: 3,
      customers: 3,
      submitted: 1,
      already: 2,
      calls: { accepted: 1, to_make: 0 },
    });
    const { rows } = await sql`
      select state, superseded_by is null as "isLast", customer_rows from intake.source_files order by source_file_id`.execute(
      shop.db,
    );
    expect(rows).toEqual([
      { state: 'sealed', isLast: false, customer_rows: '3' },
      { state: 'sealed', isLast: true, customer_rows: '3' },
    ]);
  });
});

describe('explain customer', () => {
  it('shows the history of a customer by address, and never repeats the address', async () => {
    const shop = await openCustomers({ job: 'source_type: web' });
    shop.drop('1.csv', 'email,orders_count,unsubscribed\nann@example.com,3,\nbob@example.com,,yes\n');
    await shop.identify();
    const explain = (...args: string[]) => shop.cli('explain', 'customer', ...args);
    const { exitCode, stdout } = await explain(' ANN@Example.com');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/Customer of brand 4819.*submitted on .*"web", by run 1.*3 orders/s);
    expect(stdout).not.toMatch(/ann@/i);
    expect((await explain('bob@example.com')).stdout).toContain('not submitted: consent is no');
    const unknown = await explain('nobody@example.com');
    expect(unknown.exitCode).toBe(2);
    expect(unknown.stderr).not.toContain('nobody');
    expect((await explain('no address')).stderr).toContain('This is not an e-mail address.');
    // Standard input keeps the address out of the shell's history and the process list.
    const piped = (input: string) =>
      runCli(['explain', 'customer', '--config', join(shop.folder, 'pipeline.yaml')], {
        env: shop.env,
        input,
      });
    const read = await piped('ann@example.com\n');
    expect(read).toMatchObject({ exitCode: 0 });
    expect(read.stdout).toContain('Customer of brand 4819');
    expect(await piped('')).toMatchObject({ exitCode: 2 });
  });

  it('shows which row of which file said what about consent, if the address comes from standard input', async () => {
    const shop = await openCustomers({ consent: 'recorded' });
    shop.drop('1.csv', 'email,consent,unsubscribed\nann@example.com,yes,\nbob@example.com,,\n');
    shop.drop('2.csv', 'email,consent,unsubscribed\nANN@example.com,yes,true\ncy@example.com,perhaps,\n');
    shop.drop('3.csv', 'email,Name\nann@example.com,A\n');
    await shop.identify();
    const explain = (address: string, ...args: string[]) =>
      runCli(['explain', 'customer', '--config', join(shop.folder, 'pipeline.yaml'), ...args], {
        env: shop.env,
        input: `${address}\n`,
      });
    const ann = await explain('ann@example.com');
    const said = ann.stdout.replaceAll(/\s+/g, ' ');
    expect(said).toMatch(/consent no, known to hold until .* only a yes with a later date replaces it/);
    expect(said).toContain('1.csv (source shop, brand 4819) line 2: yes consent: "yes" says yes');
    expect(said).toMatch(
      /2\.csv .* line 2: no: a yes and a no \(no until .*\) consent: "yes" says yes unsubscribed: "true" says no/,
    );
    expect(said).toContain('3.csv (source shop, brand 4819): not read:');
    expect(ann.stdout + ann.stderr).not.toMatch(/ann@/i);
    // Nothing is recorded about an unknown, and the rows still show why nobody submitted it.
    expect(await explain('bob@example.com')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('line 3: unknown: neither yes nor no'),
    });
    const rows = readEvents(await explain('cy@example.com', '--json')).filter(
      ({ event }) => event === 'customer_row',
    );
    expect(rows).toContainEqual(
      expect.objectContaining({
        line: 3,
        verdict: 'unlisted',
        cells: [{ column: 'consent', word: 'perhaps', says: 'unlisted' }],
      }),
    );
    expect(await explain('nobody@example.com')).toMatchObject({ exitCode: 2 });
  });
});
