import { configurationError, type KnownError } from '../core/known-error.ts';
import { shortPath } from './locate.ts';
import type { ApiSettings, PipelineConfig } from './schema.ts';

/**
 * Returns the service's settings for a command that sends. There is no default target.
 *
 * @throws KnownError `api_url_missing` or `api_key_missing` (exit 2).
 */
export function requireService(config: PipelineConfig): ApiSettings {
  const { url, key } = config.api;
  if (url !== '' && key !== '') return config.api;
  const missing = url === '' ? 'url' : 'key';
  const variable = `INFLUENCER_API_${missing.toUpperCase()}`;
  // Whoever copied .env.example, or ran init, has a file with the names alone.
  if (config.blankVariables.includes(variable))
    throw configurationError({
      code: `api_${missing}_missing`,
      message: `No service is configured: ${variable} is blank.`,
      where: `api.${missing} in ${shortPath(config.path)}`,
      help: `Write the ${missing} of the service, or the one that the sandbox prints, after ${variable}= in the file that --env-file names, or set it in the environment. For a trial:\n  npx influencer-sync sandbox --port 4010`,
      safe: 'Nothing was sent.',
    });
  throw configurationError({
    code: `api_${missing}_missing`,
    message: url === '' ? 'No service is configured: api.url is empty.' : `There is no API key for ${url}.`,
    where: `api.${missing} in ${shortPath(config.path)}`,
    help:
      url === ''
        ? 'For a trial, start the sandbox and use the url and key that it prints:\n  npx influencer-sync sandbox --port 4010\n  export INFLUENCER_API_URL=http://127.0.0.1:4010 INFLUENCER_API_KEY=…\nTo go live, set both to those of the service. If a file such as .env has them, name it: --env-file .env'
        : 'Set INFLUENCER_API_KEY to the key on the API integration page of the service (or the one that the sandbox printed).',
    safe: 'Nothing was sent.',
  });
}

/** The number of hexadecimal digits of 128 bits. */
const MIN_CHARS = 32;

/** Secrets with which customers' addresses are hashed. */
export type CustomerKeys = {
  readonly current: string;
  /** The previous key, under which some customers are still known; null if there is none. */
  readonly previous: string | null;
};

/**
 * Returns the keys with which customers' addresses are hashed. There is no default: it would be public, and
 * anyone could test addresses with it.
 *
 * @throws KnownError `customer_key_missing`, `customer_key_short` (exit 2).
 */
export function requireCustomerKeys(config: PipelineConfig): CustomerKeys {
  const { hashKey: current, previousHashKey: previous } = config.customers;
  if (current.length < MIN_CHARS) throw keyUnusable(current, 'hash_key', config);
  if (previous === '' || previous === current) return { current, previous: null };
  if (previous.length < MIN_CHARS) throw keyUnusable(previous, 'previous_hash_key', config);
  return { current, previous };
}

function keyUnusable(
  key: string,
  setting: string,
  { path, variables }: Pick<PipelineConfig, 'path' | 'variables'>,
): KnownError {
  const isMissing = key === '';
  // The file that `init` writes names the variable already.
  const inFile = variables.includes('CUSTOMER_HASH_KEY')
    ? ''
    : `, and in pipeline.yaml:\n  customers: { hash_key: "\${CUSTOMER_HASH_KEY:-}" }`;
  return configurationError({
    code: isMissing ? 'customer_key_missing' : 'customer_key_short',
    message: isMissing
      ? 'The key for the hashes of customers’ addresses is missing.'
      : `The key for the hashes of customers’ addresses has ${key.length} characters; it needs ${MIN_CHARS}.`,
    where: `customers.${setting} in ${shortPath(path)}`,
    help: `Create it once, and keep it as long as the database:\n  openssl rand -hex 32\nThen set CUSTOMER_HASH_KEY to it (in .env, or with your other secrets)${inFile}`,
    safe: 'Nothing was read or sent.',
  });
}
