/** Servers refuse longer ones. */
const MAX_CHARS = 8_192;

/**
 * Host and path of a web address, which is what two spellings of one link share: `https://www.Acme.test/mia/?x=1` and
 * `http://acme.test/mia` are `acme.test/mia`.
 *
 * @returns null where it is no web address, or names only a host, where many links lead.
 */
export function foldLink(text: string): string | null {
  if (text.length > MAX_CHARS) return null;
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  const path = url?.pathname.replace(/(?<!\/)\/+$/, '') ?? '';
  return url === null || path === '' ? null : `${url.host.replace(/^www\./, '')}${decode(path)}`;
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // A stray % is part of it.
  }
}
