import { type Installed, installGo } from '../install.ts';

/** Installs Benthos 4.27.0, the last release under its first name that the module proxy offers. */
export function installBenthos(): Installed {
  return installGo({
    module: 'github.com/benthosdev/benthos/v4',
    version: 'v4.27.0',
    command: 'cmd/benthos',
    // One of its dependencies (parquet-go) calls a function of the runtime that Go has hidden since 1.23.
    flags: ['-ldflags=-checklinkname=0'],
  });
}
