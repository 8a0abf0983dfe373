import { writeFileSync } from 'node:fs';
import { layoutJsonSchema } from './layout-json-schema.ts';

/** `node src/map/write-layout-schema.ts`: writes what editors check layouts with. A test fails when it is out of date. */
writeFileSync(new URL('../../../config/layout.schema.json', import.meta.url), layoutJsonSchema());
