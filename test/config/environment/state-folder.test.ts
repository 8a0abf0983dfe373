import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findStateFolder } from '../../../src/config/environment/state-folder.ts';

it.each<[NodeJS.Platform, Record<string, string>, string]>([
  ['linux', { XDG_STATE_HOME: '/var/state' }, '/var/state/influencer-sync'],
  ['darwin', { XDG_STATE_HOME: '/var/state' }, '/var/state/influencer-sync'],
  ['linux', {}, join(homedir(), '.local/state/influencer-sync')],
  ['linux', { XDG_STATE_HOME: 'relative' }, join(homedir(), '.local/state/influencer-sync')],
  ['darwin', {}, join(homedir(), 'Library/Application Support/influencer-sync')],
  ['win32', { LOCALAPPDATA: '/appdata' }, '/appdata/influencer-sync'],
  ['win32', {}, join(homedir(), 'AppData/Local/influencer-sync')],
])('the state of a user is kept in the usual place of the system: %s %o → %s', (platform, env, folder) => {
  expect(findStateFolder(env, platform)).toBe(folder);
});
