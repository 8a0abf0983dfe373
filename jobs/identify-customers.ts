import type { IdentifyCustomersSettings } from '../src/model/config.ts';
import { identifyCustomers } from '../src/pipeline/identify-customers.ts';
import type { JobKind } from './index.ts';

/** Submits the customers of exports to be identified as influencers, each once a brand. */
export const identifyCustomersJob: JobKind<IdentifyCustomersSettings> = {
  kind: 'identify-customers',
  summary: 'submit customers of exports to be identified as influencers',
  flow: identifyCustomers,
};
