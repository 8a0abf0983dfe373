import { writeFileSync } from 'node:fs';
import { jobKinds } from '../../jobs/index.ts';
import { pipelineJsonSchema } from '../../src/config/json-schema.ts';
import { layoutJsonSchema } from '../../src/map/layout/load-layout.ts';

/**
 * `npm run schema`: writes the JSON schemas with which editors check `config/pipeline.yaml` and layouts. A
 * test fails if one is out of date.
 */
const config = new URL('../../config/', import.meta.url);
writeFileSync(new URL('pipeline.schema.json', config), pipelineJsonSchema(jobKinds));
writeFileSync(new URL('layout.schema.json', config), layoutJsonSchema());
