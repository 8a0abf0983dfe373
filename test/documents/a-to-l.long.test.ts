import { globSync } from 'node:fs';
import { describeDocument } from '../support/run-documents.ts';

// The documents are tested in two files so that two workers share them: they take longer than any other test.
for (const document of globSync('docs/**/[A-La-l]*.md').sort()) describeDocument(document);
