import { globSync } from 'node:fs';
import { describeDocument } from '../support/run-documents.ts';

// Files of their own, so that two workers share the pages: they take longer than any other test.
for (const document of globSync('docs/**/[A-La-l]*.md').sort()) describeDocument(document);
