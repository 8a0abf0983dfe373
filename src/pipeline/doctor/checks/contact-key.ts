import { requireHashKey } from '../../../config/require-hash-key.ts';
import type { Check } from '../check.ts';

const ABOUT = 'contacts key';

/** The secret under which addresses of customers are hashed, where a job reads customers. */
export const contactKey: Check = {
  name: ABOUT,
  async look({ config }) {
    if (Object.values(config.jobs).every(({ kind }) => kind !== 'identify-customers')) return [];
    requireHashKey(config);
    return [{ status: 'ok', about: ABOUT, what: 'It is set, and long enough.' }];
  },
};
