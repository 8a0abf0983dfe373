import type { Misled } from './environment/unused-variables.ts';
import type { PipelineConfig } from './schema.ts';

/** SSL modes that encrypt. `prefer` encrypts if the server supports it. */
const ENCRYPTING = ['prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/**
 * Finds unencrypted connections to other machines that carry a secret or customers' data: the service's key
 * over http://, or a database without TLS. Connections to this machine are ignored. Messages contain no
 * password.
 *
 * @param pgSslMode PGSSLMODE, which applies if an address has no sslmode.
 */
export function findPlainConnections(
  { api, database, notify }: Pick<PipelineConfig, 'api' | 'database' | 'notify'>,
  pgSslMode = '',
): readonly Misled[] {
  const found: Misled[] = [];
  const service = URL.parse(api.url);
  if (service?.protocol === 'http:' && !isThisMachine(service.hostname)) {
    found.push({
      message: `The API key and all orders go to ${service.host} without encryption (http://).`,
      help: 'Write https:// in api.url (INFLUENCER_API_URL).',
    });
  }
  for (const [setting, url] of [
    ['database.url', database.url],
    ['database.bi_url', database.biUrl],
  ] as const) {
    const parsed = URL.parse(url);
    if (parsed === null || isThisMachine(parsed.hostname) || isEncrypted(parsed, pgSslMode)) continue;
    found.push({
      message: `The connection to the database ${parsed.host} is not encrypted: the address (${setting}) has no sslmode.`,
      help: `Add  ?sslmode=verify-full  to the address in ${setting}, with  &sslrootcert=FILE  if the certificate of the server is not signed by a public authority.`,
    });
  }
  for (const channel of notify.channels) {
    const isPlain =
      channel.kind === 'email'
        ? channel.encryption === 'none' && !isThisMachine(channel.host)
        : /^http:/i.test(channel.url) && !isThisMachine(URL.parse(channel.url)?.hostname ?? '');
    if (!isPlain) continue;
    const setting = `notify.channels.${channel.name}`;
    found.push({
      message: `Notices go to ${setting} without encryption.`,
      help:
        channel.kind === 'email'
          ? `Write  encryption: starttls  or  tls  in ${setting}.`
          : `Write https:// in ${setting}.url.`,
    });
  }
  return found;
}

function isEncrypted({ searchParams }: URL, pgSslMode: string): boolean {
  const ssl = searchParams.get('ssl');
  return ENCRYPTING.includes(searchParams.get('sslmode') ?? pgSslMode) || ssl === 'true' || ssl === '1';
}

/** @returns true if the host is this machine, by its name or address. An empty host means a local socket. */
function isThisMachine(hostname: string): boolean {
  return (
    hostname === '' ||
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    hostname.startsWith('%2F') ||
    /^127(\.\d{1,3}){3}$/.test(hostname)
  );
}
