import type { ApiSettings, PipelineConfig } from '../model/config.ts';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';
import { shortPath } from './locate.ts';

/**
 * The service's settings for a command that sends: there is no default target.
 *
 * @throws KnownError `api_url_missing` or `api_key_missing` (exit 2).
 */
export function requireService(config: PipelineConfig): ApiSettings {
  const { url, key } = config.api;
  if (url !== '' && key !== '') return config.api;
  const missing = url === '' ? 'url' : 'key';
  throw new KnownError({
    code: `api_${missing}_missing`,
    message: url === '' ? 'No service is configured to send orders to.' : `There is no API key for ${url}.`,
    where: `api.${missing} in ${shortPath(config.path)}`,
    help:
      url === ''
        ? 'For a trial, start the sandbox and use the url and key that it prints:\n  npx influencer-sync sandbox --port 4010\n  INFLUENCER_API_URL=http://127.0.0.1:4010 INFLUENCER_API_KEY=… npx influencer-sync run <job>\nTo go live, set INFLUENCER_API_URL and INFLUENCER_API_KEY to those of the service.'
        : 'Set INFLUENCER_API_KEY to the key on the API integration page of the service (or the one that the sandbox printed).',
    safe: 'Nothing was sent.',
    exitCode: EXIT.configuration,
  });
}
