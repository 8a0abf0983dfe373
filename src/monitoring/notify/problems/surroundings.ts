import type { Finding } from '../../../core/finding.ts';
import type { ProblemKind } from '../../../core/notify/notice.ts';
import { maskAddresses } from '../../../core/text/mask-addresses.ts';
import type { Diagnostic } from '../../../runs/runnable-kind.ts';
import { openSourceClients } from '../../../store/source-clients.ts';
import { database } from '../../doctor/diagnostics/database.ts';
import { disk } from '../../doctor/diagnostics/disk.ts';
import { clocks, serverLimits } from '../../doctor/diagnostics/server.ts';
import type { ProblemFinder } from './problem-finder.ts';

type Watching = {
  readonly kind: ProblemKind;
  readonly title: string;
  readonly checks: readonly Diagnostic[];
  /** Statuses of findings that are reported. */
  readonly tells: readonly Finding['status'][];
  readonly over: string;
};

/**
 * Checks of `doctor` for conditions that change on their own: a disk fills up, a clock drifts, a server
 * becomes a standby.
 */
const watched: readonly Watching[] = [
  {
    kind: 'disk',
    title: 'Disk',
    checks: [disk],
    tells: ['warning', 'problem'],
    over: 'The disk of the data folder has room again.',
  },
  {
    kind: 'database',
    title: 'Database',
    checks: [database, serverLimits],
    // Warnings of these checks are advice on settings, which `doctor` gives before a deployment.
    tells: ['problem'],
    over: 'Runs can use the database again.',
  },
  {
    kind: 'clock',
    title: 'Clock',
    checks: [clocks],
    tells: ['warning', 'problem'],
    over: 'The clocks of this machine and the database agree again.',
  },
];

export const surroundings: readonly ProblemFinder[] = watched.map(({ kind, title, checks, tells, over }) => ({
  kind,
  severity: 'error',
  title,
  async find(situation) {
    // Without the service and the stores, because runs access them anyway.
    const patient = {
      config: situation.config,
      kinds: situation.kinds,
      db: situation.db,
      databaseProblem: null,
      hasTables: true,
      client: null,
      sourceClients: openSourceClients(),
      pgSslMode: '',
      now: () => new Date(),
      freeBytes: situation.freeBytes,
    };
    const findings: Finding[] = [];
    for (const { look } of checks) findings.push(...(await look(patient)));
    const [worst] = findings
      .filter(({ status }) => tells.includes(status))
      .toSorted((one, other) => SEVERITY_ORDER.indexOf(one.status) - SEVERITY_ORDER.indexOf(other.status));
    if (worst === undefined) return [];
    return [
      {
        severity: worst.status === 'problem' ? 'error' : 'warning',
        since: situation.at,
        summary: maskAddresses([worst.what, worst.why].filter((part) => part !== undefined).join(' ')),
        command: 'npx influencer-sync doctor',
        page: '/',
      },
    ];
  },
  over: () => over,
}));

const SEVERITY_ORDER: readonly Finding['status'][] = ['problem', 'warning', 'ok'];
