import { writeFileSync } from 'node:fs';
import { openApiDocument } from '../src/service/reference/openapi.ts';
import { operationReference } from './documents/operation-reference.ts';

/**
 * `npm run openapi` runs this: it writes the files that are generated from the contract. A test fails if they
 * are out of date.
 */
writeFileSync(new URL('../docs/openapi.json', import.meta.url), openApiDocument());
writeFileSync(new URL('../docs/operations.md', import.meta.url), operationReference());
