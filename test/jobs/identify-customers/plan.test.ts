import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { grownSince, readRun, tableSizes } from '../../runs/workshop.ts';
import { waitFor } from '../../support/wait-for.ts';
import { countCustomers, manyEmails, openCustomers, toCustomers } from './story.ts';

/**
 * More than fit into one statement. If all rows of the first statement were new, the plan assumes that the
 * rows of the next one are new as well.
 */
const MANY = 20_000;

describe('a plan of identify-customers', () => {
  it('leaves no dead rows in the tables of runs, for new, known, unsubscribed and resubmitted customers', async () => {
    const shop = await openCustomers({ consent: 'recorded', layout: 'shopify-customers' });
    const toShop = (emails: readonly string[], accepts: string) =>
      `Email,Accepts Email Marketing,Phone,Total Spent,Total Orders\n${emails.map((email) => `${email},${accepts},,5.00,1`).join('\n')}\n`;
    shop.drop('1.csv', toShop(manyEmails(300), 'yes'));
    const before = await tableSizes(shop.db);
    expect((await shop.plan()).finished).toMatchObject({ counts: { customers: 300, waiting: 300 } });
    expect(await grownSince(shop.db, before)).toEqual([]);
    await shop.identify('--limit', '200');
    const between = await tableSizes(shop.db);
    shop.drop('2.csv', toShop([...manyEmails(50), ...manyEmails(400, 'new')], 'yes'));
    shop.drop('broken.csv', 'no,such,header\n1,2,3\n');
    shop.reconfigure('layout: shopify-customers', 'layout: shopify-customers, encoding: utf-8');
    const { finished } = await shop.plan();
    expect(finished).toMatchObject({ counts: { customers: 700, already: 200, waiting: 500 } });
    expect(await grownSince(shop.db, between)).toEqual([]);
    expect((await shop.identify()).finished).toMatchObject({ counts: { customers: 700, submitted: 500 } });
  });

  it('recognizes a known customer after thousands of new ones', async () => {
    const shop = await openCustomers();
    shop.drop('1.csv', toCustomers(manyEmails(2)));
    await shop.identify();
    shop.drop('2.csv', toCustomers([...manyEmails(MANY, 'new'), ...manyEmails(2)]));
    const { finished, exitCode, stderr } = await shop.plan();
    expect(exitCode, stderr).toBe(0);
    expect(finished).toMatchObject({ counts: { customers: MANY + 2, already: 2, waiting: MANY } });
  });

  it('that lost its lease does not block a run or see its changes, and vice versa', async () => {
    const shop = await openCustomers();
    shop.drop('1.csv', toCustomers(manyEmails(5)));
    shop.drop('2.csv', toCustomers(manyEmails(40_000, 'more')));
    const planning = shop.start('plan', 'customers', '--json');
    await waitFor(() => planning.stdout().includes('"Reading 2.csv"'));
    planning.kill('SIGSTOP');
    // The leases expire, as after a pause of a minute.
    await sql`update ops.leases set expires_at = to_timestamp(0)`.execute(shop.db);
    const run = await shop.identify('--file', '1.csv');
    expect(run.finished, run.stderr).toMatchObject({ counts: { customers: 5, submitted: 5 } });
    planning.kill('SIGCONT');
    const planned = readRun(await planning.ended);
    expect(planned.finished, planned.stderr).toMatchObject({
      counts: { customers: 40_005, waiting: 40_005 },
    });
    expect(await countCustomers(shop.db)).toEqual({ submitted: 5 });
  });
});
