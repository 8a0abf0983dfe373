import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a request that changes something may come from where it comes: a page of another site must not send forms with this person's
 * sign-in. Browsers say so in Sec-Fetch-Site; older ones in Origin, which is compared with the host that the request was sent to. A request
 * with neither does not come from a browser, and carries no sign-in that its sender does not have. This is the rule of Go's
 * CrossOriginProtection; unlike a token in the form it needs no state and breaks behind no proxy.
 *
 * @returns null if it may, else why not.
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

/** A path of this server; null for anything that would lead elsewhere. */
export function localPath(path: unknown): string | null {
  return typeof path === 'string' && /^\/(?![/\\])[^\s\\]*$/.test(path) ? path : null;
}
