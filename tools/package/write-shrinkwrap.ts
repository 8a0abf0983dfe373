// `npm pack` puts package-lock.json into the archive as npm-shrinkwrap.json, because it leaves out a file of that
// name. So `npm ci` in the unpacked archive installs the versions that were tested. The file is in the clone only
// while npm packs, because npm would prefer it to package-lock.json. An install of the archive as a dependency
// takes no notice of it: npm then chooses the newest versions that fit.
//
//     node tools/package/write-shrinkwrap.ts [--remove]
import { copyFileSync, rmSync } from 'node:fs';
import { packageFile } from '../../src/core/package.ts';

const SHRINKWRAP = packageFile('npm-shrinkwrap.json');

if (process.argv[2] === '--remove') rmSync(SHRINKWRAP, { force: true });
else copyFileSync(packageFile('package-lock.json'), SHRINKWRAP);
