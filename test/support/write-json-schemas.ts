import { readFileSync, writeFileSync } from 'node:fs';
import { jobKinds } from '../../jobs/index.ts';
import {
  layoutJsonSchema,
  pipelineJsonSchema,
  serviceJsonSchema,
  serviceTable,
  serviceYaml,
  timingTable,
} from '../../tools/documents/settings.ts';

/**
 * `npm run schema`: writes the JSON schemas with which editors check `config/pipeline.yaml`, `config/service.yaml` and
 * layouts, the defaults of `config/service.yaml`, and the tables of settings in `docs/`. A test fails if one is out of
 * date.
 */
const config = new URL('../../config/', import.meta.url);
writeFileSync(new URL('pipeline.schema.json', config), pipelineJsonSchema(jobKinds));
writeFileSync(new URL('layout.schema.json', config), layoutJsonSchema());
writeFileSync(new URL('service.schema.json', config), serviceJsonSchema());
writeFileSync(new URL('service.yaml', config), serviceYaml());
for (const [name, table] of [
  ['service', serviceTable()],
  ['scheduling', timingTable()],
]) {
  const page = new URL(`../../docs/${name}.md`, import.meta.url);
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(/^\| Setting \|.*\n(\|.*\n)*/m, () => `${table}\n`),
  );
}
