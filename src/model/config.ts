import type { Expectations } from './checks/expectations.ts';
import type { WebhookSettings } from './http/webhook-event.ts';
import type { ReconcileSettings } from './money/reconciliation.ts';
import type { NotifySettings } from './notify/settings.ts';
import type { DecimalText } from './order.ts';
import type { RetentionSettings } from './privacy/retention.ts';

/** `config/pipeline.yaml` after validation: every default filled in, every path absolute. */
export type PipelineConfig = {
  /** Absolute path of the file it came from. */
  readonly path: string;
  /** Names of the environment variables that it refers to. */
  readonly variables: readonly string[];
  readonly api: ApiSettings;
  readonly database: DatabaseSettings;
  readonly ledger: LedgerSettings;
  readonly sources: Readonly<Record<string, SourceSettings>>;
  readonly jobs: Readonly<Record<string, JobSettings>>;
  readonly customers: CustomerSettings;
  readonly webhooks: WebhookSettings;
  readonly serve: ServeSettings;
  readonly work: WorkSettings;
  readonly console: ConsoleSettings;
  readonly notify: NotifySettings;
  readonly statements: StatementSettings;
  readonly retention: RetentionSettings;
  readonly reconcile: ReconcileSettings;
  readonly openlineage: OpenLineageSettings;
};

/** Where lineage is sent; what is empty, the environment may say. */
export type OpenLineageSettings = {
  readonly url: string;
  readonly apiKey: string;
  /** Of jobs. */
  readonly namespace: string;
};

/** How statements of earnings are made. */
export type StatementSettings = {
  /** Absolute path of terms.csv; null: only the rates of the service count. */
  readonly terms: string | null;
  readonly returnWindowDays: number;
  /** What is left of 100 of net revenue after the goods are paid for; null: not configured. */
  readonly marginPercent: DecimalText | null;
  /** ISO 4217: into which totals are converted; null: nothing is. */
  readonly reportingCurrency: string | null;
  /** Absolute path of fx.csv; null: no rate is known. */
  readonly fx: string | null;
  /** IANA zone of days and months. */
  readonly timeZone: string;
};

/** Who may do what in the console: see everything, or change things as well. */
export type Role = 'viewer' | 'operator';

/** The pages that `serve` and `console` show. */
export type ConsoleSettings = {
  /** Whether `serve` shows them. */
  readonly enabled: boolean;
  /** Where people open it, without a trailing slash, for links; empty where that is not known. */
  readonly url: string;
  /** Address of a trace, with `{trace_id}`; empty: traces are not linked. */
  readonly traceUrl: string;
  /** Path below which they are, without a trailing slash; empty for the root. */
  readonly basePath: string;
  /** IANA zone in which times are shown beside UTC. */
  readonly timeZone: string;
  readonly readOnly: boolean;
  readonly users: readonly { readonly name: string; readonly role: Role; readonly passwordHash: string }[];
  readonly tokens: readonly { readonly name: string; readonly role: Role; readonly token: string }[];
  /** A proxy that signs people in and names them in a header; null: none does. */
  readonly proxy: {
    readonly trusted: readonly string[];
    readonly header: string;
    readonly operators: readonly string[];
  } | null;
  /** A provider of OpenID Connect that signs people in; null: none does. */
  readonly oidc: OidcSettings | null;
};

export type OidcSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What the console asks the provider for. */
  readonly scope: string;
  /** Claims of the ID token that name the person and their groups. */
  readonly nameClaim: string;
  readonly groupsClaim: string;
  readonly operators: readonly string[];
  readonly operatorGroups: readonly string[];
  /** `*`: everybody whom the provider signs in. */
  readonly viewers: readonly string[];
  readonly viewerGroups: readonly string[];
};

/** The long-running process, `npx influencer-sync serve`. */
export type ServeSettings = {
  /** Address that /healthz, /readyz and /metrics listen on. */
  readonly host: string;
  /** 0 means a free one. */
  readonly port: number;
  /** What runs when it is asked to end may take so long to finish what is on its way, in seconds. */
  readonly graceSeconds: number;
};

/** Who does the work of runs. */
export type WorkSettings = {
  /** `pg-boss`: workers, where there are any. */
  readonly engine: 'in-process' | 'pg-boss';
  /** With pg-boss: whether `serve` is a worker as well. */
  readonly serveWorks: boolean;
};

export type CustomerSettings = {
  /** Secret under which e-mail addresses are hashed; empty when none is set. */
  readonly hashKey: string;
  /** Secret that it takes the place of; empty when it takes that of none. */
  readonly previousHashKey: string;
};

export type ApiSettings = {
  /** Base address without a trailing slash; empty when none is set. */
  readonly url: string;
  readonly key: string;
  /** Requests in flight at most. */
  readonly concurrency: number;
  /** 0 means no limit. */
  readonly requestsPerSecond: number;
  /** Whether the service is declared to ignore a second order id of the same platform. */
  readonly duplicateOrders: 'unknown' | 'ignored';
  /** With `ignored`: how long a doubt rests before it is sent again, in minutes. */
  readonly quietPeriodMinutes: number;
  /** A process that has not given a sign of life for this long has lost what it had claimed, in seconds. */
  readonly leaseSeconds: number;
  /** One request, from the first byte to the whole answer, in seconds. Shorter than leaseSeconds. */
  readonly timeoutSeconds: number;
};

export type DatabaseSettings = {
  /** `postgres://…`; empty: the embedded database. */
  readonly url: string;
  /** The same database as a login that reads schema bi and nothing else; empty where there is none. */
  readonly biUrl: string;
  /** Folder of the embedded database and of the spool: `.data/` beside the configuration file, absolute. */
  readonly dataFolder: string;
  /** One statement takes so long at most, unless its phase has a limit of its own. */
  readonly statementMinutes: number;
};

/** What shows a restored or replaced database, beside the journals in the data folder. */
export type LedgerSettings = {
  /** Where the journals are kept, too: an S3 address or an absolute folder, reached as a source is; null: nowhere. */
  readonly mark: Pick<SourceSettings, 'uri' | 'endpoint' | 'region' | 'profile' | 'forcePathStyle'> | null;
};

export type SourceSettings = {
  readonly name: string;
  /** `s3://bucket/prefix/`, with a glob after the prefix if wanted, or an absolute folder. */
  readonly uri: string;
  /** Name of a file in `config/layouts/`, without `.yaml`. */
  readonly layout: string;
  /** Sent as `order_platform`; part of the idempotency key, so it must stay as it is for a source. Empty where no orders are read. */
  readonly orderPlatform: string;
  /** IANA zone for times that carry none; null when not given. */
  readonly timeZone: string | null;
  /** ISO 4217 for layouts whose format has no currency; null when not given. */
  readonly currency: string | null;
  /** Whether dates of digits begin with the month or the day, where the layout leaves that open or is wrong; null: as the layout says. */
  readonly dateOrder: 'MDY' | 'DMY' | null;
  /** `not_recorded`: its exports do not record consent, and are read all the same. Otherwise a file without a column of consent is held. */
  readonly consent: 'recorded' | 'not_recorded';
  /** Whether orders are stored with the key of their customer, which is made of the address with `customers.hash_key`. */
  readonly customerKey: boolean;
  /** Overrides the layout's encoding; null: the layout's. A WHATWG or iconv label. */
  readonly encoding: string | null;
  /** Patterns of names that are no exports. */
  readonly exclude: readonly string[];
  /** Address of the S3 store; null: AWS_ENDPOINT_URL_S3, else Amazon's. */
  readonly endpoint: string | null;
  /** Region of the bucket; null: AWS_REGION, or what the profile says. */
  readonly region: string | null;
  /** Profile of the AWS configuration whose credentials are used; null: AWS_PROFILE, else the standard chain. */
  readonly profile: string | null;
  /** Of a folder: whether links that lead out of it are followed. */
  readonly followLinks: boolean;
  /** Path-style addresses for S3 (MinIO and others). */
  readonly forcePathStyle: boolean;
  /** Whether an ETag of 32 hex digits is the MD5 of the content. False: it only tells versions apart. */
  readonly etagIsMd5: boolean;
  readonly limits: SourceLimits;
  /** What its files are usually like, and what becomes of one that is not. */
  readonly expectations: Expectations;
};

export type SourceLimits = {
  /** Decompressed bytes of one file at most. */
  readonly maxBytes: number;
  /** Decompressed bytes for each compressed byte at most: bombs. */
  readonly maxRatio: number;
  /** One record at most, in bytes: an unclosed quote swallows no more than this. */
  readonly maxRecordBytes: number;
  /** A read without a byte for this long is given up, in seconds. */
  readonly idleTimeoutSeconds: number;
  /** A file with a larger share of rejected rows is held; 0 to 1. */
  readonly maxRejectedShare: number;
  /** A file of customers with a larger share of unreadable cells in a column that only look-ups need is held; 0 to 1. */
  readonly maxUnreadableShare: number;
  /** A file with a larger share of cancelled orders is held; 0 to 1. */
  readonly maxCancelledShare: number;
  /** A file with this share of credited orders without revenue, or more, is held; 1: never. */
  readonly maxZeroRevenueShare: number;
  /** A file with this share of orders in a status, or in a currency, that nothing names, or more, is held; 1: never. */
  readonly maxUnlistedShare: number;
};

/** When a job of any kind runs by itself, and how long it may take. */
export type JobTiming = {
  /** Cron expression with five fields; null: not by the clock. */
  readonly schedule: string | null;
  /** IANA zone that the schedule, and the days of the job, are meant in. */
  readonly timeZone: string;
  /** Job whose slots it follows, instead of a schedule; null: none. */
  readonly after: string | null;
  /** What becomes of slots that came while nothing ran: the newest runs, all do, none does. */
  readonly catchUp: 'latest' | 'all' | 'none';
  /** What becomes of a slot that comes while the job is at work. */
  readonly overlap: 'skip' | 'queue';
  /** A run that takes longer is ended, in minutes; null: no limit. */
  readonly deadlineMinutes: number | null;
  /** A run, one step of which (reading a file, posting, …) takes longer is ended, in minutes; null: no limit. */
  readonly stepMinutes: number | null;
  /** A run without any progress for so long is ended, in minutes. */
  readonly stallMinutes: number;
};

/** A job of any kind; each kind adds what it needs (`jobs/<kind>/settings.ts`). */
export type JobSettings = JobTiming & {
  readonly name: string;
  /** Of a folder in `jobs/`. */
  readonly kind: string;
  /** Names of the sources that it reads; empty where it reads no exports. */
  readonly sources: readonly string[];
  /** Brand whose customers it reads, sends or works with; left out where it has nothing to do with customers. While it runs, none is forgotten. */
  readonly customersOf?: string;
};
