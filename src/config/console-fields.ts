import { z } from 'zod';
import { camelCased, oneOrMore, optional, section, text, textOrEmpty, yesOrNo } from './fields.ts';

/** From the least to the most: each may do what those before it may. */
export const ROLES = ['viewer', 'marketing', 'operator'] as const;

const role = z
  .enum(ROLES)
  .default('viewer')
  .describe(
    'viewer: sees pages, but no rows of files; marketing: also assigns codes, decides about orders, closes and sends statements; operator: everything.',
  );

const name = text(100).describe('Appears in the audit of what this person changed.');

function names(description: string) {
  return z.array(text(200)).default([]).describe(description);
}

/** Section `console`: its address, and who may use it. */
export const consoleSchema = section('The console: pages that show what happened and let you settle it.', {
  enabled: yesOrNo()
    .prefault(true)
    .describe('Whether `serve` shows the console on its port. `console` shows it in any case.'),
  url: textOrEmpty().describe(
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
  auth: section('Who may see the console. Required unless it listens on this machine only.', {
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
    proxy: optional(
      z.strictObject({
        trusted: oneOrMore(text(50)).describe(
          'Addresses, or networks such as 10.0.0.0/8, of the proxies whose header is trusted.',
        ),
        header: text(100)
          .default('X-Forwarded-User')
          .describe('Header in which the proxy names the person who has signed in.'),
        operators: z.array(text(200)).default([]).describe('Names of operators.'),
        marketing: z
          .array(text(200))
          .default([])
          .describe('Names with the role marketing; those in neither list are viewers.'),
      }),
    ).describe('A proxy signs people in.'),
    oidc: optional(
      z.strictObject({
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
            'Whether to accept an email although the provider does not send email_verified. Only for a provider whose users cannot choose their address. With email_verified: false, the sign-in is refused.',
          ),
        operators: names('Names of operators.'),
        operator_groups: names('Groups whose members are operators.'),
        marketing: names('Names with the role marketing.'),
        marketing_groups: names('Groups whose members have the role marketing.'),
        viewers: names("Names that may see the console; '*' for everybody whom the provider signs in."),
        viewer_groups: names('Groups whose members may see the console.'),
      }),
    ).describe('An OpenID Connect provider signs people in. Needs console.url.'),
  }),
});

/** Settings of the pages that `serve` and `console` show. */
export type ConsoleSettings = ReturnType<typeof toConsoleSettings>;
export type OidcSettings = NonNullable<ConsoleSettings['oidc']>;
export type Role = (typeof ROLES)[number];

export function toConsoleSettings({ auth, ...file }: z.output<typeof consoleSchema>) {
  return {
    ...camelCased(file),
    url: file.url.replace(/\/+$/, ''),
    users: auth.users.map(camelCased),
    tokens: auth.tokens,
    proxy: auth.proxy,
    oidc: auth.oidc === null ? null : camelCased(auth.oidc),
  };
}
