import { z } from 'zod';
import type { ConsoleSettings } from '../core/config.ts';
import { anyNumber, oneOrMore, text, textOrEmpty, wholeNumber, yesOrNo } from './fields.ts';

/** Section `webhooks`: the receiver of events. */
export const webhooksSchema = z
  .strictObject({
    host: text(200)
      .prefault('127.0.0.1')
      .describe('Address to listen on; 0.0.0.0 behind a proxy that terminates TLS.'),
    port: wholeNumber(0, 65_535).prefault(4020).describe('Port to listen on; 0 for a free one.'),
    path: z
      .string()
      .regex(/^(\/[\w.~-]+)+$/)
      .default('/webhooks')
      .describe('Path that events are posted to; the kind of event may follow as one more segment.'),
    secret: textOrEmpty()
      .prefault('')
      .describe(
        `Signing secret of the account. Use an environment variable: \${INFLUENCER_WEBHOOK_SECRET:-}. Empty: nothing is received.`,
      ),
    previous_secret: textOrEmpty()
      .prefault('')
      .describe('The previous secret, also accepted while you replace it.'),
    header_prefix: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9-]*$/)
      .nullable()
      .default(null)
      .describe(
        'Sets service.events.signature_header and timestamp_header to <prefix>-Signature and <prefix>-Timestamp.',
      ),
    encoding: z
      .enum(['hex', 'base64'])
      .nullable()
      .default(null)
      .describe('Its place is service.events.encoding now; it is still read here.'),
    max_body_bytes: wholeNumber(1_024, 64 * 1024 ** 2)
      .prefault(1024 ** 2)
      .describe('A larger body is refused.'),
    max_connections_per_address: wholeNumber(1, 500)
      .prefault(250)
      .describe(
        'Maximum connections from one address; a further one closes the one that has waited longest for its request. Behind a proxy all connections come from its address: set it to 500, the limit for all connections, and let the proxy limit its clients.',
      ),
    max_age_seconds: wholeNumber(0, 86_400)
      .prefault(0)
      .describe('Refuse a missing timestamp and one further from now; 0: accept any. Not signed.'),
  })
  .prefault({})
  .describe('The receiver of events: `npx influencer-sync webhooks`.');

/** Section `serve`: the process that runs jobs on their schedules. */
export const serveSchema = z
  .strictObject({
    host: text(200)
      .prefault('127.0.0.1')
      .describe('Address to listen on for /healthz, /readyz and /metrics; 0.0.0.0 in a container.'),
    port: wholeNumber(0, 65_535).prefault(4080).describe('Port to listen on; 0 for a free one.'),
    grace_seconds: anyNumber(0.1, 3_600)
      .nullable()
      .default(null)
      .describe(
        'Time limit of a graceful stop, for requests in flight. Must be longer than api.timeout_seconds and shorter than the timeout of your supervisor. Default: api.timeout_seconds plus 20.',
      ),
  })
  .prefault({})
  .describe('The process that runs jobs on their schedules: `npx influencer-sync serve`.');

/** Section `work`: which processes do the work of runs. */
export const workSchema = z
  .strictObject({
    engine: z
      .enum(['in-process', 'pg-boss'])
      .default('in-process')
      .describe(
        'in-process: each run does all of its work itself. pg-boss: workers read sources, post orders and mirror deals for runs, through queues in the same database, which must be a Postgres server.',
      ),
    serve_works: yesOrNo()
      .prefault(true)
      .describe('With pg-boss: whether `serve` is a worker, too. If false, only `work` is.'),
  })
  .prefault({})
  .describe('Who does the work of runs: the run itself, or workers (`npx influencer-sync work`).');

const role = z
  .enum(['viewer', 'operator'])
  .default('viewer')
  .describe('viewer: sees everything; operator: may also change things.');

const name = text(100).describe('Appears in the audit of what this person changed.');

function names(description: string) {
  return z.array(text(200)).default([]).describe(description);
}

/** Section `console`: its address, and who may use it. */
export const consoleSchema = z
  .strictObject({
    enabled: yesOrNo()
      .prefault(true)
      .describe('Whether `serve` shows the console on its port. `console` shows it in any case.'),
    url: textOrEmpty()
      .prefault('')
      .describe(
        'Address at which people open the console, including base_path. It is used for signing in and for links: https://ops.example.com/influencers.',
      ),
    base_path: z
      .string()
      .regex(/^(\/[\w.~-]+)*\/?$/)
      .default('/')
      .transform((path) => path.replace(/\/$/, ''))
      .describe('Path of the console, if a proxy forwards only that path: /influencers.'),
    trace_url: z
      .string()
      .regex(/^(https?:\/\/[^\s"<>]*\{trace_id\}[^\s"<>]*)?$/)
      .default('')
      .describe(
        'Address at which a trace of OpenTelemetry is shown, with {trace_id}: https://grafana.example.com/explore?trace={trace_id}.',
      ),
    time_zone: text(100)
      .default('UTC')
      .describe('IANA zone in which pages show times in addition to UTC, for example Europe/Amsterdam.'),
    read_only: yesOrNo().prefault(false).describe('Whether the console is read-only for everyone.'),
    auth: z
      .strictObject({
        users: z
          .array(
            z.strictObject({
              name,
              role,
              password_hash: text(500).describe(
                'What `npx influencer-sync console --hash-password` prints. Use an environment variable.',
              ),
            }),
          )
          .default([])
          .describe('People who sign in with a name and a password (HTTP Basic).'),
        tokens: z
          .array(
            z.strictObject({
              name,
              role,
              token: text(500).describe('At least 32 characters. Use an environment variable.'),
            }),
          )
          .default([])
          .describe('Programs that send `Authorization: Bearer <token>`.'),
        proxy: z
          .strictObject({
            trusted: oneOrMore(text(50)).describe(
              'Addresses, or networks such as 10.0.0.0/8, of the proxies whose header is trusted.',
            ),
            header: text(100)
              .default('X-Forwarded-User')
              .describe('Header in which the proxy names the person who has signed in.'),
            operators: z
              .array(text(200))
              .default([])
              .describe('Names that may change things; all others are viewers.'),
          })
          .nullable()
          .default(null)
          .describe('A proxy signs people in.'),
        oidc: z
          .strictObject({
            issuer: text(500).describe('Address of the provider: https://login.example.com/tenant.'),
            client_id: text(500).describe('Name under which the provider knows the console.'),
            client_secret: text(500).describe(
              'Its secret. Use an environment variable. Sessions are encrypted under it: a new one signs everybody out.',
            ),
            scope: text(500)
              .default('openid profile email')
              .describe('Scopes to request from the provider. Add the scope that it needs to send groups.'),
            name_claim: text(100)
              .default('email')
              .describe('Claim of the ID token that names the person: email, preferred_username, sub.'),
            groups_claim: text(100).default('groups').describe('Claim of the ID token that lists groups.'),
            may_lack_email_verified: z
              .boolean()
              .default(false)
              .describe(
                'Whether to accept an email although the provider does not send email_verified. Only for a provider whose users cannot choose their address. With email_verified: false, nobody is signed in.',
              ),
            operators: names('Names that may change things.'),
            operator_groups: names('Groups whose members may change things.'),
            viewers: names("Names that may see the console; '*' for everybody whom the provider signs in."),
            viewer_groups: names('Groups whose members may see the console.'),
          })
          .nullable()
          .default(null)
          .describe('An OpenID Connect provider signs people in. Needs console.url.'),
      })
      .prefault({})
      .describe('Who may see the console. Required unless it listens on this machine only.'),
  })
  .prefault({})
  .describe('The console: pages that show what happened and let you settle it.');

/** @param file the section as parsed by its schema. */
export function toConsoleSettings(file: z.output<typeof consoleSchema>): ConsoleSettings {
  const { users, tokens, proxy, oidc } = file.auth;
  return {
    enabled: file.enabled,
    url: file.url.replace(/\/+$/, ''),
    traceUrl: file.trace_url,
    basePath: file.base_path,
    timeZone: file.time_zone,
    readOnly: file.read_only,
    users: users.map(({ password_hash: passwordHash, ...user }) => ({ ...user, passwordHash })),
    tokens,
    proxy,
    oidc:
      oidc === null
        ? null
        : {
            issuer: oidc.issuer,
            clientId: oidc.client_id,
            clientSecret: oidc.client_secret,
            scope: oidc.scope,
            nameClaim: oidc.name_claim,
            groupsClaim: oidc.groups_claim,
            mayLackEmailVerified: oidc.may_lack_email_verified,
            operators: oidc.operators,
            operatorGroups: oidc.operator_groups,
            viewers: oidc.viewers,
            viewerGroups: oidc.viewer_groups,
          },
  };
}
