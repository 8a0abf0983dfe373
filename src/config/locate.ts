import { isAbsolute, relative } from 'node:path';
import type { DatabaseSettings } from '../model/config.ts';

/** Where in the file something stands, 1-based. */
export type Position = { readonly line: number; readonly column: number };

/** A path into the file: `['jobs', 'attribute-orders', 'source', 0]`. */
export type ConfigPath = readonly PropertyKey[];

/** What the file says at one path: the text as written, before substitution, so that it never shows what the environment holds. */
export type Located = {
  /** Where its key (or list item) stands. */
  readonly key: Position;
  /** Where its value stands. */
  readonly value: Position;
  readonly kind: 'scalar' | 'section' | 'list' | 'nothing';
  /** The scalar as written; empty for the other kinds. */
  readonly written: string;
};

/** Finds what a path names in the file. */
export class Places {
  readonly #places = new Map<string, Located>();
  readonly #file: string;

  /** @param file as messages name it. */
  constructor(file: string) {
    this.#file = file;
  }

  set(path: ConfigPath, located: Located): void {
    this.#places.set(toKey(path), located);
  }

  get(path: ConfigPath): Located | undefined {
    return this.#places.get(toKey(path));
  }

  /** `file:line:column` of the value at a path; where there is none (a missing key), of the nearest parent's key. */
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

/** Where a database is: host, port and name without user and password, or the folder of the embedded one. */
export function databasePlace({ url, dataFolder }: DatabaseSettings): string {
  if (url === '') return shortPath(dataFolder);
  const { host = '', pathname = '' } = URL.parse(url) ?? {};
  return `${host}${pathname}`;
}

/** A path as a person would type it: relative to the current folder where that is shorter. */
export function shortPath(path: string, folder: string = process.cwd()): string {
  const fromHere = relative(folder, path);
  return fromHere === '' || fromHere.startsWith('..') || isAbsolute(fromHere) ? path : fromHere;
}
