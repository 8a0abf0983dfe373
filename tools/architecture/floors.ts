/**
 * The folders of the program, lowest first. Imports run downwards: a folder imports only itself and what
 * comes before it. `test/architecture.test.ts` holds this, and docs/architecture.md shows it.
 */
export const FLOORS: readonly { readonly name: string; readonly holds: string }[] = [
  { name: 'core', holds: 'values and words: money, time, text, known errors; imports nothing' },
  { name: 'db', holds: 'connections, transactions, migrations, the types of the tables' },
  { name: 'service', holds: 'the contract and the description of the service, and a client that sends once' },
  { name: 'config', holds: 'YAML → settings, one schema a section; secrets' },
  { name: 'store', holds: 'where exports lie: folders, S3, queues' },
  { name: 'ops', holds: 'the state of runs: leases, slots, schedules, the rate limit, the audit' },
  { name: 'intake', holds: 'exports: decode → csv → layout → sealed orders and customers; holds; checks' },
  { name: 'ledger', holds: 'entries, claims, answers, doubts; continuity, sending, the receiver of events' },
  { name: 'rollups', holds: 'sums of orders, kept so that answers are quick' },
  { name: 'runs', holds: 'the frame of a run, posting, workers; what a kind of job must offer' },
  { name: 'mirror', holds: 'the copy of the account: dealflows, brands, deals' },
  { name: 'codes', holds: 'codes.csv: which code belonged to whom, and when' },
  { name: 'privacy', holds: 'what is forgotten and deleted' },
  { name: 'money', holds: 'terms, earnings, statements, returns, leaks' },
  { name: 'render', holds: 'blocks → terminal, page, PDF, CSV' },
  { name: 'reports', holds: 'what people ask: queries, and the words of the answers' },
  { name: 'monitoring', holds: 'doctor, notices, metrics, traces' },
  { name: 'sandbox', holds: 'the whole service on your machine; imports only service and core' },
  { name: 'jobs', holds: 'one folder a kind of job: its flow, settings, decisions, report' },
  { name: 'decisions', holds: 'what a person decides: settle, release, assign, bulk' },
  { name: 'console', holds: 'pages and forms for a browser' },
  { name: 'cli', holds: 'commands for a terminal' },
  { name: 'main', holds: 'the entry' },
];
