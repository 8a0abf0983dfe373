import { expect, it } from 'vitest';
import { loadConfig } from '../../jobs/index.ts';
import type { ChannelSettings } from '../../src/config/notify-fields.ts';
import { findPlainConnections } from '../../src/config/plain-connections.ts';

const base = loadConfig(new URL('../../config/pipeline.yaml', import.meta.url).pathname, {});

function warningsOf(
  {
    api = '',
    url = '',
    biUrl = '',
    channels = [],
  }: { api?: string; url?: string; biUrl?: string; channels?: readonly ChannelSettings[] },
  pgSslMode?: string,
): readonly string[] {
  const found = findPlainConnections(
    {
      api: { ...base.api, url: api },
      database: { ...base.database, url, biUrl },
      notify: { ...base.notify, channels },
    },
    pgSslMode,
  );
  for (const { help } of found) expect(help).not.toBe('');
  return found.map(({ message }) => message);
}

it('warns of an API key over http:// and a database without TLS on another machine, without the password', () => {
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
])('does not warn of %j', (settings) => {
  expect(warningsOf(settings)).toEqual([]);
});

it('applies PGSSLMODE only if the address has no sslmode', () => {
  expect(warningsOf({ url: 'postgres://db.example/sync' }, 'require')).toEqual([]);
  expect(warningsOf({ url: 'postgres://db.example/sync' }, 'disable')).toHaveLength(1);
  expect(warningsOf({ url: 'postgres://db.example/sync?sslmode=disable' }, 'require')).toHaveLength(1);
});

it('names channels of notices that use http:// or a mail server without encryption, but not their addresses', () => {
  const mail = { kind: 'email', port: 25, user: '', password: '', from: 'a', to: ['b'] } as const;
  const channels: readonly ChannelSettings[] = [
    { name: 'chat', kind: 'slack', url: 'http://hooks.example/a-token' },
    { name: 'team', kind: 'teams', url: 'https://hooks.example/a-token' },
    { name: 'here', kind: 'webhook', url: 'http://127.0.0.1:4071', secret: 's' },
    { name: 'mail', ...mail, host: 'mail.example', encryption: 'none' },
    { name: 'local', ...mail, host: 'localhost', encryption: 'none' },
    { name: 'tls', ...mail, host: 'mail.example', encryption: 'starttls' },
  ];
  expect(warningsOf({ channels })).toEqual([
    'Notices go to notify.channels.chat without encryption.',
    'Notices go to notify.channels.mail without encryption.',
  ]);
});
