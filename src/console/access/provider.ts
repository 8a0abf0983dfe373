import { hkdfSync, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Configuration } from 'openid-client';
import type { OidcSettings } from '../../config/console-fields.ts';
import { isLoopback } from '../../core/http/is-loopback.ts';
import type { SignOuts } from '../../ops/sign-outs.ts';
import type { Actor } from '../console-page.ts';
import { findForeignOrigin, localPath } from './check-origin.ts';

/**
 * Sign-in with an OpenID Connect provider: authorization code with PKCE, state and nonce. The server stores
 * no sessions; the database only remembers which were signed out (`SignOuts`). The signed-in person is in a cookie that
 * is encrypted with a key derived from the client's secret, so it survives a restart and is valid for every replica. It
 * contains the name and those groups that the configuration names. The role is determined anew for each request.
 */
export type ProviderSignIn = {
  /** Adds the routes for signing in and out, which need no sign-in themselves. */
  addRoutes(scope: FastifyInstance): void;
  /**
   * The person of a request's cookie with their current role; null if there is no valid cookie or the person
   * has no access.
   */
  actorOf(headers: IncomingHttpHeaders): Promise<Actor | null>;
  /**
   * The address at which a browser starts to sign in.
   * @param path page to return to.
   */
  startAt(path: string): string;
};

/** A working day. A person who has lost access keeps it no longer than this. */
const SESSION_SECONDS = 12 * 3_600;
/** Time limit of a sign-in, after which it must be started again. */
const SIGN_IN_SECONDS = 600;
const PROVIDER_TIMEOUT_SECONDS = 10;

const SESSION = 'influencer_sync_session';
const SIGN_IN = 'influencer_sync_sign_in';

/** The content of the session cookie. */
type Session = { readonly name: string; readonly groups: readonly string[] };

/** @param options.url address at which people open the console (`console.url`). */
export function createProviderSignIn(
  settings: OidcSettings,
  { url, signOuts, onError }: { url: string; signOuts: SignOuts; onError: (error: unknown) => void },
): ProviderSignIn {
  const base = new URL(`${url}/`);
  const cookies = sealedCookies(base, settings.clientSecret);
  let discovered: Promise<Configuration> | null = null;

  /**
   * Discovers the provider at the first sign-in, so that an unreachable provider does not prevent the start.
   */
  function provider(): Promise<Configuration> {
    discovered ??= discover(settings).catch((error: unknown) => {
      discovered = null;
      throw error;
    });
    return discovered;
  }

  /** Resolves to null if something fails, which the log says. */
  function orNull<Result>(asked: Promise<Result>): Promise<Result | null> {
    return asked.catch((error: unknown) => {
      onError(describe(error));
      return null;
    });
  }

  /** Sends the browser to the provider. */
  async function begin(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const client = await import('openid-client');
    const configuration = await orNull(provider());
    if (configuration === null)
      return say(reply, 503, 'The sign-in provider did not answer. Try again, or ask its administrator.');
    const attempt = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
      returnTo: (request.query as { readonly return_to?: string }).return_to ?? '/',
    };
    await cookies.set(reply, SIGN_IN, { content: attempt, seconds: SIGN_IN_SECONDS });
    const target = client.buildAuthorizationUrl(configuration, {
      redirect_uri: new URL('signed-in', base).href,
      scope: settings.scope,
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
    });
    return reply.header('cache-control', 'no-store').redirect(target.href, 303);
  }

  /** Takes the browser back from the provider, and remembers who signed in. */
  async function finish(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const attempt = await cookies.read(request.headers, SIGN_IN);
    if (attempt === null)
      return say(
        reply,
        400,
        `This sign-in took too long, or was started in another browser. Open ${base.href} to start again.`,
      );
    cookies.remove(reply, SIGN_IN);
    const here = new URL(`signed-in${new URL(request.url, base).search}`, base);
    const session = await orNull(identify(here, attempt));
    if (session === null)
      return say(reply, 403, `The provider did not sign you in. Open ${base.href} to try again.`);
    if (toActor(session, settings) === null)
      return say(
        reply,
        403,
        'You are signed in, but you may not see the console: console.auth.oidc lists who may.',
      );
    await cookies.set(reply, SESSION, { content: session, seconds: SESSION_SECONDS });
    return reply
      .header('cache-control', 'no-store')
      .redirect(localPath(attempt.returnTo) ?? base.pathname, 303);
  }

  async function signOut(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const foreign = findForeignOrigin(request.headers);
    if (foreign !== null) return say(reply, 403, foreign);
    const content = await cookies.read(request.headers, SESSION);
    // A copy of the cookie is worth nothing from now on, in no process.
    if (content !== null) await signOuts.add(String(content.jti), new Date(Number(content.exp) * 1000));
    cookies.remove(reply, SESSION);
    return say(
      reply,
      200,
      'You are signed out of the console. You may still be signed in at the provider; sign out there, too.',
    );
  }

  return {
    startAt: (path) => `${base.pathname}sign-in?${new URLSearchParams({ return_to: path })}`,
    async actorOf(headers) {
      const content = await cookies.read(headers, SESSION);
      return content === null || (await signOuts.includes(String(content.jti)))
        ? null
        : toActor(readSession(content), settings);
    },
    addRoutes(scope) {
      scope.get('/sign-in', begin);
      scope.get('/signed-in', finish);
      scope.post('/sign-out', signOut);
    },
  };

  /** Exchanges the code of the provider for who the person is. Null if it does not say so reliably. */
  async function identify(here: URL, attempt: Readonly<Record<string, unknown>>): Promise<Session | null> {
    const client = await import('openid-client');
    const configuration = await provider();
    const tokens = await client.authorizationCodeGrant(configuration, here, {
      pkceCodeVerifier: String(attempt.verifier),
      expectedState: String(attempt.state),
      expectedNonce: String(attempt.nonce),
      idTokenExpected: true,
    });
    const identity = tokens.claims();
    if (identity === undefined) return null;
    // Some providers put only the subject into the token and return the other claims from the userinfo
    // endpoint.
    const isWhole = settings.nameClaim in identity && settings.groupsClaim in identity;
    const more =
      isWhole || configuration.serverMetadata().userinfo_endpoint === undefined
        ? {}
        : await client.fetchUserInfo(configuration, tokens.access_token, identity.sub);
    const claims: Record<string, unknown> = { ...more, ...identity };
    // A person who can register an unverified address must not become someone else.
    if (settings.nameClaim === 'email' && !isVerified(claims.email_verified, settings)) return null;
    const name = claims[settings.nameClaim];
    if (typeof name !== 'string' || name.trim() === '') return null;
    const given = claims[settings.groupsClaim];
    // Some providers send one group as a text.
    const groups = [given].flat().filter((group) => typeof group === 'string');
    const named = [...settings.operatorGroups, ...settings.marketingGroups, ...settings.viewerGroups];
    return { name: name.trim(), groups: groups.filter((group) => named.includes(group)) };
  }
}

/** Content of cookies that only this console can read or make. */
type SealedCookies = {
  set(
    reply: FastifyReply,
    name: string,
    cookie: { readonly content: object; readonly seconds: number },
  ): Promise<void>;
  /** The content of a cookie; null if there is none, if it has expired, or if another program made it. */
  read(headers: IncomingHttpHeaders, name: string): Promise<Readonly<Record<string, unknown>> | null>;
  remove(reply: FastifyReply, name: string): void;
};

function sealedCookies(base: URL, secret: string): SealedCookies {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'influencer-sync console', 32));
  const send = (reply: FastifyReply, name: string, value: string, maxAge: number): void => {
    const cookie = stringifySetCookie({
      name,
      value,
      path: base.pathname.replace(/\/$/, '') || '/',
      httpOnly: true,
      // Sent when the provider redirects back here, but never with a form of another site.
      sameSite: 'lax',
      secure: base.protocol === 'https:',
      maxAge,
    });
    reply.header('set-cookie', cookie);
  };
  return {
    async set(reply, name, { content, seconds }) {
      // Loaded with the first sign-in, as the client of the provider is.
      const { EncryptJWT } = await import('jose');
      const value = await new EncryptJWT({ ...content })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setAudience(name)
        .setJti(randomUUID())
        .setIssuedAt()
        .setExpirationTime(`${seconds} seconds`)
        .encrypt(key);
      send(reply, name, value, seconds);
    },
    async read(headers, name) {
      const value = parseCookie(headers.cookie ?? '')[name];
      if (value === undefined) return null;
      const { jwtDecrypt } = await import('jose');
      try {
        return (await jwtDecrypt(value, key, { audience: name })).payload;
      } catch {
        return null;
      }
    },
    remove: (reply, name) => send(reply, name, '', 0),
  };
}

/** Only `true` says that the address is the person's own. That nothing is said is enough only if the settings say so. */
function isVerified(claim: unknown, { mayLackEmailVerified }: OidcSettings): boolean {
  return claim === true || (mayLackEmailVerified && claim === undefined);
}

async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<Configuration> {
  const { allowInsecureRequests, discovery } = await import('openid-client');
  return discovery(new URL(issuer), clientId, clientSecret, undefined, {
    timeout: PROVIDER_TIMEOUT_SECONDS,
    // Unencrypted connections only to a provider on this machine, for a trial.
    execute: isLoopback(issuer) ? [allowInsecureRequests] : [],
  });
}

/** Reduces an error to its code for the log. The rest may contain tokens or personal data. */
function describe(error: unknown): Error {
  const code = [error, (error as { readonly cause?: unknown }).cause]
    .flatMap((each) => {
      const { error: refusal, code: name } = (each ?? {}) as {
        readonly error?: unknown;
        readonly code?: unknown;
      };
      return [refusal, name];
    })
    .find((each) => typeof each === 'string');
  return new Error(`Signing in failed: ${typeof code === 'string' ? code : 'no reason was given'}`);
}

function readSession({ name, groups }: Readonly<Record<string, unknown>>): Session {
  return {
    name: typeof name === 'string' ? name : '',
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [],
  };
}

/**
 * Determines the role: the highest that a name or group is listed for, and none if it is in no list. Names and groups
 * are compared with separate lists, because people may choose their name and must not get the rights of a group with
 * the same name.
 */
function toActor({ name, groups }: Session, settings: OidcSettings): Actor | null {
  if (name === '') return null;
  const has = (names: readonly string[], of: readonly string[]): boolean =>
    names.includes(name) || groups.some((group) => of.includes(group));
  if (has(settings.operators, settings.operatorGroups)) return { name, role: 'operator' };
  if (has(settings.marketing, settings.marketingGroups)) return { name, role: 'marketing' };
  const isViewer = settings.viewers.includes('*') || has(settings.viewers, settings.viewerGroups);
  return isViewer ? { name, role: 'viewer' } : null;
}

function say(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .type('text/plain; charset=utf-8')
    .send(`${text}\n`);
}
