import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { findStoredSecrets, waysToSet } from '../../config/environment/read-variable.ts';
import { isSecretSetting } from '../../config/fields.ts';
import { databaseLocation } from '../../config/locate.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { oldPlaceOf } from '../../config/service-file.ts';
import { isObject } from '../../core/json/exact-json.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import { type ConfigOptions, openConfigToRead } from '../open/open-config.ts';
import type { Output } from '../terminal/output.ts';

type Setting = {
  /** Path of the setting, such as `sources.shop.time_zone`. */
  readonly path: string;
  readonly value: string;
  /** `file`, `default`, or where the variables in its value are set. */
  readonly origin: string;
};

/** Prints every setting with its origin. For a secret, only whether it is set. */
export async function showConfig(output: Output, options: ConfigOptions): Promise<void> {
  const config = await openConfigToRead(output, { ...options, onConfigFound: () => {} }, null);
  const written: unknown = parse(readFileSync(config.path, 'utf8'));
  const settings = settingsOf(config).map(
    ({ path, value }): Setting => ({
      path: path.join('.'),
      value: isSecretSetting(path.join('.')) ? mask(path, value, config) : format(value),
      origin: originOf(written, path),
    }),
  );
  for (const setting of settings) output.emit({ event: 'setting', ...setting });
  const { terminal } = output;
  output.print(`${terminal.style('bold', config.path)}\n`);
  for (const { path, value, origin } of settings)
    output.print(`${path}: ${toPrintableLine(value)}  ${terminal.style('dim', `(${origin})`)}`);
}

type Leaf = { readonly path: readonly string[]; readonly value: unknown };

/** The settings under their names in the file, in its order of sections. */
function settingsOf(config: PipelineConfig): readonly Leaf[] {
  const { path: _path, variables: _variables, database, ledger, webhooks, sources, jobs, ...rest } = config;
  const { dataFolder: _dataFolder, ...ofDatabase } = database;
  const { secrets, events: _events, ...ofWebhooks } = webhooks;
  const { description, ...ofApi } = rest.api;
  const { uri: markUri = '', ...ofMark } = ledger.mark ?? {};
  const sections = {
    api: ofApi,
    service: description,
    database: ofDatabase,
    ledger: { markUri, ...ofMark },
    sources: mapValues(sources, ({ name: _name, ...source }) => source),
    jobs: mapValues(jobs, ({ name: _name, sources: names, ...job }) => ({
      ...job,
      ...(names.length === 0 ? {} : { source: names }),
    })),
    customers: rest.customers,
    webhooks: { ...ofWebhooks, secret: secrets[0] ?? '', previousSecret: secrets[1] ?? '' },
    serve: rest.serve,
    work: rest.work,
    console: consoleSection(rest.console),
    notify: notifySection(rest.notify),
    statements: rest.statements,
    reconcile: rest.reconcile,
    retention: rest.retention,
  };
  return leavesOf(sections, []);
}

/** The console's settings in the structure of the file: users, tokens and logins are under `auth`. */
function consoleSection({ users, tokens, proxy, oidc, ...console }: PipelineConfig['console']) {
  return { ...console, auth: { users, tokens, proxy, oidc } };
}

/** The settings for notices in the structure of the file: each channel under its name. */
function notifySection({ channels, pings, remindAfterMs, ...notify }: PipelineConfig['notify']) {
  const named = [...channels, ...pings.map((ping) => ({ kind: 'ping', ...ping }))];
  return {
    channels: Object.fromEntries(named.map(({ name, ...channel }) => [name, channel])),
    remindAfter: remindAfterMs === null ? null : `${remindAfterMs / 60_000}m`,
    ...notify,
    routes: notify.routes.map((route) => JSON.stringify(route)),
  };
}

function mapValues<In, Out>(
  record: Readonly<Record<string, In>>,
  change: (value: In) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

function leavesOf(value: unknown, path: readonly string[]): readonly Leaf[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [{ path, value }];
  // Names of sources, jobs and channels stay as they are; settings are converted to snake case.
  const isNamed = ['sources', 'jobs', 'notify.channels'].includes(path.join('.'));
  return Object.entries(value).flatMap(([key, part]) =>
    leavesOf(part, [...path, isNamed ? key : key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
  );
}

const VARIABLE = /(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)/g;

/** The origin of the value at a path, determined by what the file contains there, or in the old place of the setting. */
function originOf(written: unknown, path: readonly string[]): string {
  let value = written;
  for (const key of path) {
    if (!isObject(value) || !(key in value)) {
      const old = oldPlaceOf(path);
      const origin = old === null ? 'default' : originOf(written, old);
      return origin === 'default' ? origin : `${origin}: ${old?.join('.')}`;
    }
    value = value[key];
  }
  const text = JSON.stringify(value) ?? '';
  const names = [...text.matchAll(VARIABLE)].flatMap(([, name]) => name ?? []);
  if (names.length === 0) return 'file';
  const origins = names.flatMap(originOfVariable);
  return origins.length === 0 ? `file (${names.join(', ')} not set)` : [...new Set(origins)].join(', ');
}

/** Where a variable is set; never its value. */
function originOfVariable(name: string): readonly string[] {
  const [stored] = findStoredSecrets([name], process.env);
  if (stored !== undefined) return [`AWS ${stored.store}: ${stored.id} (${stored.variable})`];
  const variable = waysToSet(name).find((way) => (process.env[way] ?? '') !== '');
  if (variable === undefined) return [];
  return [variable === name ? `environment (${name})` : `file ${process.env[variable]} (${variable})`];
}

/** For a database, its address without user and password; for any other secret, only that it is set. */
function mask(path: readonly string[], value: unknown, { database }: PipelineConfig): string {
  if (value === '' || (Array.isArray(value) && value.length === 0)) return '(not set)';
  if (path.join('.') === 'database.url') return databaseLocation(database);
  return '(set, not shown)';
}

function format(value: unknown): string {
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return '(none)';
  if (Array.isArray(value)) return value.map(format).join(', ');
  return withoutCredentials(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** Removes credentials from URLs; any setting may contain some. */
function withoutCredentials(text: string): string {
  return text.replace(/(?<=:\/\/)[^/?#@]*@/, '***@');
}
