import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../jobs/index.ts';
import { ROLES } from '../../src/config/console-fields.ts';
import { permissions, permits } from '../../src/console/access/permissions.ts';
import { createProviderSignIn } from '../../src/console/access/provider.ts';
import { createConsoleServer } from '../../src/console/console-server.ts';
import { listAudit } from '../../src/reports/list-audit.ts';
import { addDoubts, previewAll } from './bulk-shop.ts';
import { repeatedRefusals, startTestConsole, textOf } from './console-server.ts';
import { openConsoleShop } from './console-shop.ts';

const tokens = ROLES.map((role) => ({ name: role, role, token: role.padEnd(32, '-') }));
const as = (role: (typeof ROLES)[number]) => ({
  authorization: `Bearer ${role.padEnd(32, '-')}`,
  'sec-fetch-site': 'same-origin',
});

/** The routes with which people sign in and out. */
const OPEN = ['GET /sign-in', 'GET /signed-in', 'POST /sign-out'];

describe('the table of rights', () => {
  it('names every route of the console and no other, and is what the server checks with each request', async () => {
    const { shop } = await openConsoleShop();
    const config = loadConfig(join(shop.folder, 'pipeline.yaml'), { ...process.env, ...shop.env });
    const oidc = {
      issuer: 'https://login.example',
      clientId: 'a',
      clientSecret: 'b',
      scope: 'openid',
      nameClaim: 'email',
      groupsClaim: 'groups',
      mayLackEmailVerified: false,
      operators: [],
      operatorGroups: [],
      marketing: [],
      marketingGroups: [],
      viewers: [],
      viewerGroups: [],
    };
    const server = createConsoleServer({
      readDb: shop.db,
      db: shop.db,
      config,
      host: '127.0.0.1',
      localActor: 'tester',
      authenticate: async () => ({ kind: 'refused', status: 401, why: '' }),
      provider: createProviderSignIn(oidc, {
        url: 'https://ops.example',
        signOuts: { add: async () => {}, includes: async () => true },
        onError: () => {},
      }),
      onError: () => {},
      onChanged: () => {},
    });
    const routes: string[] = [];
    server.addHook('onRoute', ({ method, url }) => {
      for (const each of [method].flat()) if (each !== 'HEAD') routes.push(`${each} ${url}`);
    });
    await server.ready();
    await server.close();
    const ofTable = permissions.filter((permission) => /^[A-Z]+ /.test(permission));
    expect(routes.toSorted()).toEqual([...ofTable, ...OPEN].toSorted());
    const console = await startTestConsole(shop, { tokens });
    for (const role of ROLES)
      for (const permission of permissions) {
        const [method, path = ''] = permission.split(' ');
        // A stream of events does not end.
        if (permission === 'GET /live' || !/^(GET|POST)$/.test(method ?? '')) continue;
        const address = path.replace(/:\w+/g, '1');
        const { status } =
          method === 'GET' ? await console.get(address, as(role)) : await console.post(address, {}, as(role));
        expect({ role, permission, isForbidden: status === 403 }).toEqual({
          role,
          permission,
          isForbidden: !permits(role, permission),
        });
      }
  });

  it('is followed by pages: what a role may not do is in no row of a list, and a page says so once', async () => {
    const { shop, paths } = await openConsoleShop({ hasBadFiles: true });
    const { get } = await startTestConsole(shop, { tokens });
    for (const role of ROLES)
      for (const path of paths)
        expect([role, path, repeatedRefusals((await get(path, as(role))).text)]).toEqual([role, path, []]);
  });

  it('lets marketing assign a code and decide about doubts, but send nothing again and see no rows of files', async () => {
    const { shop } = await openConsoleShop({ hasBadFiles: true });
    const { get, post } = await startTestConsole(shop, { tokens });
    const assigned = await post(
      '/codes/assign',
      {
        job: 'orders',
        code: 'NOBODY',
        influencer_handle: 'mia.test',
        understood: 'yes',
        reason: 'asked her',
      },
      as('marketing'),
    );
    expect(assigned.status).toBe(200);
    expect((await listAudit(shop.db, { limit: 1 }))[0]).toMatchObject({
      actor: 'marketing',
      via: 'console',
      action: 'assign_code',
    });
    await addDoubts(shop.db, 2);
    const asMarketing = {
      get: (path: string) => get(path, as('marketing')),
      post: (path: string, fields: Parameters<typeof post>[1]) => post(path, fields, as('marketing')),
    };
    const refused = await asMarketing.post('/bulk/preview', {
      scope: 'all',
      decision: 'resend',
      reason: 'again',
    });
    expect([refused.status, textOf(refused.text)]).toEqual([
      403,
      expect.stringContaining('Your role is marketing. Only an operator can do this.'),
    ]);
    // Nor can a preview of an operator be confirmed or aborted.
    const operators = await startTestConsole(shop);
    const { path } = await previewAll(operators, { decision: 'resend' });
    const bulk = path.replace('/bulk/', '');
    for (const step of ['confirm', 'abort'])
      expect(
        (await asMarketing.post(`/bulk/${step}`, { bulk, understood: 'yes', reason: 'again' })).status,
      ).toBe(403);
    expect(textOf((await asMarketing.get(path)).text)).toContain('Only an operator can do this.');
    expect((await asMarketing.get('/doubts')).text).not.toContain('value="resend"');
    expect((await asMarketing.get('/doubts')).text).toContain('value="write_off"');
    expect((await asMarketing.get('/rejected?download=csv')).status).toBe(403);
    const written = await asMarketing.post('/bulk/preview', {
      scope: 'all',
      decision: 'write_off',
      reason: 'lost',
    });
    expect(written.status).toBe(200);
    // A viewer is not led to pages that are not for the role.
    expect((await get('/orders', as('viewer'))).text).not.toContain('href="/customers"');
    expect((await get('/orders', as('marketing'))).text).toContain('href="/customers"');
  });
});
