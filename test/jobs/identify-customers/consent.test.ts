import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { readEvents } from '../../support/run-cli.ts';
import { openCustomers, queuedAt } from './story.ts';

// Each test starts several processes, and the machine may be busy.
vi.setConfig({ testTimeout: 180_000 });

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
