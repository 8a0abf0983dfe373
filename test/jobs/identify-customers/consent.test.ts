import { mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEvents } from '../../support/run-cli.ts';
import { openCustomers, queuedAt } from './story.ts';

const SHOPIFY = [
  'Customer ID,First Name,Email,Accepts Email Marketing,Total Spent,Total Orders,Tax Exempt',
  '1,Ann,ann@example.com,yes,10.00,1,no',
  '2,Bob,bob@example.com,no,10.00,1,no',
  '3,Cy,cy@example.com,,10.00,1,no',
  '',
].join('\n');

describe('a file whose consent is not read', () => {
  it('is held, with the right layout in the reason, and submits no one; with that layout, run, plan and doctor count its consent by column', async () => {
    const shop = await openCustomers({ layout: 'hubspot', consent: 'recorded' });
    shop.drop('customers.csv', SHOPIFY);
    const held = await shop.cli('run', 'customers');
    expect(held.exitCode).toBe(3);
    expect(held.stdout).toContain('layout shopify-customers');
    expect(await queuedAt(shop.sandbox.url)).toEqual([]);

    shop.reconfigure('layout: hubspot', 'layout: shopify-customers');
    const said = '1 yes, 1 no, 1 neither, by "Accepts Email Marketing"';
    expect((await shop.cli('plan', 'customers')).stdout).toContain(`shop: ${said}`);
    const doctor = readEvents(await shop.cli('doctor', '--json'));
    expect(doctor.find(({ about }) => about === 'source shop')?.what).toContain(`Consent: ${said}`);
    const run = readEvents(await shop.cli('run', 'customers', '--json'));
    expect(run.find(({ event }) => event === 'consent')).toMatchObject({
      source: 'shop',
      columns: ['Accepts Email Marketing'],
      yes: 1,
      no: 1,
      blank: 1,
    });
    expect(await queuedAt(shop.sandbox.url)).toEqual(['ann@example.com']);
  });

  it('is held if your own layout does not define consent: plan, run and doctor explain what to add', async () => {
    const shop = await openCustomers({ layout: 'members', consent: 'recorded' });
    mkdirSync(join(shop.folder, 'layouts'));
    shop.write('layouts/members.yaml', 'title: Members\ncolumns: {email: [Email]}\nrequired: [email]\n');
    shop.drop('members.csv', 'Email,Wants mail\nann@example.com,no\n');
    const said = 'layout members does not say which column holds consent';
    const plan = await shop.cli('plan', 'customers');
    expect(plan.stdout.replaceAll(/\s+/g, ' ')).toContain(said);
    const run = await shop.cli('run', 'customers');
    expect(run.exitCode).toBe(3);
    expect(run.stdout.replaceAll(/\s+/g, ' ')).toContain('set consent: not_recorded under sources.shop');
    const doctor = readEvents(await shop.cli('doctor', '--json'));
    expect(doctor.find(({ about }) => about === 'source shop')).toMatchObject({
      status: 'problem',
      what: expect.stringContaining(said),
    });
    expect(await queuedAt(shop.sandbox.url)).toEqual([]);
  });

  it('is read again after the rule changes, and submits newly permitted customers, but no one twice', async () => {
    const shop = await openCustomers({
      layout: 'shopify-customers',
      consent: 'recorded',
      job: 'consent: required',
    });
    shop.drop('customers.csv', SHOPIFY);
    shop.drop('copy.csv', SHOPIFY);
    expect((await shop.identify()).finished?.counts).toMatchObject({ files: 1, submitted: 1 });
    expect((await shop.identify()).finished?.counts).toMatchObject({ files: 0, submitted: 0 });
    shop.reconfigure('consent: required', 'consent: not_refused');
    const again = await shop.identify();
    expect(again.finished?.counts).toMatchObject({ files: 1, rows: 3, submitted: 1, already: 1 });
    expect(await queuedAt(shop.sandbox.url)).toEqual(['ann@example.com', 'cy@example.com']);
  });
});

it('a file with amounts in another format is held; the reason names column, line and limit, but no value, and the limit releases it', async () => {
  const shop = await openCustomers({
    layout: 'shopify-customers',
    job: 'lookup: {budget: 5, min_spent: 250}',
  });
  const rows = Array.from({ length: 20 }, (_, at) => `c${at}@example.com,yes,"${371 + at},50"`);
  shop.drop('customers.csv', ['Email,Accepts Email Marketing,Total Spent', ...rows, ''].join('\n'));
  const { exitCode, stdout, stderr } = await shop.cli('run', 'customers');
  expect(exitCode).toBe(3);
  const said = stdout.replaceAll(/\s+/g, ' ');
  expect(said).toContain('20 of 20 cells in the column "Total Spent" cannot be read as an amount of money');
  expect(said).toContain('first of them is on line 2');
  expect(said).toContain('sources.shop.limits.max_unreadable_share: 1');
  expect(stdout + stderr).not.toMatch(/371,50|c0@/);
  expect(await queuedAt(shop.sandbox.url)).toEqual([]);
  shop.reconfigure('limits: {', 'limits: {max_unreadable_share: 1, ');
  expect((await shop.identify()).finished).toMatchObject({ counts: { files: 1, submitted: 20 } });
});

it('a yes without a date that a no outweighs is counted, with what to do, until a dated yes replaces the no', async () => {
  const shop = await openCustomers({ layout: 'generic-customers', consent: 'recorded' });
  const yes = 'email,consent,consent_at\nann@example.com,yes,\nbob@example.com,yes,\n';
  shop.drop('1.csv', 'email,consent,consent_at\nann@example.com,no,\ncy@example.com,no,\n');
  const anHourAgo = new Date(Date.now() - 3_600_000);
  utimesSync(join(shop.folder, 'exports', '1.csv'), anHourAgo, anHourAgo);
  expect((await shop.cli('run', 'customers')).stdout).not.toContain('without a date');
  shop.drop('2.csv', yes);
  const { stdout } = await shop.cli('run', 'customers');
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    '1 customer of this brand said yes without a date, and no elsewhere: the no holds',
  );
  const agreedAt = new Date(Date.now() - 60_000).toISOString();
  shop.drop('3.csv', `email,consent,consent_at\nann@example.com,yes,${agreedAt}\n`);
  expect((await shop.cli('run', 'customers')).stdout).not.toContain('without a date');
  expect(await queuedAt(shop.sandbox.url)).toEqual(['ann@example.com', 'bob@example.com']);
});

it('a file that is named after people who refused, and whose rows agree, lets nobody be submitted until it is released', async () => {
  const shop = await openCustomers({ layout: 'shopify-customers', consent: 'recorded' });
  shop.drop('customers.csv', SHOPIFY);
  shop.drop('unsubscribed-2026-11.csv', SHOPIFY.replace('1,Ann,ann@', '1,Dan,dan@'));
  for (const args of [[], ['--file', 'customers.csv']]) {
    const run = await shop.cli('run', 'customers', ...args);
    expect(run.exitCode).toBe(3);
    expect(await queuedAt(shop.sandbox.url)).toEqual([]);
  }
  expect((await shop.cli('files')).stdout.replaceAll(/\s+/g, ' ')).toContain(
    'By the name "unsubscribed-2026-11.csv", the people in the file refused, and its rows do not say so.',
  );
  await shop.cli('files', 'release', 'unsubscribed-2026-11.csv', '--reason', 'a copy');
  expect((await shop.identify()).exitCode).toBe(0);
  expect(await queuedAt(shop.sandbox.url)).toEqual(['ann@example.com']);
});

describe('a table beside the customers that no source reads', () => {
  const LISTED = '{uri: ./exports/, layout';
  const said = 'It may say who must not be submitted, so nothing is submitted until you decide.';

  async function openBeside() {
    const shop = await openCustomers({ layout: 'shopify-customers', consent: 'recorded' });
    shop.reconfigure(LISTED, '{uri: "./exports/customers*.csv", layout');
    shop.drop('customers.csv', SHOPIFY);
    return shop;
  }

  it('and that has addresses lets nobody be submitted, in whole or by file, until it is excluded; plan, status and doctor say so', async () => {
    const shop = await openBeside();
    shop.drop('stopp.csv', 'Adresse\nann@example.com\n');
    for (const args of [[], ['--file', 'customers.csv']]) {
      const run = await shop.cli('run', 'customers', ...args);
      expect(run.exitCode).toBe(3);
      expect(run.stderr.replaceAll(/\s+/g, ' ')).toContain(
        `No source reads stopp.csv, and it may be about people. ${said}`,
      );
      expect(run.stderr).not.toContain('ann@');
      expect(await queuedAt(shop.sandbox.url)).toEqual([]);
    }
    expect((await shop.plan()).exitCode).toBe(3);
    for (const command of ['status', 'doctor'])
      expect((await shop.cli(command)).stdout.replaceAll(/\s+/g, ' ')).toContain(said);
    shop.reconfigure('consent: recorded', 'consent: recorded, exclude: [stopp.csv]');
    expect((await shop.identify()).exitCode).toBe(0);
    expect(await queuedAt(shop.sandbox.url)).toEqual(['ann@example.com']);
  });

  it.each([
    ['has a column of addresses', 'list.csv', 'E-Mail;Grund\n;verzogen\n'],
    ['has a column of refusals', 'list.csv', 'Customer ID,Unsubscribed\n17,yes\n'],
    ['has no header', 'list.txt', 'ann@example.com\ncy@example.com\n'],
    ['is named like a list of refusals', 'unsubscribed.csv', 'sha256\n9f2c\n'],
    ['is empty', 'list.csv', ''],
    ['has a blank header', 'list.csv', '\n\n'],
    ['is a workbook', 'list.xlsx', 'PK'],
    ['is an export of the source under another name', 'kunden.csv', SHOPIFY],
  ])('lets nobody be submitted if it %s', async (_what, name, content) => {
    const shop = await openBeside();
    shop.drop(name, content);
    expect((await shop.identify()).exitCode).toBe(3);
    expect(await queuedAt(shop.sandbox.url)).toEqual([]);
  });

  it('and that is about no people is only named', async () => {
    const shop = await openBeside();
    shop.drop('stock.csv', 'Sku,Stock\nA-1,2\n');
    const run = await shop.cli('run', 'customers');
    expect(run.exitCode).toBe(0);
    expect(run.stderr).toContain('No source reads stock.csv, in the same folder.');
    expect(await queuedAt(shop.sandbox.url)).toEqual(['ann@example.com']);
  });

  it('lets the customers be submitted once a source reads it as a list of refusals', async () => {
    const shop = await openBeside();
    mkdirSync(join(shop.folder, 'layouts'));
    shop.write(
      'layouts/refused.yaml',
      'title: Refused\ncolumns: {email: [Adresse]}\nrequired: [email]\nconsent: {refused: [{columns: [Adresse], not_blank: true}]}\n',
    );
    shop.drop('stopp.csv', 'Adresse\nann@example.com\n');
    expect((await shop.identify()).exitCode).toBe(3);
    shop.reconfigure('jobs:', '  refused: {uri: ./exports/stopp.csv, layout: refused}\njobs:');
    shop.reconfigure('source: shop', 'source: [shop, refused]');
    const { exitCode, finished } = await shop.identify();
    expect({ exitCode, counts: finished?.counts }).toMatchObject({ exitCode: 0, counts: { submitted: 0 } });
    expect(await queuedAt(shop.sandbox.url)).toEqual([]);
  });
});
