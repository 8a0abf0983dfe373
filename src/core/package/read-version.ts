import { readFileSync } from 'node:fs';
import { packageFile } from './package-file.ts';

/** Returns the version of this package. */
export function readVersion(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  return version;
}
