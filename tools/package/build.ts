// `npm run build`: compiles the project into dist/, which the package runs. A clone runs its sources and does
// not need it.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packageFile } from '../../src/core/package.ts';
import { apiTypeSource } from '../documents/api-type-source.ts';
import { bundleProgram } from './build-program.ts';

const cwd = fileURLToPath(packageFile('.'));

await bundleProgram();
const { status } = spawnSync('tsc', ['-p', 'tools/package/tsconfig.types.json'], { cwd, stdio: 'inherit' });
writeFileSync(packageFile('dist/types/src/service/reference/api-type.d.ts'), apiTypeSource());
process.exitCode = status ?? 1;
