import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** Cost of one attempt, as OWASP recommends: about 120 ms and 64 MB on a small server. Older hashes name their own cost. */
const COST = { N: 2 ** 16, r: 8, p: 2 } as const;
const KEY_BYTES = 32;
const SALT_BYTES = 16;

/**
 * Hashes a password with a new salt.
 * @param cost of one attempt, which the hash names.
 * @returns a value for `console.auth.users[].password_hash`: `scrypt:<N>:<r>:<p>:<salt>:<hash>`, salt and
 *   hash in base64.
 */
export async function hashPassword(password: string, cost: Cost = COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt, cost);
  return `scrypt:${cost.N}:${cost.r}:${cost.p}:${salt.toString('base64')}:${key.toString('base64')}`;
}

/** @returns true if `verifyPassword` can read the text as a hash. */
export function isPasswordHash(text: string): boolean {
  return parse(text) !== null;
}

/** Compares a password with a hash. Takes as long for a wrong password as for the right one. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const parsed = parse(hash);
  if (parsed === null) return false;
  const key = await derive(password, parsed.salt, parsed.cost);
  return timingSafeEqual(key, parsed.key);
}

type Cost = { readonly N: number; readonly r: number; readonly p: number };

function parse(text: string): { readonly cost: Cost; readonly salt: Buffer; readonly key: Buffer } | null {
  const [, n, r, p, salt, key] =
    /^scrypt:(\d{4,7}):(\d{1,2}):(\d{1,2}):([\w+/=]{16,64}):([\w+/=]{43,44})$/.exec(text) ?? [];
  if (salt === undefined || key === undefined) return null;
  const parsed = {
    cost: { N: Number(n), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64'),
    key: Buffer.from(key, 'base64'),
  };
  return parsed.key.length === KEY_BYTES ? parsed : null;
}

function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // scrypt needs 128 * N * r bytes; Node's default limit is lower.
  const maxmem = 160 * cost.N * cost.r;
  scrypt(password.normalize('NFC'), salt, KEY_BYTES, { ...cost, maxmem }, (error, key) =>
    error === null ? resolve(key) : reject(error),
  );
  return promise;
}
