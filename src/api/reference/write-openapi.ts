import { writeFileSync } from 'node:fs';
import { apiTypeSource } from './api-type-source.ts';
import { openApiDocument } from './openapi.ts';
import { operationReference } from './operation-reference.ts';

/**
 * `npm run openapi` runs this: it writes the files that are generated from the contract. A test fails if they
 * are out of date.
 */
writeFileSync(new URL('../../../docs/openapi.json', import.meta.url), openApiDocument());
writeFileSync(new URL('../../../docs/operations.md', import.meta.url), operationReference());
writeFileSync(new URL('./api-type.ts', import.meta.url), apiTypeSource());
