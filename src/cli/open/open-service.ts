import { readVariable } from '../../config/environment/read-variable.ts';
import { requireService } from '../../config/require-settings.ts';
import type { ApiSettings } from '../../config/schema.ts';
import { configurationError, refusal } from '../../core/known-error.ts';
import type { StoredVariables } from '../../core/variable.ts';
import { type Client, createClient } from '../../service/client.ts';
import { findConfig } from './find-config.ts';
import { type ConfigOptions, fetchStored, openConfig } from './open-config.ts';
import { readEnvFile } from './read-env-file.ts';

/** The service that a command calls, without the settings that only jobs need. */
export type Service = Pick<ApiSettings, 'url' | 'key' | 'timeoutSeconds'> &
  Partial<Pick<ApiSettings, 'description'>>;

/** Generous, because a person is waiting and a request that times out is in doubt. */
const TIMEOUT_SECONDS = 30;

/**
 * Finds the service in the configuration or, if there is no configuration file, in the environment.
 *
 * @throws KnownError `api_url_missing`, `api_key_missing`, `variable_unreadable`, or an error about the
 *   configuration (exit 2).
 */
export async function findService(
  options: ConfigOptions,
  { needsKey }: { needsKey: boolean },
): Promise<Service> {
  const shadowed = options.envFile === undefined ? [] : readEnvFile(options.envFile);
  for (const one of shadowed) options.onMisled?.(one);
  if (findConfig(options.config).path !== null) {
    const { envFile: _read, ...rest } = options;
    const config = await openConfig(rest);
    return config.api.url !== '' && !needsKey ? config.api : requireService(config);
  }
  const { url, key } = await readServiceVariables();
  if (url !== '' && (key !== '' || !needsKey)) return { url, key, timeoutSeconds: TIMEOUT_SECONDS };
  const variable = url === '' ? 'INFLUENCER_API_URL' : 'INFLUENCER_API_KEY';
  throw refusal({
    code: url === '' ? 'api_url_missing' : 'api_key_missing',
    message: `No service is configured: ${variable} is not set.`,
    help: 'For a trial, start the sandbox and use the url and key that it prints:\n  npx influencer-sync sandbox --port 4010',
    safe: 'Nothing was sent.',
  });
}

/** Reads address and key from the environment, in any of the supported ways; empty text if not set. */
export async function readServiceVariables(): Promise<Pick<ApiSettings, 'url' | 'key'>> {
  const stored = await fetchStored(() => ['INFLUENCER_API_URL', 'INFLUENCER_API_KEY']);
  return {
    url: requireReadable('INFLUENCER_API_URL', stored),
    key: requireReadable('INFLUENCER_API_KEY', stored),
  };
}

function requireReadable(name: string, stored: StoredVariables): string {
  const variable = readVariable(name, process.env, stored);
  if (variable.kind === 'value') return variable.text;
  const { message, help } = variable;
  const safe = 'Nothing was sent.';
  throw configurationError({ code: 'variable_unreadable', message, help, safe });
}

/** Opens a client. One connection suffices for the few requests of one command. */
export function openClient(
  { url, key, timeoutSeconds, description }: Service,
  { connections = 1 } = {},
): Client {
  const timeoutMs = timeoutSeconds * 1000;
  return createClient({
    url,
    key,
    connections,
    timeoutMs,
    connectTimeoutMs: Math.min(10_000, timeoutMs),
    ...(description === undefined ? {} : { service: description }),
  });
}
