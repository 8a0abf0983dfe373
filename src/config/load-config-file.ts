import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LedgerSettings, PipelineConfig, SourceSettings } from '../core/config.ts';
import { EXIT } from '../core/exit-code.ts';
import type { ServiceDescription } from '../core/http/service-description.ts';
import type { WebhookSettings } from '../core/http/webhook-event.ts';
import { KnownError, type Problem } from '../core/known-error.ts';
import { packageFile } from '../core/package/package-file.ts';
import type { StoredVariables } from '../core/variable.ts';
import { isAddress } from './check-source.ts';
import type { ConfiguredKind } from './configured-kind.ts';
import { crossCheck } from './cross-check.ts';
import type { Environment } from './environment/read-variable.ts';
import { toExpectations } from './expect/expect-fields.ts';
import { explainIssue } from './explain-issue.ts';
import { findMisplaced } from './find-misplaced.ts';
import { knownKeysOf } from './known-keys.ts';
import { type ConfigPath, shortPath } from './locate.ts';
import { toNotifySettings } from './notify/notify-fields.ts';
import { readYaml } from './read-yaml.ts';
import { isSection, parseSalvaging } from './salvage.ts';
import { type PipelineFile, pipelineSchemaOf } from './schema.ts';
import { toConsoleSettings } from './server-fields.ts';
import { addServiceFile, findSetTwice, toDescription } from './service-file/read-service-file.ts';
import { sourceSchema } from './source-fields.ts';

const EXAMPLE = fileURLToPath(packageFile('config/pipeline.yaml'));

/** After the last answer, results must still be recorded and files released. */
const GRACE_BEYOND_A_REQUEST_SECONDS = 20;

/**
 * Reads `pipeline.yaml`: substitutes environment variables, checks everything, applies defaults and makes
 * paths absolute.
 *
 * @param options.stored the values that AWS returned for the variables that {@link findVariables} finds.
 * @param options.kinds the kinds of jobs.
 * @throws KnownError `config_missing` or `config_invalid` (exit 2), the latter with all problems at once,
 *   each with its place.
 */
export function loadConfigFile(options: {
  readonly path: string;
  readonly env: Environment;
  readonly stored: StoredVariables;
  readonly kinds: readonly ConfiguredKind[];
}): PipelineConfig {
  const { path, kinds } = options;
  const absolute = resolve(path);
  const file = shortPath(absolute);
  const yaml = readYaml(readConfigFile(absolute), { ...options, file });
  if (!yaml.isReadable) throw invalid(file, yaml.problems);

  const schema = pipelineSchemaOf(kinds);
  const { places } = yaml;
  const explained = { places, knownKeys: knownKeysOf(schema) };
  const misplaced = findMisplaced(yaml.content, explained);
  if (misplaced.length > 0) throw invalid(file, misplaced);

  const content = addServiceFile(yaml.content, absolute, options);
  const { data, issues } = parseSalvaging(content ?? {}, schema);
  const problems = [
    ...yaml.problems,
    ...findSetTwice(yaml.content, places),
    ...issues
      .filter((issue) => !yaml.unresolved.some((path) => startsWith(issue.path, path)))
      .flatMap((issue) => explainIssue(issue, explained)),
  ];
  const config = data === null ? null : toConfig(absolute, data, yaml.variables);
  if (config !== null) {
    // One problem per place is enough: a value that is missing or does not fit is not also compared with
    // others.
    const told = new Set(problems.map((problem) => problem.where));
    const sourceNames = namesIn(yaml.content, 'sources');
    const findings = crossCheck(config, { places, sourceNames, kinds, written: data?.sources ?? {} });
    problems.push(...findings.filter((finding) => !told.has(finding.where)), ...checkFiles(config, kinds));
  }
  if (config === null || problems.length > 0) throw invalid(file, problems);
  return config;
}

/**
 * Lists the variables in `pipeline.yaml` without substituting them. Empty if it is not YAML.
 *
 * @throws KnownError `config_missing` (exit 2).
 */
export function findVariables(path: string): readonly string[] {
  return readYaml(readConfigFile(resolve(path)), { file: '', env: {}, stored: new Map() }).variables;
}

/** Checks the files that jobs name, so that their problems are reported with those of the configuration. */
function checkFiles({ jobs }: PipelineConfig, kinds: readonly ConfiguredKind[]): readonly Problem[] {
  return kinds.flatMap(
    ({ kind, checkFiles: check }) => check?.(Object.values(jobs).filter((job) => job.kind === kind)) ?? [],
  );
}

function namesIn(content: unknown, section: string): readonly string[] {
  const value: unknown = isSection(content) ? content[section] : null;
  return isSection(value) ? Object.keys(value) : [];
}

function invalid(file: string, problems: readonly Problem[]): KnownError {
  const isElsewhere = ({ where }: Problem) => !where.startsWith(`${file}:`);
  const title = problems.some(isElsewhere) ? 'The configuration' : file;
  return new KnownError({
    code: 'config_invalid',
    message: problems.length === 1 ? `${title} has a problem.` : `${title} has ${problems.length} problems.`,
    help: `Fix ${problems.some(isElsewhere) ? 'the files named above' : 'the file'} and run the command again.`,
    safe: 'Nothing was read or sent.',
    problems: [...problems].sort(byPlace),
    exitCode: EXIT.configuration,
  });
}

function readConfigFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw new KnownError({
      code: 'config_missing',
      message: isMissing ? 'There is no configuration file.' : 'The configuration file cannot be read.',
      where: shortPath(path),
      help: isMissing
        ? `Name it with --config, or start with the example:  cp ${shortPath(EXAMPLE)} pipeline.yaml\nFor a trial without a configuration:  npx influencer-sync demo`
        : 'Check that it is a file and that this user may read it.',
      safe: 'Nothing was read or sent.',
      exitCode: EXIT.configuration,
      cause,
    });
  }
}

function toConfig(path: string, file: PipelineFile, variables: readonly string[]): PipelineConfig {
  const folder = dirname(path);
  const resolvePath = (relative: string): string => resolve(folder, relative);
  const description = toDescription(file);
  const hasCustomerKeys = (source: string): boolean => file.sources[source]?.customer_key === true;
  return {
    path,
    variables,
    api: {
      url: file.api.url.replace(/\/+$/, ''),
      key: file.api.key,
      concurrency: file.api.concurrency,
      requestsPerSecond: file.api.requests_per_second,
      duplicateOrders: description.duplicate_orders,
      quietPeriodMinutes: file.api.quiet_period_minutes,
      leaseSeconds: file.api.lease_seconds,
      timeoutSeconds: file.api.timeout_seconds,
      description,
    },
    database: {
      url: file.database.url,
      biUrl: file.database.bi_url,
      dataFolder: join(folder, '.data'),
      statementMinutes: file.database.statement_minutes,
    },
    ledger: { mark: toMark(file.ledger, resolvePath), stateFolder: null },
    sources: mapValues(file.sources, (source, name) => toSource(name, source, resolvePath)),
    jobs: mapValues(file.jobs, (toSettings, name) => toSettings({ name, resolvePath, hasCustomerKeys })),
    customers: {
      hashKey: file.customers.hash_key,
      previousHashKey: file.customers.previous_hash_key,
    },
    webhooks: toWebhooks(file.webhooks, description),
    serve: {
      host: file.serve.host,
      port: file.serve.port,
      graceSeconds: file.serve.grace_seconds ?? file.api.timeout_seconds + GRACE_BEYOND_A_REQUEST_SECONDS,
    },
    work: { engine: file.work.engine, serveWorks: file.work.serve_works },
    console: toConsoleSettings(file.console),
    notify: toNotifySettings(file.notify),
    statements: {
      terms: file.statements.terms === null ? null : resolvePath(file.statements.terms),
      returnWindowDays: file.statements.return_window_days,
      marginPercent: file.statements.margin_percent,
      reportingCurrency: file.statements.reporting_currency,
      fx: file.statements.fx === null ? null : resolvePath(file.statements.fx),
      timeZone: file.statements.time_zone,
    },
    retention: file.retention,
    reconcile: {
      ordersAbove: file.reconcile.orders_above,
      amountAbove: file.reconcile.amount_above,
      accountCurrency: file.reconcile.account_currency,
    },
  };
}

function toWebhooks(file: PipelineFile['webhooks'], { events }: ServiceDescription): WebhookSettings {
  return {
    host: file.host,
    port: file.port,
    path: file.path,
    secrets: [file.secret, file.previous_secret].filter((secret) => secret !== ''),
    events,
    maxBodyBytes: file.max_body_bytes,
    maxConnectionsPerAddress: file.max_connections_per_address,
    maxAgeSeconds: file.max_age_seconds,
  };
}

/**
 * Returns default settings for a source that is given only by its address, as if a configuration in the
 * current folder contained it.
 *
 * @param uri an S3 address, or a path.
 */
export function sourceAt(uri: string): SourceSettings {
  const settings = sourceSchema.parse({ uri, layout: 'unknown' });
  return toSource('', settings, (path) => resolve(path));
}

function toSource(
  name: string,
  file: PipelineFile['sources'][string],
  resolvePath: (path: string) => string,
): SourceSettings {
  return {
    name,
    uri: toUri(file.uri, resolvePath),
    layout: file.layout,
    orderPlatform: file.order_platform ?? '',
    timeZone: file.time_zone,
    currency: file.currency,
    dateOrder: file.date_order,
    decimalMark: file.decimal_mark,
    consent: file.consent,
    customerKey: file.customer_key,
    orderLines: file.order_lines,
    missingColumns: file.missing_columns,
    encoding: file.encoding,
    exclude: file.exclude,
    lookbackDays: file.lookback_days,
    startAfter: file.start_after,
    events:
      file.events === null
        ? null
        : { queue: file.events.queue, listEveryHours: file.events.list_every_hours },
    ...toStore(file),
    age: file.age,
    followLinks: file.follow_links,
    etagIsMd5: file.etag_is_md5,
    limits: {
      maxBytes: file.limits.max_bytes,
      maxRatio: file.limits.max_ratio,
      maxRecordBytes: file.limits.max_record_bytes,
      idleTimeoutSeconds: file.limits.idle_timeout_seconds,
      maxRejectedShare: file.limits.max_rejected_share,
      maxUnreadableShare: file.limits.max_unreadable_share,
      maxCancelledShare: file.limits.max_cancelled_share,
      maxZeroRevenueShare: file.limits.max_zero_revenue_share,
      maxUnlistedShare: file.limits.max_unlisted_share,
    },
    expectations: toExpectations(file.expect, file.time_zone),
  };
}

function toMark(file: PipelineFile['ledger'], resolvePath: (path: string) => string): LedgerSettings['mark'] {
  if (file.mark_uri === '') return null;
  return { uri: toUri(file.mark_uri, resolvePath), ...toStore(file) };
}

function toUri(address: string, resolvePath: (path: string) => string): string {
  return isAddress(address) ? address : resolvePath(address);
}

function toStore(file: Omit<PipelineFile['ledger'], 'mark_uri'>) {
  return {
    endpoint: file.endpoint,
    region: file.region,
    profile: file.profile,
    forcePathStyle: file.force_path_style,
  };
}

/** The result has no prototype, so that `constructor` is no name in it unless the file has it. */
function mapValues<In, Out>(
  record: Readonly<Record<string, In>>,
  change: (value: In, name: string) => Out,
): Record<string, Out> {
  const entries = Object.entries(record).map(([name, value]) => [name, change(value, name)]);
  return Object.assign(Object.create(null) as Record<string, Out>, Object.fromEntries(entries));
}

function startsWith(path: ConfigPath, start: ConfigPath): boolean {
  return start.every((part, index) => String(path[index]) === String(part));
}

function byPlace(one: Problem, other: Problem): number {
  return one.where.localeCompare(other.where, 'en', { numeric: true });
}
