/** `npm run schema`: draws docs/architecture.svg from the imports of the code. */
import { writeFileSync } from 'node:fs';
import { readModules } from '../../test/support/read-modules.ts';
import { drawArchitecture, PICTURE_FILE } from './draw.ts';

writeFileSync(PICTURE_FILE, drawArchitecture(readModules('src', 'jobs')));
