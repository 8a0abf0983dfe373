import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { Provider } from 'oidc-provider';
import { request } from 'undici';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { OidcSettings } from '../../src/config/console-fields.ts';
import { openWorkshop, type Workshop } from '../runs/workshop.ts';
import { findFreePort } from '../support/free-port.ts';
import { type ConsoleServer, startTestConsole, textOf } from './console-server.ts';

const SECRET = 'a secret that both sides know, and nobody else';

type Claims = Readonly<Record<string, unknown>>;

/**
 * Starts a real provider on a free port.
 * @param claims the claims of each user who signs in.
 */
async function startProvider(
  redirectUri: string,
  { claims, inToken }: { readonly claims: Readonly<Record<string, Claims>>; readonly inToken: boolean },
): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  // The provider writes to the process's console that it is meant for development.
  for (const kind of ['info', 'warn'] as const) vi.spyOn(console, kind).mockImplementation(() => {});
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'console', client_secret: SECRET, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['groups'] },
    conformIdTokenClaims: !inToken,
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...claims[id] }) }),
    cookies: { keys: ['for this test'] },
  });
  server.on('request', provider.callback());
  onTestFinished(() => {
    vi.restoreAllMocks();
    server.closeAllConnections();
    server.close();
  });
  return issuer;
}

/**
 * Acts like a browser without rendering: follows redirects, keeps cookies, and fills in the provider's forms.
 */
class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();
  /** The URLs that it has visited. */
  readonly visited: string[] = [];

  async open(
    address: string,
    {
      method = 'GET',
      fields,
    }: { readonly method?: 'GET' | 'POST'; readonly fields?: Readonly<Record<string, string>> } = {},
  ): Promise<{ readonly url: string; readonly status: number; readonly text: string }> {
    const url = new URL(address);
    this.visited.push(url.href);
    const jar = this.#cookies.get(url.host) ?? new Map<string, string>();
    this.#cookies.set(url.host, jar);
    // Node's fetch declares in its headers that a script makes the request.
    const response = await request(url, {
      method,
      headers: {
        accept: 'text/html',
        'sec-fetch-mode': 'navigate',
        ...(method === 'POST' ? { 'sec-fetch-site': 'same-origin' } : {}),
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(fields === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      body: fields === undefined ? null : new URLSearchParams(fields).toString(),
    });
    for (const cookie of [response.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
    const { location } = response.headers;
    const text = await response.body.text();
    if (typeof location === 'string') return this.open(new URL(location, url).href);
    return { url: url.href, status: response.statusCode, text };
  }

  /** Opens a page. When the provider asks for a login, it signs in and agrees. */
  async signIn(address: string, login: string): ReturnType<Browser['open']> {
    let shown = await this.open(address);
    for (let form = formOf(shown.text); form !== null; form = formOf(shown.text))
      shown = await this.open(new URL(form, shown.url).href, {
        method: 'POST',
        fields: shown.text.includes('name="login"')
          ? { prompt: 'login', login, password: 'any' }
          : { prompt: 'consent' },
      });
    return shown;
  }

  cookies(address: string): Map<string, string> {
    return this.#cookies.get(new URL(address).host) ?? new Map();
  }
}

/**
 * Returns the address to which the provider's form is sent; null if the page is not one of the provider's.
 */
function formOf(text: string): string | null {
  return /<form[^>]*action="([^"]*\/interaction\/[^"]*)"/.exec(text)?.[1] ?? null;
}

const PEOPLE: Readonly<Record<string, Claims>> = {
  ann: { email: 'ann@shop.example', email_verified: true },
  // His provider sends a single group as a text.
  ben: { email: 'ben@shop.example', email_verified: true, groups: 'marketing' },
  anton: { email: 'anton@shop.example', email_verified: true, groups: ['marketing', 'affiliates'] },
  eve: { email: 'ann@shop.example', email_verified: false },
  // His provider does not say whether the address is his.
  noah: { email: 'ann@shop.example' },
  // An email that equals the name of a group.
  mallory: { email: 'marketing', email_verified: true },
  zoe: { email: 'zoe@shop.example', email_verified: true, groups: ['others'] },
};

async function openSignedConsole({
  inToken = true,
  settings = {},
}: {
  readonly inToken?: boolean;
  readonly settings?: Partial<OidcSettings>;
} = {}): Promise<
  ConsoleServer & { readonly oidc: OidcSettings; readonly errors: unknown[]; readonly shop: Workshop }
> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}/influencers`;
  const issuer = await startProvider(`${url}/signed-in`, { claims: PEOPLE, inToken });
  const oidc: OidcSettings = {
    issuer,
    clientId: 'console',
    clientSecret: SECRET,
    scope: 'openid profile email',
    nameClaim: 'email',
    groupsClaim: 'groups',
    mayLackEmailVerified: false,
    operators: ['ann@shop.example'],
    operatorGroups: [],
    marketing: [],
    marketingGroups: ['affiliates'],
    viewers: [],
    viewerGroups: ['marketing'],
    ...settings,
  };
  const errors: unknown[] = [];
  const shop = await openWorkshop();
  const server = await startTestConsole(shop, { url, basePath: '/influencers', oidc }, { port, errors });
  return { ...server, url, oidc, errors, shop };
}

describe('an OpenID Connect provider', () => {
  it.each([
    ['in the token', true],
    ['when it is asked', false],
  ])(
    'signs users in by what it reports %s, returns them to their page, and the configuration determines their role',
    async (_where, inToken) => {
      const { url } = await openSignedConsole({ inToken });
      const ann = await new Browser().signIn(`${url}/runs?job=orders`, 'ann');
      expect([ann.status, ann.url]).toEqual([200, `${url}/runs?job=orders`]);
      expect(textOf(ann.text)).toMatch(/Signed in as ann \(shop\.example\) \(operator\)/);
      // Email addresses are personal data, also in the console.
      expect(ann.text).not.toContain('ann@shop.example');
      const ben = await new Browser().signIn(`${url}/`, 'ben');
      expect(textOf(ben.text)).toMatch(/Signed in as ben \(shop\.example\) \(viewer\)/);
      const anton = await new Browser().signIn(`${url}/`, 'anton');
      expect(textOf(anton.text)).toMatch(/Signed in as anton \(shop\.example\) \(marketing\)/);
    },
  );

  it.each(['eve', 'noah', 'mallory', 'zoe'])('gives %s no access', async (login) => {
    const { url } = await openSignedConsole();
    const browser = new Browser();
    const { status, text } = await browser.signIn(`${url}/`, login);
    expect(status).toBe(403);
    expect(text).toMatch(
      /^(You are signed in, but you may not see the console|The provider did not sign you in)/,
    );
    expect([...browser.cookies(url).keys()]).toEqual([]);
  });

  it('accepts an address of which nothing is said only if the settings say so, and an unverified one never', async () => {
    const { url } = await openSignedConsole({ settings: { mayLackEmailVerified: true } });
    expect((await new Browser().signIn(`${url}/`, 'noah')).status).toBe(200);
    expect((await new Browser().signIn(`${url}/`, 'eve')).status).toBe(403);
  });

  it('keeps users signed in over a restart, until they sign out', async () => {
    const { url, oidc, shop } = await openSignedConsole();
    const browser = new Browser();
    await browser.signIn(`${url}/`, 'ann');
    const again = await startTestConsole(shop, { url, basePath: '/influencers', oidc });
    const cookie = [...browser.cookies(url)].map(([name, value]) => `${name}=${value}`).join('; ');
    const shown = await again.get('/influencers/', { cookie });
    expect(textOf(shown.text)).toMatch(/\(operator\)/);
    // A user who is removed from the configuration loses access immediately.
    const less = await startTestConsole(await openWorkshop(), {
      url,
      basePath: '/influencers',
      oidc: { ...oidc, operators: [] },
    });
    expect((await less.get('/influencers/', { cookie })).status).toBe(401);
    const out = await browser.open(`${url}/sign-out`, { method: 'POST', fields: {} });
    expect(out.text).toMatch(/^You are signed out of the console\./);
    expect([...browser.cookies(url).keys()]).toEqual([]);
    // A copy of the cookie is worth nothing any more.
    const copied = await fetch(`${url}/live`, { headers: { cookie }, redirect: 'manual' });
    expect(copied.status).toBe(401);
    // Nor in another process, or after a restart.
    expect((await again.get('/influencers/', { cookie })).status).toBe(401);
  });

  it('is opened only by page visits; scripts, forms and programs get a 401', async () => {
    const { url } = await openSignedConsole();
    for (const headers of [{ 'sec-fetch-mode': 'cors' }, { accept: '*/*' }]) {
      const response = await fetch(`${url}/live`, { headers, redirect: 'manual' });
      expect(response.status).toBe(401);
    }
    const form = await fetch(`${url}/schedules/pause`, { method: 'POST', redirect: 'manual' });
    expect(form.status).toBe(401);
  });

  it('accepts no cookie of another key, no response for another browser, and no return address on another site', async () => {
    const { url, oidc } = await openSignedConsole();
    const victim = new Browser();
    const attacker = new Browser();
    await attacker.signIn(`${url}/`, 'ann');
    const answer = attacker.visited.find((address) => address.includes('/signed-in')) ?? '';
    expect(await victim.open(answer)).toMatchObject({ status: 400 });
    const cookie = [...attacker.cookies(url)].map(([name, value]) => `${name}=${value}`).join('; ');
    const other = await startTestConsole(await openWorkshop(), {
      url,
      basePath: '/influencers',
      oidc: { ...oidc, clientSecret: 'another secret' },
    });
    expect((await other.get('/influencers/', { cookie })).status).toBe(401);
    // A session cookie is not accepted as a sign-in cookie.
    const [session = ''] = [...attacker.cookies(url).values()];
    const forged = await fetch(`${url}/signed-in?code=1&state=1`, {
      headers: { cookie: `influencer_sync_sign_in=${session}` },
    });
    expect(forged.status).toBe(400);
    const led = await new Browser().signIn(
      `${url}/sign-in?return_to=${encodeURIComponent('//evil.example/')}`,
      'ann',
    );
    expect(led.url).toBe(`${url}/`);
  });

  it('that refuses a user is logged with its error code alone, without personal data', async () => {
    const { url, oidc, errors } = await openSignedConsole();
    const browser = new Browser();
    await browser.open(`${url}/sign-in`);
    const asked = browser.visited.find((address) => new URL(address).searchParams.has('state')) ?? '';
    const refusal = new URLSearchParams({
      error: 'access_denied',
      error_description: 'ann@shop.example is not assigned',
      state: new URL(asked).searchParams.get('state') ?? '',
      iss: oidc.issuer,
    });
    expect(await browser.open(`${url}/signed-in?${refusal}`)).toMatchObject({ status: 403 });
    const logged = errors.splice(0);
    expect(logged).toEqual([new Error('Signing in failed: access_denied')]);
    expect(inspect(logged, { depth: null })).not.toContain('ann@shop.example');
  });

  it('that is unreachable causes a message, and is contacted again the next time', async () => {
    const port = await findFreePort();
    const { url, errors } = await openSignedConsole({ settings: { issuer: `http://127.0.0.1:${port}` } });
    const { status, text } = await new Browser().open(`${url}/`);
    expect([status, text]).toEqual([503, expect.stringContaining('The sign-in provider did not answer.')]);
    expect(errors.splice(0)).toEqual([new Error('Signing in failed: ECONNREFUSED')]);
  });
});
