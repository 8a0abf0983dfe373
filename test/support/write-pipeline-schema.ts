import { writeFileSync } from 'node:fs';
import { jobKinds } from '../../jobs/index.ts';
import { pipelineJsonSchema } from '../../src/config/json-schema.ts';

/** `npm run schema`: writes what editors check `config/pipeline.yaml` with. A test fails when it is out of date. */
writeFileSync(new URL('../../config/pipeline.schema.json', import.meta.url), pipelineJsonSchema(jobKinds));
