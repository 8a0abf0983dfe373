import { describeDocument } from '../support/run-documents.ts';

describeDocument('README.md');
