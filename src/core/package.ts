import { existsSync, readFileSync } from 'node:fs';

/**
 * The nearest parent folder with a package.json: that of the clone, or of the installed package, whose code
 * is bundled.
 */
let packageFolder: URL | null = null;

/**
 * Returns the address of a file or folder of the project: package.json, or something in `config/` or `sql/`.
 *
 * @param path relative to the root of the project, for example `sql/roles.sql`. A folder must end with a
 * slash if files are resolved against it.
 */
export function packageFile(path: string): URL {
  packageFolder ??= findPackageFolder(new URL('.', import.meta.url));
  return new URL(path, packageFolder);
}

function findPackageFolder(folder: URL): URL {
  if (existsSync(new URL('package.json', folder))) return folder;
  const above = new URL('..', folder);
  if (above.href === folder.href) throw new Error(`no package.json above ${import.meta.url}`);
  return findPackageFolder(above);
}

/** Returns the version of this package. */
export function readVersion(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  return version;
}
