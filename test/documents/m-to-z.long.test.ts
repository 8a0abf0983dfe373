import { globSync } from 'node:fs';
import { describeDocument } from '../support/run-documents.ts';

for (const document of globSync('docs/**/[M-Zm-z]*.md').sort()) describeDocument(document);
