import { existsSync } from 'node:fs';

/** The nearest folder above this module that has a package.json: that of the clone, or of the installed package, whose code is bundled. */
let packageFolder: URL | null = null;

/**
 * A file or folder that comes with the project: package.json, and what is below `config/` and `sql/`.
 *
 * @param path from the top of the project, as `sql/roles.sql`; a folder ends with a slash where files are resolved against it.
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
