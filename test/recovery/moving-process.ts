/**
 * Moves an embedded database to a server with the production parts, as a separate process that dies without
 * warning when the named step begins, or after the last one; or is told to stop then.
 */
import { moveLedger } from '../../src/cli/ledger/move-ledger.ts';
import { openConfig } from '../../src/cli/open/open-config.ts';
import type { KnownError } from '../../src/core/known-error.ts';

const [, , config = '', step = '', isTold = ''] = process.argv;
const stop = new AbortController();
const die = () => (isTold === '' ? process.kill(process.pid, 'SIGKILL') : stop.abort());
const progress = {
  begin: ({ name }: { readonly name: string }) => void (name === step && die()),
  advance: () => {},
  note: () => {},
  end: () => void die(),
};
const stopping = { signal: stop.signal, beforeExit: () => {}, ignore: () => {} };
await moveLedger(await openConfig({ config }), {
  reason: 'the trial is over',
  isDryRun: false,
  progress,
  stopping,
}).catch(({ details }: KnownError) => {
  process.exitCode = details.exitCode;
});
