import { listChannelTroubles } from '../../../reports/notices/list-notices.ts';
import type { Check } from '../../../runs/doctor-check.ts';

const ABOUT = 'notices';

/** Checks whether the notification channels accept notices. */
export const notices: Check = {
  name: ABOUT,
  async look({ config, db, hasTables }) {
    const names = config.notify.channels.map(({ name }) => name);
    if (names.length === 0 || db === null || !hasTables) return [];
    const troubles = (await listChannelTroubles(db)).filter(({ channel }) => names.includes(channel));
    if (troubles.length === 0)
      return [{ status: 'ok', about: ABOUT, what: `No channel (${names.join(', ')}) has failed lately.` }];
    return troubles.map(({ channel, failing, givenUp, lastError, since }) => ({
      status: 'warning',
      about: ABOUT,
      what: `${channel} has not accepted notices since ${since.toISOString().slice(0, 16).replace('T', ' ')} UTC (${lastError}): ${failing} waiting, ${givenUp} given up.`,
      why: 'No notice arrives through this channel. Runs are not affected.',
      fix: `Correct notify.channels.${channel}, then:  npx influencer-sync notify test ${channel}`,
    }));
  },
};
