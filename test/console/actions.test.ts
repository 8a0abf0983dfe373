import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { hashPassword } from '../../src/console/access/password.ts';
import { actions } from '../../src/console/actions/index.ts';
import { loseClaims } from '../recovery/lost-databases.ts';
import { countRows, openWorkshop, toCsv } from '../runs/workshop.ts';
import { waitFor } from '../support/wait-for.ts';
import { addDoubts, confirm, countDecisions, previewAll } from './bulk-shop.ts';
import { startTestConsole, textOf } from './console-server.ts';
import { openConsoleShop } from './console-shop.ts';

describe('every action', () => {
  it('is refused from other sites, for viewers, in a read-only console, and without a reason', async () => {
    const { shop } = await openConsoleShop();
    const before = await countRows(shop.db);
    const open = await startTestConsole(shop);
    const readOnly = await startTestConsole(shop, { readOnly: true });
    const passwordHash = await hashPassword('correct horse battery', { N: 2 ** 12, r: 8, p: 1 });
    const users = [{ name: 'ann', role: 'viewer' as const, passwordHash }];
    const signedIn = await startTestConsole(shop, { users });
    const viewer = {
      authorization: `Basic ${Buffer.from('ann:correct horse battery').toString('base64')}`,
      'sec-fetch-site': 'same-origin',
    };
    expect(actions.length).toBeGreaterThan(0);
    for (const { path, read } of actions) {
      const statuses = {
        'another site': (await open.post(path, {}, { 'sec-fetch-site': 'cross-site' })).status,
        'a sub-domain': (await open.post(path, {}, { 'sec-fetch-site': 'same-site' })).status,
        'another origin': (await open.post(path, {}, { origin: 'https://evil.example' })).status,
        'nobody’s origin': (await open.post(path, {}, { origin: 'null' })).status,
        'read-only': (await readOnly.post(path, {})).status,
        'a viewer': (await signedIn.post(path, {}, viewer)).status,
        'nobody signed in': (await signedIn.post(path, {})).status,
        'an empty form': (await open.post(path, {})).status,
        'an address': (await open.get(path)).status,
      };
      expect({ path, statuses }).toEqual({
        path,
        statuses: {
          'another site': 403,
          'a sub-domain': 403,
          'another origin': 403,
          'nobody’s origin': 403,
          'read-only': 403,
          'a viewer': 403,
          'nobody signed in': 401,
          'an empty form': 400,
          'an address': 404,
        },
      });
      const asked = read({});
      const problems = 'problems' in asked ? asked.problems : [];
      expect({ path, problems }).toEqual({
        path,
        problems: expect.arrayContaining(['Say why: the reason is kept with the change.']),
      });
    }
    expect(await countRows(shop.db)).toEqual(before);
  });

  it('reports missing fields in a plain sentence', async () => {
    const { post } = await startTestConsole((await openConsoleShop()).shop);
    for (const { path } of actions)
      expect(textOf((await post(path, {})).text)).not.toMatch(/Invalid input|expected|undefined/);
  });

  it('is refused, also one that was confirmed before, while the ledger lacks claims, and the overview says so', async () => {
    const shop = await openWorkshop();
    shop.drop('orders.csv', toCsv([{ id: 'a1', revenue: '12.50' }]));
    expect((await shop.run()).exitCode).toBe(0);
    await addDoubts(shop.db, 3);
    const errors: unknown[] = [];
    // It may take up the action that is confirmed below, too, before the second console does.
    const asked = await startTestConsole(shop, {}, { errors: [] });
    const preview = await previewAll(asked, { decision: 'write_off' });
    await loseClaims(shop.databaseUrl, 'a1');
    const before = await countRows(shop.db);
    const refused = await confirm(asked, preview);
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('The database lacks 1 order (12.50 EUR)');
    const [home, orders] = await Promise.all(
      ['/', '/orders'].map(async (path) => (await asked.get(path)).text),
    );
    expect(textOf(home ?? '')).toContain('The ledger lost claims.');
    // The header of other pages does not read the journals.
    const waits = (text = '') => Number(/class="waits" title="(\d+) waiting/.exec(text)?.[1] ?? 0);
    expect(waits(home) - waits(orders)).toBe(1);
    expect(await countRows(shop.db)).toEqual(before);

    await sql`update ops.bulk_actions set state = 'running', confirmed_by = 'ann', confirmed_at = now()`.execute(
      shop.db,
    );
    await startTestConsole(shop, {}, { errors });
    await waitFor(() => errors.length > 0);
    expect(errors.splice(0)).toMatchObject([{ details: { code: 'ledger_went_back' } }]);
    expect(await countDecisions(shop.db)).toMatchObject({ decisions: 0 });
  });
});
