// Runs after `npm ci` in a clone, as `prepublish`: no install of the package runs it, or asks about it. npm leaves out optional packages
// whose `engines` exclude the Node that npm itself runs on; on Node 18 the native parts of the test runner are among them. Everything here
// runs on the pinned Node 24, so where npm ran on an older Node, the pinned one installs what is missing. Plain JavaScript, because that
// older Node may have to read it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** What all of our packages are content with. */
const NEW_ENOUGH = 22;

const { npm_command: command = '', npm_config_user_agent: agent = '', npm_execpath: npm } = process.env;
const major = Number(/node\/v(\d+)/.exec(agent)?.[1] ?? NEW_ENOUGH);
const pinned = 'node_modules/node/bin/node';
// `npx` of npm 9 runs this script each time, from elsewhere.
const isInstall = command === 'ci' || command === 'install';

if (isInstall && major < NEW_ENOUGH && npm !== undefined && existsSync(pinned)) {
  const options = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status, error } = spawnSync(pinned, [npm, ...options], { stdio: 'inherit' });
  if (error !== undefined)
    process.stderr.write(
      `Error: the Node that was installed here does not run on this system (${error.code}): it needs glibc, which Alpine (musl) does not have. Run npm ci with Node 22.19 or later.\n`,
    );
  process.exitCode = status ?? 1;
}
