import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { ConsoleSettings } from '../../config/console-fields.ts';
import { hostInUrl, isLoopback } from '../../core/http/is-loopback.ts';
import { configurationError } from '../../core/known-error.ts';
import type { Actor } from '../console-page.ts';
import { isPasswordHash, verifyPassword } from './password.ts';
import type { ProviderSignIn } from './provider.ts';

/** The parts of a request that identify its sender. */
export type Credentials = { readonly headers: IncomingHttpHeaders; readonly address: string };

export type SignIn =
  | { readonly kind: 'actor'; readonly actor: Actor }
  /** The request is refused with this status and reason. */
  | { readonly kind: 'refused'; readonly status: 401 | 403 | 429; readonly why: string };

export type Authenticate = (credentials: Credentials) => Promise<SignIn>;

const MIN_TOKEN_CHARS = 32;
/**
 * Limits of passwords that are tried: five a minute for a name from an address, so that nobody is locked out by others
 * behind the same address, and some more for all names together.
 */
const TRIES = { points: 5, duration: 60 } as const;
const TRIES_OF_ADDRESS = { points: 30, duration: 60 } as const;
/** How many attempts may wait for their hash, whatever addresses they come from: about ten seconds of work. */
const MAX_WAITING = 100;
/** How long a correct password is remembered, so that its hash is not computed again. */
const REMEMBER_MS = 5 * 60_000;
const MAX_REMEMBERED = 1_000;

/**
 * Creates the function that identifies the sender of a request. Without users, tokens, a proxy or a provider,
 * the console is open to the person at this machine, and only on a loopback address. A page elsewhere whose
 * host name points to this machine is refused, by the host name in the request.
 *
 * @param options.localActor name of the person at this machine.
 * @throws KnownError `console_auth_missing`, `console_auth_invalid` (exit 2).
 */
export function createAuthenticate(
  settings: ConsoleSettings,
  {
    host,
    localActor,
    provider = null,
  }: {
    readonly host: string;
    readonly localActor: string;
    /** The sign-in of an OpenID Connect provider, if configured. */
    readonly provider?: Pick<ProviderSignIn, 'actorOf'> | null;
  },
): Authenticate {
  const { users, tokens, proxy } = settings;
  checkSettings(settings);
  if (users.length === 0 && tokens.length === 0 && proxy === null && provider === null) {
    if (!isLoopback(`http://${hostInUrl(host)}`))
      throw configurationError({
        code: 'console_auth_missing',
        message: 'The console would be open to everybody who reaches this address.',
        where: host,
        help: 'Say who may see it in console.auth (docs/console.md), listen on 127.0.0.1, or set  console: {enabled: false} .',
        safe: 'Nothing was run.',
      });
    return async ({ headers }) =>
      isLoopback(`http://${headers.host ?? ''}`)
        ? { kind: 'actor', actor: { name: localActor, role: 'operator' } }
        : refused(403, 'Open the console as http://127.0.0.1 or http://localhost.');
  }
  const byToken = tokens.map((token) => ({ actor: token, digest: digestOf(token.token) }));
  const trusted = proxy === null ? null : networks(proxy.trusted);
  const ofName = new RateLimiterMemory({ keyPrefix: 'name', ...TRIES });
  const ofAddress = new RateLimiterMemory({ keyPrefix: 'address', ...TRIES_OF_ADDRESS });
  // One hash at a time: each needs 64 MB and a core.
  let hashing: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const remembered = new Map<string, { readonly actor: Actor; readonly untilMs: number }>();
  const checks = new Map<string, Promise<SignIn>>();
  const salt = randomBytes(16).toString('hex');

  async function byPassword(header: string, address: string): Promise<SignIn> {
    const key = digestOf(salt + header).toString('hex');
    const known = remembered.get(key);
    if (known !== undefined && known.untilMs > performance.now())
      return { kind: 'actor', actor: known.actor };
    // A browser asks for many things at once with one password: that is one attempt.
    const attempt = `${address} ${key}`;
    const check =
      checks.get(attempt) ?? checkPassword(header, address, key).finally(() => checks.delete(attempt));
    checks.set(attempt, check);
    return check;
  }

  async function checkPassword(header: string, address: string, key: string): Promise<SignIn> {
    const [name, password] = parseBasic(header);
    const who = `${address} ${digestOf(name).toString('hex')}`;
    // Counted before it is checked, so that attempts at the same time are limited as well. What the limit of the name
    // refuses does not count for the address, which others may share.
    if (waiting >= MAX_WAITING)
      return refused(429, 'Too many people sign in at present. Try again in a minute.');
    const mayTry = await ofName
      .consume(who)
      .then(() => ofAddress.consume(address))
      .then(
        () => true,
        () => false,
      );
    if (!mayTry) return refused(429, 'Too many wrong passwords. Try again in a minute.');
    const user = users.find((each) => each.name === name);
    // An unknown name takes as long as a known one.
    waiting += 1;
    const checking = hashing
      .then(() => verifyPassword(password, (user ?? users[0])?.passwordHash ?? ''))
      .finally(() => {
        waiting -= 1;
      });
    hashing = checking.catch(() => {});
    const isRight = await checking;
    if (user === undefined || !isRight) return refused(401, 'The name or the password is wrong.');
    await Promise.all([ofAddress.reward(address), ofName.reward(who)]);
    const actor = { name: user.name, role: user.role };
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(key, { actor, untilMs: performance.now() + REMEMBER_MS });
    return { kind: 'actor', actor };
  }

  return async (credentials) => {
    const signIn = await identify(credentials);
    return signIn.kind === 'actor'
      ? { kind: 'actor', actor: { ...signIn.actor, name: staffName(signIn.actor.name) } }
      : signIn;
  };

  async function identify({ headers, address }: Credentials): Promise<SignIn> {
    const { authorization = '' } = headers;
    if (/^bearer /i.test(authorization)) {
      const given = digestOf(authorization.slice('bearer '.length).trim());
      const found = byToken.find(({ digest }) => timingSafeEqual(digest, given));
      if (found !== undefined)
        return { kind: 'actor', actor: { name: found.actor.name, role: found.actor.role } };
      return refused(401, 'The token is unknown.');
    }
    if (proxy !== null && trusted?.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) {
      const name = headers[proxy.header.toLowerCase()];
      if (typeof name === 'string' && name.trim() !== '')
        return { kind: 'actor', actor: { name: name.trim(), role: roleOf(name.trim(), proxy) } };
    }
    if (users.length > 0 && /^basic /i.test(authorization)) return byPassword(authorization, address);
    const actor = await provider?.actorOf(headers);
    return actor ? { kind: 'actor', actor } : refused(401, 'Sign in to see the console.');
  }
}

/**
 * The name of a person who signs in by an e-mail address, so that the audit, which masks addresses, can tell people
 * apart: `ann (shop.example)` for `ann@shop.example`.
 */
function staffName(name: string): string {
  const [, local, domain] = /^([^@\s]+)@([^@\s]+)$/.exec(name) ?? [];
  return local === undefined ? name : `${local} (${domain})`;
}

/** The role of a person whom a proxy names. Those in no list are viewers. */
function roleOf(
  name: string,
  { operators, marketing }: NonNullable<ConsoleSettings['proxy']>,
): Actor['role'] {
  if (operators.includes(name)) return 'operator';
  return marketing.includes(name) ? 'marketing' : 'viewer';
}

function refused(status: 401 | 403 | 429, why: string): SignIn {
  return { kind: 'refused', status, why };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function parseBasic(header: string): readonly [name: string, password: string] {
  const text = Buffer.from(header.slice('basic '.length), 'base64').toString('utf8');
  const at = text.indexOf(':');
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** @throws Error if an entry is neither an address nor a network. */
function networks(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

function checkSettings({ users, tokens, proxy }: ConsoleSettings): void {
  const problem =
    users
      .filter(({ passwordHash }) => !isPasswordHash(passwordHash))
      .map(({ name }) => `The password_hash of ${name} was not created by this tool.`)[0] ??
    tokens
      .filter(({ token }) => token.length < MIN_TOKEN_CHARS)
      .map(({ name }) => `The token of ${name} is shorter than ${MIN_TOKEN_CHARS} characters.`)[0] ??
    proxy?.trusted
      .filter((entry) => !isNetwork(entry))
      .map((entry) => `${entry} is neither an address nor a network.`)[0];
  if (problem === undefined) return;
  throw configurationError({
    code: 'console_auth_invalid',
    message: problem,
    where: 'console.auth',
    help: 'Create a hash with  npx influencer-sync console --hash-password  and a token with  openssl rand -hex 32 . Write networks like 10.0.0.0/8.',
    safe: 'Nothing was run.',
  });
}

function isNetwork(entry: string): boolean {
  try {
    networks([entry]);
    return true;
  } catch {
    return false;
  }
}
