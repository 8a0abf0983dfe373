import { findPlainConnections } from '../../../config/plain-connections.ts';
import type { Check } from '../../../runs/doctor-check.ts';

/** Checks whether secrets and customer data are encrypted on their way to other machines. */
export const encryption: Check = {
  name: 'encryption',
  async look({ config, pgSslMode }) {
    return findPlainConnections(config, pgSslMode).map(({ message, help }) => ({
      status: 'warning',
      about: 'encryption',
      what: message,
      why: 'Any machine on the network path can read it and use it.',
      fix: help,
    }));
  },
};
