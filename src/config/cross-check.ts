import type { JobSettings, PipelineConfig } from '../core/config.ts';
import type { Problem } from '../core/known-error.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { isLoopback } from '../core/text/is-loopback.ts';
import { checkSource, findUnused } from './check-source.ts';
import { checkTiming } from './check-timing.ts';
import type { ConfigFinding, ConfiguredKind } from './configured-kind.ts';
import type { ConfigPath, Places } from './locate.ts';
import { checkStatements } from './money/check-statements.ts';
import { checkNotify } from './notify/check-notify.ts';
import type { PipelineFile } from './schema.ts';

/**
 * Checks what no single value shows: names that must exist, words that another authority defines, and
 * settings that must fit each other.
 *
 * @param options.sourceNames all sources in the file, including those with problems of their own.
 */
export function crossCheck(
  config: PipelineConfig,
  options: {
    readonly places: Places;
    readonly sourceNames: readonly string[];
    readonly kinds: readonly ConfiguredKind[];
    /** The sections `sources` as written, with all defaults filled in. */
    readonly written: PipelineFile['sources'];
  },
): readonly Problem[] {
  const { places, sourceNames, kinds, written } = options;
  const findings: readonly ConfigFinding[] = [
    ...checkApi(config),
    ...checkDatabase(config),
    ...checkServe(config),
    ...checkConsole(config),
    ...checkNotify(config),
    ...checkStatements(config),
    ...Object.values(config.sources).flatMap((source) => [...checkSource(source, { config, kinds })]),
    ...Object.entries(written).flatMap(([name, source]) => [...findUnused(name, source, { config, kinds })]),
    ...checkJobs(config, sourceNames, kinds),
  ];
  return findings.map(({ path, message, help }) => ({ where: places.where(path), message, help }));
}

function* checkApi({ api }: PipelineConfig): Generator<ConfigFinding> {
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
      message: 'api.url contains a user name or password.',
      help: 'Put the key into api.key, and write only the address here.',
    };
  } else if (url !== null && (url.search !== '' || url.hash !== '')) {
    yield {
      path,
      message: 'api.url contains a ? or #.',
      help: 'Write only the address, for example https://api.example.com.',
    };
  } else if (url !== null && /\/v1$/.test(url.pathname.replace(/\/+$/, ''))) {
    yield {
      path,
      message: 'api.url ends with /v1, which every operation adds already.',
      help: 'Leave /v1 out.',
    };
  }
  if (api.leaseSeconds <= api.timeoutSeconds) {
    yield {
      path: ['api', 'lease_seconds'],
      message: `api.lease_seconds (${api.leaseSeconds}) is not longer than api.timeout_seconds (${api.timeoutSeconds}): a slow answer would look like a lost process.`,
      help: 'Raise lease_seconds or lower timeout_seconds. A lease of twice the timeout is a good choice.',
    };
  }
}

function* checkServe({ api, serve }: PipelineConfig): Generator<ConfigFinding> {
  if (serve.graceSeconds > api.timeoutSeconds) return;
  yield {
    path: ['serve', 'grace_seconds'],
    message: `serve.grace_seconds (${serve.graceSeconds}) is not longer than api.timeout_seconds (${api.timeoutSeconds}): a stop could cut a request before its answer arrives.`,
    help: 'Raise grace_seconds or lower timeout_seconds.',
  };
}

/** Checks the address of the console and the settings of the OpenID Connect provider, which needs https. */
function* checkConsole({ console: { url, basePath, oidc } }: PipelineConfig): Generator<ConfigFinding> {
  const at = URL.parse(url);
  if (url !== '' && (at === null || !/^https?:$/.test(at.protocol))) {
    yield {
      path: ['console', 'url'],
      message: `console.url: "${url}" is not an address.`,
      help: 'Write it like https://ops.example.com, with console.base_path at its end where one is set.',
    };
  } else if (at !== null && at.pathname.replace(/\/$/, '') !== basePath) {
    yield {
      path: ['console', 'url'],
      message: `console.url ends with "${at.pathname}", and console.base_path is "${basePath === '' ? '/' : basePath}".`,
      help: 'Make both the same path.',
    };
  }
  if (oidc === null) return;
  const path: ConfigPath = ['console', 'auth', 'oidc'];
  if (url === '')
    yield {
      path,
      message:
        'console.auth.oidc needs console.url, to which the provider redirects people after the sign-in.',
      help: 'Add `url:` under console, for example `url: https://ops.example.com`, and register <url>/signed-in with the provider.',
    };
  if (URL.parse(oidc.issuer)?.protocol !== 'https:' && !isLoopback(oidc.issuer))
    yield {
      path: [...path, 'issuer'],
      message: `console.auth.oidc.issuer: "${oidc.issuer}" is not an https address.`,
      help: 'Write the issuer of the provider, like https://login.example.com/tenant.',
    };
  const { operators, operatorGroups, viewers, viewerGroups } = oidc;
  if ([operators, operatorGroups, viewers, viewerGroups].every((list) => list.length === 0))
    yield {
      path,
      message: 'console.auth.oidc lets nobody in.',
      help: "List the people who may change things in `operators` or `operator_groups`, and those who may only look in `viewers` or `viewer_groups`; `viewers: ['*']` is everybody whom the provider signs in.",
    };
}

function* checkDatabase({ database }: PipelineConfig): Generator<ConfigFinding> {
  if (database.url === '') return;
  const { protocol, hash } = URL.parse(database.url) ?? {};
  // A # ends the address, so a password that contains one would lose its end, and the host with it.
  if (hash === '' && (protocol === 'postgres:' || protocol === 'postgresql:')) return;
  const help =
    'Write it like postgres://user:password@host:5432/name (special characters in the password %-encoded), or leave it empty.';
  yield {
    path: ['database', 'url'],
    message: 'database.url is not the address of a Postgres database.',
    help,
  };
}

function* checkJobs(
  config: PipelineConfig,
  sourceNames: readonly string[],
  kinds: readonly ConfiguredKind[],
): Generator<ConfigFinding> {
  const jobs = Object.values(config.jobs);
  for (const [index, job] of jobs.entries()) {
    const kind = kinds.find((candidate) => candidate.kind === job.kind);
    const before = jobs.slice(0, index).filter((other) => other.kind === job.kind);
    yield* checkTiming(job, config.jobs);
    yield* checkSourcesOf(job, { sourceNames, before, oneReaderHelp: kind?.oneReaderHelp ?? '' });
    yield* kind?.crossCheck?.(job, { config, before }) ?? [];
  }
}

/**
 * Checks that the sources of a job exist, that each is named once, and that no other job of its kind reads
 * them.
 */
function* checkSourcesOf(
  job: JobSettings,
  options: {
    readonly sourceNames: readonly string[];
    readonly before: readonly JobSettings[];
    readonly oneReaderHelp: string;
  },
): Generator<ConfigFinding> {
  const { sourceNames, before, oneReaderHelp: help } = options;
  const title = `jobs.${job.name}`;
  for (const [index, source] of job.sources.entries()) {
    const path = ['jobs', job.name, 'source', ...(job.sources.length > 1 ? [index] : [])];
    if (!sourceNames.includes(source)) {
      yield {
        path,
        message: `${title}.source: there is no source "${source}".`,
        help: helpForSource(source, sourceNames),
      };
    } else if (job.sources.indexOf(source) !== index) {
      yield { path, message: `${title}.source names "${source}" twice.`, help: 'Name it once.' };
    }
    const other = before.find(({ sources }) => sources.includes(source));
    if (other === undefined) continue;
    const message = `${title} reads source "${source}", which jobs.${other.name} of the same kind already reads.`;
    yield { path, message, help };
  }
}

function helpForSource(source: string, sourceNames: readonly string[]): string {
  const near = didYouMean(source, sourceNames);
  if (near !== null) return `Did you mean "${near}"?`;
  return `Add it under sources, or use one of: ${sourceNames.join(', ') || '(none yet)'}.`;
}
