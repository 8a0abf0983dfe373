import { expect, it } from 'vitest';
import { loadConfig } from '../../jobs/index.ts';
import { findPlainConnections } from '../../src/config/plain-connections.ts';

const base = loadConfig(new URL('../../config/pipeline.yaml', import.meta.url).pathname, {});

function warningsOf(
  { api = '', url = '', biUrl = '' }: { api?: string; url?: string; biUrl?: string },
  pgSslMode?: string,
): readonly string[] {
  const found = findPlainConnections(
    { api: { ...base.api, url: api }, database: { ...base.database, url, biUrl } },
    pgSslMode,
  );
  for (const { help } of found) expect(help).not.toBe('');
  return found.map(({ message }) => message);
}

it('a key over http:// and a database without TLS are warned of where they leave this machine, without the password', () => {
  const url = 'postgres://sync:a-password@db.example:5432/sync';
  const warnings = warningsOf({ api: 'http://api.example', url, biUrl: url.replace('sync:', 'bi_reader:') });
  expect(warnings).toHaveLength(3);
  expect(warnings[0]).toContain('api.example');
  expect(warnings[1]).toContain('db.example:5432');
  expect(warnings[2]).toContain('database.bi_url');
  expect(warnings.join()).not.toContain('a-password');
});

it.each([
  { api: 'https://api.example' },
  { api: 'http://127.0.0.1:4010' },
  { api: 'http://localhost:4010' },
  { api: 'http://[::1]:4010' },
  {},
  { url: 'postgres://127.0.0.1/sync' },
  { url: 'postgres://sync@%2Fvar%2Frun%2Fpostgresql/sync' },
  { url: 'postgres:///sync?host=/var/run/postgresql' },
  { url: 'postgres://db.example/sync?sslmode=verify-full' },
  { url: 'postgres://db.example/sync?ssl=true' },
])('nothing is said of %j', (settings) => {
  expect(warningsOf(settings)).toEqual([]);
});

it('PGSSLMODE counts where the address says nothing, and only there', () => {
  expect(warningsOf({ url: 'postgres://db.example/sync' }, 'require')).toEqual([]);
  expect(warningsOf({ url: 'postgres://db.example/sync' }, 'disable')).toHaveLength(1);
  expect(warningsOf({ url: 'postgres://db.example/sync?sslmode=disable' }, 'require')).toHaveLength(1);
});
