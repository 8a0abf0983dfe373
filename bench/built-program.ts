import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Builds the program as a package or the image contains it.
 *
 * @param folder an empty folder, or one that will be created.
 * @returns the file for `node` to start. Without sources beside it, it starts what was built.
 */
export function buildProgram(folder: string): string {
  const pathOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));
  execFileSync(process.execPath, [pathOf('src/with-node.js'), 'node', pathOf('tools/package/build.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const start = join(folder, 'src', 'start.js');
  mkdirSync(join(folder, 'src'), { recursive: true });
  copyFileSync(pathOf('src/start.js'), start);
  copyFileSync(pathOf('package.json'), join(folder, 'package.json'));
  symlinkSync(pathOf('dist'), join(folder, 'dist'));
  return start;
}
