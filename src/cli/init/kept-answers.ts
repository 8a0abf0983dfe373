import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { parseCodes } from '../../codes/parse-codes.ts';
import { isObject } from '../../core/json/exact-json.ts';
import {
  EVERY_SOURCE,
  type InitOptions,
  NOTHING,
  type SourceAnswer,
  type SourceAnswers,
} from './init-options.ts';

/*
 * What the configuration in the folder says already. A second run takes it as given, unless an option says otherwise: a
 * platform must never change, and the owners of codes are written by people.
 */

type Key = keyof SourceAnswer;
type Kept = ReadonlyMap<Key, SourceAnswers>;

/** The settings of sources in `pipeline.yaml`, as `init` asks for them. */
const SETTINGS: Readonly<Partial<Record<Key, string>>> = {
  timeZone: 'time_zone',
  currency: 'currency',
  platform: 'order_platform',
  dateOrder: 'date_order',
  decimalMark: 'decimal_mark',
  consent: 'consent',
};

/** Reads what an existing `pipeline.yaml` answers. Nothing if there is none, or it cannot be parsed: it is kept as it is. */
export function readKeptAnswers(folder: string): Kept {
  const path = join(folder, 'pipeline.yaml');
  const kept = new Map<Key, Map<string, string>>();
  const keep = (key: Key, source: string, value: unknown): void => {
    const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
    if (text === '' || text.includes('${')) return;
    kept.set(key, (kept.get(key) ?? new Map<string, string>()).set(source, text));
  };
  const document = existsSync(path) ? asObject(parseQuietly(readFileSync(path, 'utf8'))) : {};
  for (const [name, settings] of Object.entries(asObject(document.sources))) {
    const source = asObject(settings);
    for (const [key, setting] of Object.entries(SETTINGS) as [Key, string][])
      keep(key, name, source[setting]);
    const [reason] = Object.values(asObject(source.missing_columns));
    keep('missingColumns', name, reason);
  }
  const brands = new Set<string>();
  for (const settings of Object.values(asObject(document.jobs))) {
    const job = asObject(settings);
    for (const name of [job.source].flat()) {
      if (typeof name !== 'string') continue;
      keep('brand', name, job.brand_id);
      if (job.include === 'any') keep('status', name, 'any');
      keep('renewals', name, job.renewals);
    }
  }
  for (const brand of kept.get('brand')?.values() ?? []) brands.add(brand);
  const [only, ...others] = brands;
  // One brand is asked about once, for all sources.
  if (only !== undefined && others.length === 0) kept.set('brand', new Map([[EVERY_SOURCE, only]]));
  return kept;
}

function parseQuietly(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return null;
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

/**
 * Adds what is kept to the options that a person has given, which come first.
 *
 * @param sources the names of the sources that were found; null if they are not known yet.
 */
export function withKept(options: InitOptions, kept: Kept, sources: ReadonlySet<string> | null): InitOptions {
  const added = (Object.keys(NOTHING) as Key[]).flatMap((key) => {
    const given = options[key] ?? new Map<string, string>();
    if (given.has(EVERY_SOURCE)) return [];
    const own = [...(kept.get(key) ?? [])].filter(
      ([source]) => sources === null || source === EVERY_SOURCE || sources.has(source),
    );
    return own.length === 0 ? [] : [[key, new Map([...own, ...given])] as const];
  });
  return { ...options, ...Object.fromEntries(added) };
}

/** The text of an existing `codes.csv`, and the codes that have an owner in it, as they are written. */
export type KeptCodes = { readonly text: string; readonly codes: readonly string[] };

/** Reads the `codes.csv` of a folder. Null if there is none. */
export function readKeptCodes(folder: string): KeptCodes | null {
  const path = join(folder, 'codes.csv');
  if (!existsSync(path)) return null;
  const text = readFileSync(path, 'utf8');
  return { text, codes: parseCodes(text).rows.map(({ code }) => code) };
}
