import { globSync } from 'node:fs';
import { describeDocument } from '../support/run-documents.ts';

for (const document of globSync('examples/**/*.md').sort()) describeDocument(document);
