import { statSync } from 'node:fs';
import type {
  AttributeOrdersSettings,
  JobSettings,
  PipelineConfig,
  SourceSettings,
} from '../model/config.ts';
import { didYouMean } from '../model/did-you-mean.ts';
import type { Problem } from '../model/known-error.ts';
import { STATUS_WORDS } from '../model/status-words.ts';
import { checkTiming, helpForTimeZone, isTimeZone } from './check-timing.ts';
import type { Finding } from './finding.ts';
import { layoutFolders, layoutNames, statusWords } from './layout-folders.ts';
import { type ConfigPath, type Places, shortPath } from './locate.ts';

/**
 * What no single value can show: names that must exist, words that another authority defines, settings that must fit each other.
 *
 * @param sourceNames every source that the file names, also one that has a problem of its own.
 */
export function crossCheck(
  config: PipelineConfig,
  places: Places,
  sourceNames: readonly string[],
): readonly Problem[] {
  const findings: readonly Finding[] = [
    ...checkApi(config),
    ...checkDatabase(config),
    ...checkServe(config),
    ...Object.values(config.sources).flatMap((source) => [
      ...checkSource(source, config.path),
      ...checkPlatform(source, config),
    ]),
    ...checkJobs(config, sourceNames),
  ];
  return findings.map(({ path, message, help }) => ({ where: places.where(path), message, help }));
}

function* checkApi({ api }: PipelineConfig): Generator<Finding> {
  const path = ['api', 'url'];
  const url = api.url === '' ? null : URL.parse(api.url);
  if (
    api.url !== '' &&
    (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '')
  ) {
    yield {
      path,
      message: 'api.url is not a web address.',
      help: 'Write it like https://api.example.com, or leave it empty.',
    };
  } else if (url !== null && (url.username !== '' || url.password !== '')) {
    yield {
      path,
      message: 'api.url carries a user name or password.',
      help: 'The key belongs into api.key; the address stands alone.',
    };
  } else if (url !== null && (url.search !== '' || url.hash !== '')) {
    yield {
      path,
      message: 'api.url has a part after ? or #.',
      help: 'Write only the address, for example https://api.example.com.',
    };
  } else if (url !== null && /\/v1$/.test(url.pathname.replace(/\/+$/, ''))) {
    yield {
      path,
      message: 'api.url ends with /v1, which every operation adds by itself.',
      help: 'Leave /v1 out.',
    };
  }
  if (api.leaseSeconds <= api.timeoutSeconds) {
    yield {
      path: ['api', 'lease_seconds'],
      message: `api.lease_seconds (${api.leaseSeconds}) is not longer than api.timeout_seconds (${api.timeoutSeconds}): a slow answer would be taken for a lost process.`,
      help: 'Raise lease_seconds or lower timeout_seconds; twice as long is a good choice.',
    };
  }
}

function* checkServe({ api, serve }: PipelineConfig): Generator<Finding> {
  if (serve.graceSeconds > api.timeoutSeconds) return;
  yield {
    path: ['serve', 'grace_seconds'],
    message: `serve.grace_seconds (${serve.graceSeconds}) is not longer than api.timeout_seconds (${api.timeoutSeconds}): a stop could cut a request whose answer is still to come.`,
    help: 'Raise grace_seconds or lower timeout_seconds.',
  };
}

function* checkDatabase({ database }: PipelineConfig): Generator<Finding> {
  if (database.url === '') return;
  const protocol = URL.parse(database.url)?.protocol;
  if (protocol === 'postgres:' || protocol === 'postgresql:') return;
  const help =
    'Write it like postgres://user:password@host:5432/name (special characters in the password %-encoded), or leave it empty.';
  yield {
    path: ['database', 'url'],
    message: 'database.url is not the address of a Postgres database.',
    help,
  };
}

function* checkSource(source: SourceSettings, configPath: string): Generator<Finding> {
  const at = (key: string): ConfigPath => ['sources', source.name, key];
  const title = `sources.${source.name}`;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source.uri) && !/^s3:\/\/[^/]+(\/.*)?$/.test(source.uri)) {
    const help = 'Write s3://bucket/prefix/ or the path of a folder.';
    yield { path: at('uri'), message: `${title}.uri is neither an S3 address nor a folder.`, help };
  }
  yield* checkStore(source, at);
  const layouts = layoutNames(configPath);
  if (!layouts.includes(source.layout)) {
    const near = didYouMean(source.layout, layouts);
    const folder = shortPath(layoutFolders(configPath)[0] ?? '');
    const known =
      layouts.length === 0
        ? `Put ${source.layout}.yaml into ${folder}/.`
        : `There are: ${layouts.join(', ')}. Your own go into ${folder}/.`;
    const help = near === null ? known : `Did you mean "${near}"? ${known}`;
    yield { path: at('layout'), message: `${title}.layout: there is no layout "${source.layout}".`, help };
  }
  if (source.timeZone !== null && !isTimeZone(source.timeZone)) {
    yield {
      path: at('time_zone'),
      message: `${title}.time_zone: "${source.timeZone}" is not a time zone.`,
      help: helpForTimeZone(source.timeZone),
    };
  }
  if (source.currency !== null && !Intl.supportedValuesOf('currency').includes(source.currency)) {
    const near = didYouMean(source.currency, Intl.supportedValuesOf('currency'));
    const known = 'Write the three letters of ISO 4217, for example EUR.';
    const help = near === null ? known : `Did you mean "${near}"? ${known}`;
    yield {
      path: at('currency'),
      message: `${title}.currency: "${source.currency}" is not a currency.`,
      help,
    };
  }
}

/** How the store of a source is reached. */
function* checkStore(source: SourceSettings, at: (key: string) => ConfigPath): Generator<Finding> {
  const title = `sources.${source.name}`;
  if (!/^s3:/i.test(source.uri)) {
    for (const key of ['endpoint', 'region', 'profile'] as const) {
      if (source[key] === null) continue;
      const help = 'It is for s3:// addresses: take it out, or correct the uri.';
      yield { path: at(key), message: `${title}.${key} has no meaning for a folder.`, help };
    }
    return;
  }
  if (source.endpoint === null) return;
  const url = URL.parse(source.endpoint);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    yield {
      path: at('endpoint'),
      message: `${title}.endpoint is not a web address.`,
      help: 'Write it like https://minio.example.com:9000, without the bucket.',
    };
  } else if (url.username !== '' || url.password !== '') {
    yield {
      path: at('endpoint'),
      message: `${title}.endpoint carries a user name or password.`,
      help: 'Credentials belong into the environment (AWS_ACCESS_KEY_ID) or a profile; the address stands alone.',
    };
  }
}

function* checkJobs(config: PipelineConfig, sources: readonly string[]): Generator<Finding> {
  const taken = new Map<string, string>();
  for (const job of Object.values(config.jobs)) {
    const at = (key: string): ConfigPath => ['jobs', job.name, key];
    const title = `jobs.${job.name}`;
    yield* checkTiming(job, config.jobs);
    for (const [index, source] of job.sources.entries()) {
      const path = job.sources.length > 1 ? [...at('source'), index] : at('source');
      if (!sources.includes(source)) {
        const near = didYouMean(source, sources);
        const help =
          near === null
            ? `Add it under sources, or use one of: ${sources.join(', ') || '(none yet)'}.`
            : `Did you mean "${near}"?`;
        yield { path, message: `${title}.source: there is no source "${source}".`, help };
      } else if (job.sources.indexOf(source) !== index) {
        yield { path, message: `${title}.source names "${source}" twice.`, help: 'Name it once.' };
      }
      const claim = `${job.kind} ${source}`;
      const other = taken.get(claim);
      if (other !== undefined && other !== job.name) {
        const help =
          job.kind === 'identify-customers'
            ? 'Let one job read each source; for the customers of another brand, name a second source with the same uri.'
            : 'Let one job read each source; codes.csv can name a brand for each code.';
        yield {
          path,
          message: `${title} reads source "${source}", which jobs.${other} of the same kind reads already.`,
          help,
        };
      }
      taken.set(claim, other ?? job.name);
    }
    if (job.kind === 'attribute-orders') yield* checkInclude(job, config);
    yield* checkCustomers(job, { taken, path: at('brand_id') });
    if (job.kind === 'mirror-account') {
      const other = taken.get(job.kind);
      if (other !== undefined) {
        const help = 'One job mirrors all of the account. Take one of them out.';
        yield {
          path: at('kind'),
          message: `${title} mirrors the account, which jobs.${other} does already.`,
          help,
        };
      }
      taken.set(job.kind, job.name);
    }
    if (job.kind === 'attribute-orders' && job.codes !== null && !isFile(job.codes)) {
      const help =
        'The path is relative to this file. Columns: code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to.';
      yield { path: at('codes'), message: `${title}.codes: there is no file ${shortPath(job.codes)}.`, help };
    }
  }
}

/** Status words are the shop's own, so any is taken but those that look like a misspelling of a word that its layouts, or shops, use. */
function* checkInclude(job: AttributeOrdersSettings, config: PipelineConfig): Generator<Finding> {
  const layouts = job.sources.flatMap((name) => config.sources[name]?.layout ?? []);
  const known = [...layouts.flatMap((layout) => statusWords(config.path, layout)), ...STATUS_WORDS];
  for (const [index, word] of (job.include ?? []).entries()) {
    const near = known.includes(word) ? null : didYouMean(word, known);
    if (near === null) continue;
    yield {
      path: ['jobs', job.name, 'include', index],
      message: `jobs.${job.name}.include: "${word}" is no status that the layout ${layouts.join(' or ')} knows.`,
      help: `Did you mean "${near}"? If the shop does write "${word}", name it in status.words of a layout of your own.`,
    };
  }
}

/** One job a brand: then no two runs can submit the same customer. */
function* checkCustomers(
  job: JobSettings,
  { taken, path }: { readonly taken: Map<string, string>; readonly path: ConfigPath },
): Generator<Finding> {
  if (job.kind !== 'identify-customers') return;
  const claim = `${job.kind} of brand ${job.brandId}`;
  const other = taken.get(claim);
  taken.set(claim, other ?? job.name);
  if (other === undefined) return;
  yield {
    path,
    message: `jobs.${job.name} identifies the customers of brand ${job.brandId}, which jobs.${other} does already.`,
    help: 'Let one job read all sources of a brand: source can be a list.',
  };
}

/** Without its platform an order has no identity at the service; only a source that is read for its customers alone needs none. */
function* checkPlatform(source: SourceSettings, { jobs }: PipelineConfig): Generator<Finding> {
  const kinds = Object.values(jobs).filter((job) => job.sources.some((name) => name === source.name));
  const isOfCustomers = kinds.length > 0 && kinds.every(({ kind }) => kind === 'identify-customers');
  if (source.orderPlatform !== '' || isOfCustomers) return;
  yield {
    path: ['sources', source.name, 'order_platform'],
    message: `sources.${source.name}.order_platform is missing.`,
    help: 'Add it: the name of the shop platform, for example order_platform: shopify',
  };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
