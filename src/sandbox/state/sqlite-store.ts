import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import type { LineLog } from '../line-log.ts';
import type { StateStore } from './state-store.ts';

/**
 * Version of the tables below. Version 2 differs only in the name of one table and is migrated. A file of any
 * other version is refused and left unchanged.
 */
const LAYOUT = 3;

const FROM_LAYOUT_2 = `ALTER TABLE truth RENAME TO log_lines; PRAGMA user_version = ${LAYOUT};`;

const TABLES = `
  CREATE TABLE records (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, json TEXT NOT NULL, UNIQUE (kind, id)
  ) STRICT;
  CREATE TABLE log_lines (
    log TEXT NOT NULL, number INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (log, number)
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${LAYOUT};
`;

/** Number of log lines to read at a time. */
const PAGE_LINES = 1_000;

/**
 * Keeps the state in a SQLite file, which only one process can open. Committed changes survive a kill of the
 * process. Nothing waits for the disk (`synchronous = OFF`), so a power failure can lose the latest changes
 * or damage the file.
 *
 * @throws if the file cannot be opened, is in use, or has other content.
 */
export function createSqliteStore(path: string): StateStore {
  const database = new DatabaseSync(path);
  try {
    prepare(database);
  } catch (error) {
    database.close();
    throw error;
  }
  const upsert = database.prepare(
    'INSERT INTO records (kind, id, json) VALUES (?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET json = excluded.json',
  );
  const selectAll = database.prepare('SELECT kind, id, json FROM records ORDER BY number');
  const drop = database.prepare('DELETE FROM records WHERE kind = ? AND id = ?');
  const select = database.prepare('SELECT id, json FROM records WHERE kind = ? ORDER BY number');
  let isOpen = false;

  function begin(): void {
    if (isOpen) return;
    database.exec('BEGIN');
    isOpen = true;
  }

  function commit(): void {
    if (!isOpen) return;
    isOpen = false;
    database.exec('COMMIT');
  }

  return {
    isDurable: true,
    put(kind, id, value) {
      begin();
      upsert.run(kind, id, JSON.stringify(value));
    },
    remove(kind, id) {
      begin();
      drop.run(kind, id);
    },
    all: (kind) => select.all(kind).map(({ id, json }) => [String(id), JSON.parse(String(json))] as const),
    records: () =>
      selectAll
        .all()
        .map(({ kind, id, json }) => [String(kind), String(id), JSON.parse(String(json))] as const),
    replace(records) {
      begin();
      database.exec('DELETE FROM records');
      for (const [kind, id, value] of records) upsert.run(kind, id, JSON.stringify(value));
    },
    openLog: (name) => openLog(database, name, begin),
    commit,
    close() {
      commit();
      database.close();
    },
  };
}

function prepare(database: DatabaseSync): void {
  // Exclusive, because two sandboxes on one file would each rely on their own copy in memory.
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;');
  const version = database.prepare('PRAGMA user_version').get()?.user_version;
  if (version === LAYOUT) return;
  if (version === 2) {
    database.exec(`BEGIN; ${FROM_LAYOUT_2} COMMIT;`);
    return;
  }
  const holds = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.tables;
  if (version !== 0 || holds !== 0) throw new Error('This file is not a database of the sandbox.');
  database.exec(`BEGIN; ${TABLES} COMMIT;`);
}

function openLog(database: DatabaseSync, name: string, begin: () => void): LineLog {
  const last = database
    .prepare('SELECT coalesce(max(number), 0) AS count FROM log_lines WHERE log = ?')
    .get(name);
  const insert = database.prepare('INSERT INTO log_lines (log, number, line) VALUES (?, ?, ?)');
  const page = database.prepare(
    'SELECT number, line FROM log_lines WHERE log = ? AND number > ? ORDER BY number LIMIT ?',
  );
  let count = Number(last?.count ?? 0);

  function* pages(): Generator<string> {
    const end = count;
    for (let after = 0; after < end; ) {
      const rows = page.all(name, after, PAGE_LINES);
      if (rows.length === 0) return;
      after = Number(rows.at(-1)?.number ?? end);
      yield rows.map(({ line }) => `${String(line)}\n`).join('');
    }
  }

  return {
    count: () => count,
    append(line) {
      begin();
      count += 1;
      insert.run(name, count, line);
    },
    replace(lines) {
      begin();
      database.prepare('DELETE FROM log_lines WHERE log = ?').run(name);
      for (const [index, line] of lines.entries()) insert.run(name, index + 1, line);
      count = lines.length;
    },
    read: () => Readable.from(pages(), { objectMode: false }),
    close() {},
  };
}
