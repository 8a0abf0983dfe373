import type { IncomingHttpHeaders } from 'node:http';

/**
 * Checks that a request that changes something does not come from another site: a foreign page must not send
 * forms with this person's sign-in. Browsers tell the origin in Sec-Fetch-Site. Older ones send Origin, which
 * is compared with the requested host. A request with neither does not come from a browser, so it carries
 * only the credentials of its sender. This is the rule of Go's CrossOriginProtection. Unlike a token in the
 * form, it needs no state and works behind any proxy.
 *
 * @returns null if the request is allowed, else the reason why not.
 */
export function findForeignOrigin(headers: IncomingHttpHeaders): string | null {
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return null;
  if (typeof site === 'string') return 'Another site sent this form, so nothing was changed.';
  const { origin, host } = headers;
  if (origin === undefined) return null;
  const from = URL.parse(origin)?.host;
  if (from !== undefined && from === host) return null;
  return 'The form came from another address than the one of this page, so nothing was changed.';
}

/** Returns the path if it stays on this server; null for anything that would lead elsewhere. */
export function localPath(path: unknown): string | null {
  return typeof path === 'string' && /^\/(?![/\\])[^\s\\]*$/.test(path) ? path : null;
}
