/**
 * Moves an embedded database to a server with the production parts, as a separate process that dies without
 * warning when the named step begins, or after the last one.
 */
import { moveLedger } from '../../src/cli/ledger/move-ledger.ts';
import { openConfig } from '../../src/cli/open/open-config.ts';

const [, , config = '', step = ''] = process.argv;
const die = () => process.kill(process.pid, 'SIGKILL');
const progress = {
  begin: ({ name }: { readonly name: string }) => void (name === step && die()),
  advance: () => {},
  note: () => {},
  end: () => void die(),
};
const stopping = { signal: new AbortController().signal, beforeExit: () => {}, ignore: () => {} };
await moveLedger(await openConfig({ config }), {
  ...{ reason: 'the trial is over', isDryRun: false, progress, stopping },
});
