import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import type { DatabaseSettings } from './schema.ts';

/** A position in the file, 1-based. */
export type Position = { readonly line: number; readonly column: number };

/** A path into the file: `['jobs', 'attribute-orders', 'source', 0]`. */
export type ConfigPath = readonly PropertyKey[];

/**
 * What the file contains at a path. The text is as written, before substitution, so that it never shows
 * values of the environment.
 */
export type Located = {
  readonly key: Position;
  readonly value: Position;
  readonly kind: 'scalar' | 'section' | 'list' | 'nothing';
  /** The scalar as written; empty for the other kinds. */
  readonly written: string;
};

/** Finds places in the file by path. */
export class Positions {
  readonly #places = new Map<string, Located>();
  readonly #file: string;

  /** @param file the name of the file in messages. */
  constructor(file: string) {
    this.#file = file;
  }

  set(path: ConfigPath, located: Located): void {
    this.#places.set(toKey(path), located);
  }

  get(path: ConfigPath): Located | undefined {
    return this.#places.get(toKey(path));
  }

  /** `file:line:column` of the value at a path. For a missing key, that of the nearest parent's key. */
  where(path: ConfigPath): string {
    for (let depth = path.length; depth >= 0; depth -= 1) {
      const found = this.get(path.slice(0, depth));
      if (found !== undefined) return this.at(depth === path.length ? found.value : found.key);
    }
    return this.at({ line: 1, column: 1 });
  }

  /** `file:line:column` of the key itself, for a key that should not be there. */
  whereKey(path: ConfigPath): string {
    const found = this.get(path);
    return found === undefined ? this.where(path) : this.at(found.key);
  }

  at(position: Position): string {
    return `${this.#file}:${position.line}:${position.column}`;
  }
}

function toKey(path: ConfigPath): string {
  return JSON.stringify(path.map(String));
}

/**
 * The place of a database for display: host, port and name without user and password, or the folder of the
 * embedded database.
 */
export function databaseLocation({ url, dataFolder }: DatabaseSettings): string {
  if (url === '') return shortPath(dataFolder);
  const { host = '', pathname = '' } = URL.parse(url) ?? {};
  return `${host}${pathname}`;
}

/** The folder of the journals that the processes of a configuration write (ledger/continuity). */
export function journalFolder({ dataFolder }: DatabaseSettings): string {
  return join(dataFolder, 'journal');
}

/** Returns the folder itself, or the nearest one above it that exists. */
export function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

/** A path as a person would type it: relative to the current folder if the path is inside it. */
export function shortPath(path: string, folder: string = process.cwd()): string {
  const fromHere = relative(folder, path);
  return fromHere === '' || fromHere.startsWith('..') || isAbsolute(fromHere) ? path : fromHere;
}
