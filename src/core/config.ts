import type { Expectations } from './checks/expectations.ts';
import type { AgeRule } from './file-age.ts';
import type { ServiceDescription } from './http/service-description.ts';
import type { WebhookSettings } from './http/webhook-event.ts';
import type { ReconcileSettings } from './money/reconciliation.ts';
import type { NotifySettings } from './notify/settings.ts';
import type { DecimalText } from './order.ts';
import type { RetentionSettings } from './privacy/retention.ts';

/** The validated `config/pipeline.yaml`, with all defaults filled in and all paths absolute. */
export type PipelineConfig = {
  /** Absolute path of the configuration file. */
  readonly path: string;
  /** Names of the environment variables that the file refers to. */
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
};

/** Settings for statements of earnings. */
export type StatementSettings = {
  /** Absolute path of terms.csv. Null: only the rates of the service count. */
  readonly terms: string | null;
  readonly returnWindowDays: number;
  /** Gross margin: percentage of net revenue that remains after the cost of goods. Null if not configured. */
  readonly marginPercent: DecimalText | null;
  /** ISO 4217 currency into which totals are converted. Null: no conversion. */
  readonly reportingCurrency: string | null;
  /** Absolute path of fx.csv. Null: no exchange rate is known. */
  readonly fx: string | null;
  /** IANA zone for days and months. */
  readonly timeZone: string;
};

/** Role in the console: `viewer` may see everything, `operator` may also change things. */
export type Role = 'viewer' | 'operator';

/** Settings of the pages that `serve` and `console` show. */
export type ConsoleSettings = {
  /** True if `serve` shows the console. */
  readonly enabled: boolean;
  /** Public address of the console without a trailing slash, for links. Empty if not known. */
  readonly url: string;
  /** Address template of a trace, with `{trace_id}`. Empty: traces are not linked. */
  readonly traceUrl: string;
  /** Path prefix of the pages, without a trailing slash. Empty for the root. */
  readonly basePath: string;
  /** IANA zone of the local times that are shown next to UTC. */
  readonly timeZone: string;
  readonly readOnly: boolean;
  readonly users: readonly { readonly name: string; readonly role: Role; readonly passwordHash: string }[];
  readonly tokens: readonly { readonly name: string; readonly role: Role; readonly token: string }[];
  /** A proxy that authenticates people and passes their name in a header. Null if there is none. */
  readonly proxy: {
    readonly trusted: readonly string[];
    readonly header: string;
    readonly operators: readonly string[];
  } | null;
  /** An OpenID Connect provider that authenticates people. Null if there is none. */
  readonly oidc: OidcSettings | null;
};

export type OidcSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Scopes that the console requests from the provider. */
  readonly scope: string;
  /** Claims of the ID token that contain the person's name and groups. */
  readonly nameClaim: string;
  readonly groupsClaim: string;
  /** Whether a provider that does not send `email_verified` is believed. `false` never is. */
  readonly mayLackEmailVerified: boolean;
  readonly operators: readonly string[];
  readonly operatorGroups: readonly string[];
  /** `*` admits everyone whom the provider authenticates. */
  readonly viewers: readonly string[];
  readonly viewerGroups: readonly string[];
};

/** Settings of the long-running process, `npx influencer-sync serve`. */
export type ServeSettings = {
  /** Address on which /healthz, /readyz and /metrics listen. */
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Grace period for work in progress when the process is asked to stop, in seconds. */
  readonly graceSeconds: number;
};

/** Who executes the units of work of runs. */
export type WorkSettings = {
  /** `pg-boss`: workers do the work, if there are any. */
  readonly engine: 'in-process' | 'pg-boss';
  /** With pg-boss: true if `serve` is a worker as well. */
  readonly serveWorks: boolean;
};

export type CustomerSettings = {
  /** Secret key for the hashes of e-mail addresses. Empty if none is set. */
  readonly hashKey: string;
  /** The previous secret key, which `hashKey` replaces. Empty if there is none. */
  readonly previousHashKey: string;
};

export type ApiSettings = {
  /** Base address without a trailing slash. Empty if none is set. */
  readonly url: string;
  readonly key: string;
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  /** 0: no limit. */
  readonly requestsPerSecond: number;
  /** `ignored` if the service is declared to ignore a second request with the same order id and platform. */
  readonly duplicateOrders: 'unknown' | 'ignored';
  /** With `ignored`: age in minutes at which an order in doubt is sent again. */
  readonly quietPeriodMinutes: number;
  /** Duration of a lease in seconds. A process that has not renewed it for this long loses its claims. */
  readonly leaseSeconds: number;
  /**
   * Time limit of one request, from the first byte to the whole answer, in seconds. Shorter than
   * leaseSeconds.
   */
  readonly timeoutSeconds: number;
  /** How the service does what its specification leaves open. */
  readonly description: ServiceDescription;
};

export type DatabaseSettings = {
  /** `postgres://…`. Empty: the embedded database. */
  readonly url: string;
  /** Connection to the same database with a login that can only read schema bi. Empty if there is none. */
  readonly biUrl: string;
  /**
   * Absolute path of the folder of the embedded database and of the spool: `.data/` next to the configuration
   * file.
   */
  readonly dataFolder: string;
  /** Time limit of one statement in minutes, unless its phase has its own limit. */
  readonly statementMinutes: number;
};

/**
 * Settings that help to detect a restored or replaced database, in addition to the journals in the data
 * folder.
 */
export type LedgerSettings = {
  /**
   * Where a second copy of the journals is kept: an S3 address or an absolute folder, accessed like a source.
   * Null: nowhere.
   */
  readonly mark: Pick<SourceSettings, 'uri' | 'endpoint' | 'region' | 'profile' | 'forcePathStyle'> | null;
  /**
   * Absolute path of the user's state folder, in which an embedded ledger without a mark keeps a second copy of its
   * journals. Null: nowhere. Empty: it should, but this user has no such folder.
   */
  readonly stateFolder: string | null;
};

export type SourceSettings = {
  readonly name: string;
  /** `s3://bucket/prefix/`, optionally with a glob after the prefix, or an absolute folder. */
  readonly uri: string;
  /** Name of a file in `config/layouts/`, without `.yaml`. */
  readonly layout: string;
  /**
   * Sent as `order_platform`. It is part of the idempotency key, so it must never change for a source. Empty
   * if no orders are read.
   */
  readonly orderPlatform: string;
  /** IANA zone of times without a zone. Null if not given. */
  readonly timeZone: string | null;
  /** ISO 4217 currency for layouts whose format contains none. Null if not given. */
  readonly currency: string | null;
  /**
   * Whether numeric dates begin with the month or the day, if the layout leaves this open or is wrong. Null:
   * as the layout says.
   */
  readonly dateOrder: 'MDY' | 'DMY' | null;
  /**
   * The mark before the decimals of amounts, if the layout leaves this open or is wrong. Null: as the layout says.
   */
  readonly decimalMark?: '.' | ',' | null;
  /**
   * `not_recorded`: the exports do not record consent. They are read nevertheless, and customers whose consent
   * is unknown are submitted. Otherwise a file without a consent column is held.
   */
  readonly consent: 'recorded' | 'not_recorded';
  /**
   * True if orders are stored with a key of their customer, which is an HMAC of the address with
   * `customers.hash_key`.
   */
  readonly customerKey: boolean;
  /** True if orders are stored with their amounts by SKU, which terms that exclude products need. */
  readonly orderLines: boolean;
  /**
   * Columns that the files of the source lack although the layout requires them, because they can only lower an
   * amount or exclude an order; with the reason why the orders count in full.
   */
  readonly missingColumns: Readonly<Record<string, string>>;
  /** Overrides the encoding of the layout: a WHATWG or iconv label. Null: the layout's encoding. */
  readonly encoding: string | null;
  /** Patterns of file names that are not exports. */
  readonly exclude: readonly string[];
  /** What decides which of two exports is newer. Null: all that is known about them. */
  readonly age: AgeRule | null;
  /**
   * A run lists the names of this many days before the last listing, and of later days. Null: it lists all
   * names.
   */
  readonly lookbackDays: number | null;
  /** Names below the folder or prefix are exports only if they sort after this one. Null: no such limit. */
  readonly startAfter: string | null;
  /** The queue that announces new objects. Null: runs list the names instead. */
  readonly events: SourceEvents | null;
  /** Endpoint of the S3 store. Null: AWS_ENDPOINT_URL_S3, or else Amazon's. */
  readonly endpoint: string | null;
  /** Region of the bucket. Null: AWS_REGION, or the region of the profile. */
  readonly region: string | null;
  /** Profile of the AWS configuration with the credentials. Null: AWS_PROFILE, or else the standard chain. */
  readonly profile: string | null;
  /** For a folder: true if symbolic links that lead out of it are followed. */
  readonly followLinks: boolean;
  /** True if S3 uses path-style addresses (MinIO and others). */
  readonly forcePathStyle: boolean;
  /** True if an ETag of 32 hex digits is the MD5 of the content. False: it only distinguishes versions. */
  readonly etagIsMd5: boolean;
  readonly limits: SourceLimits;
  /** What its files usually look like, and what to do with a file that differs. */
  readonly expectations: Expectations;
};

/** A queue of S3 events (SQS). */
export type SourceEvents = {
  /** URL of the queue. */
  readonly queue: string;
  /** All names are listed nevertheless if the last listing began longer ago, because an event may be lost. */
  readonly listEveryHours: number;
};

export type SourceLimits = {
  /** Maximum decompressed size of a file, in bytes. */
  readonly maxBytes: number;
  /** Maximum ratio of decompressed to compressed bytes, as protection against decompression bombs. */
  readonly maxRatio: number;
  /** Maximum size of a record in bytes. It limits how much an unclosed quote can consume. */
  readonly maxRecordBytes: number;
  /** A read that receives no byte for this long is aborted, in seconds. */
  readonly idleTimeoutSeconds: number;
  /** The file is held if a larger share of its rows is rejected; 0 to 1. */
  readonly maxRejectedShare: number;
  /**
   * A file of customers is held if a larger share of the cells in a column that only look-ups need cannot be
   * read; 0 to 1.
   */
  readonly maxUnreadableShare: number;
  /** The file is held if a larger share of its orders is cancelled; 0 to 1. */
  readonly maxCancelledShare: number;
  /** The file is held if at least this share of credited orders has no revenue; 1: never. */
  readonly maxZeroRevenueShare: number;
  /**
   * The file is held if at least this share of orders has a status or a currency that is not expected; 1:
   * never.
   */
  readonly maxUnlistedShare: number;
};

/** When a job of any kind runs on schedule, and how long it may take. */
export type JobTiming = {
  /** Cron expression with five fields. Null: no schedule. */
  readonly schedule: string | null;
  /** IANA zone of the schedule and of the job's days. */
  readonly timeZone: string;
  /** The job whose slots this job follows instead of a schedule. Null: none. */
  readonly after: string | null;
  /** What to do with slots that were missed while no process ran: run the latest, run all, or run none. */
  readonly catchUp: 'latest' | 'all' | 'none';
  /** What to do with a slot that becomes due while the job is running. */
  readonly overlap: 'skip' | 'queue';
  /** A run that takes longer is ended, in minutes. Null: no limit. */
  readonly deadlineMinutes: number | null;
  /**
   * A run is ended if one of its steps (reading a file, posting, …) takes longer, in minutes. Null: no limit.
   */
  readonly stepMinutes: number | null;
  /** A run that makes no progress for this long is ended, in minutes. */
  readonly stallMinutes: number;
};

/** A job of any kind. Each kind adds its own settings (`jobs/<kind>/settings.ts`). */
export type JobSettings = JobTiming & {
  readonly name: string;
  /** Name of a folder in `jobs/`. */
  readonly kind: string;
  /** Names of the sources that the job reads. Empty if it reads no exports. */
  readonly sources: readonly string[];
  /**
   * The brand whose customers the job reads, sends or uses. Omitted if it does not handle customers. While
   * the job runs, no customer of that brand can be forgotten.
   */
  readonly customersOf?: string;
};
