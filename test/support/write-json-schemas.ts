import { readFileSync, writeFileSync } from 'node:fs';
import { jobKinds } from '../../jobs/index.ts';
import {
  pipelineJsonSchema,
  serviceJsonSchema,
  serviceTable,
  serviceYaml,
} from '../../src/config/documents.ts';
import { layoutJsonSchema } from '../../src/intake/layout/load-layout.ts';

/**
 * `npm run schema`: writes the JSON schemas with which editors check `config/pipeline.yaml`, `config/service.yaml` and
 * layouts, the defaults of `config/service.yaml`, and the table in `docs/service.md`. A test fails if one is out of
 * date.
 */
const config = new URL('../../config/', import.meta.url);
writeFileSync(new URL('pipeline.schema.json', config), pipelineJsonSchema(jobKinds));
writeFileSync(new URL('layout.schema.json', config), layoutJsonSchema());
writeFileSync(new URL('service.schema.json', config), serviceJsonSchema());
writeFileSync(new URL('service.yaml', config), serviceYaml());
const page = new URL('../../docs/service.md', import.meta.url);
const [before = '', after = ''] = readFileSync(page, 'utf8').split(/\| Setting \|(?:.*\n)*\|.*\n/);
writeFileSync(page, `${before}${serviceTable()}\n${after}`);
