import { ROLES, type Role } from '../../config/console-fields.ts';

/**
 * The least role for each request, and for what only some may see or decide: the one table of rights of the console.
 * The server checks each request against it, and pages ask it what to offer. A page or an action that is not in it does
 * not compile; `test/console/permissions.long.test.ts` visits every route as every role.
 */
const LEAST = {
  'GET /': 'viewer',
  'GET /assets/console.css': 'viewer',
  'GET /assets/console.js': 'viewer',
  'GET /assets/htmx.js': 'viewer',
  'GET /assets/icon.svg': 'viewer',
  'GET /live': 'viewer',
  'GET /search': 'viewer',
  'GET /orders': 'viewer',
  'GET /orders/:source/:order': 'viewer',
  'GET /money/conflicts': 'viewer',
  // Names influencers among the customers.
  'GET /customers': 'marketing',
  'GET /creators': 'viewer',
  'GET /creators/:creator': 'viewer',
  'GET /deals': 'viewer',
  'GET /deals/:deal': 'viewer',
  'GET /codes': 'viewer',
  'GET /codes/assign': 'viewer',
  'GET /codes/export': 'viewer',
  'GET /claims': 'viewer',
  'GET /money': 'viewer',
  'GET /money/customers': 'viewer',
  'GET /money/leaks': 'viewer',
  'GET /money/reconciliation': 'viewer',
  // Whom is paid how much; marketing proposes it, and an operator has the bank data.
  'GET /money/payments': 'marketing',
  'GET /money/payments/file': 'operator',
  'GET /money/accruals': 'viewer',
  'GET /statements': 'viewer',
  'GET /statements/:month': 'viewer',
  // Has the name and the address of a creator.
  'GET /statements/:month/document': 'marketing',
  'GET /fix': 'viewer',
  'GET /doubts': 'viewer',
  'GET /held': 'viewer',
  'GET /restated': 'viewer',
  'GET /rejected': 'viewer',
  'GET /rejected/:file/:record': 'viewer',
  'GET /checks': 'viewer',
  'GET /checks/:finding': 'viewer',
  'GET /bulk': 'viewer',
  'GET /bulk/:bulk': 'viewer',
  'GET /runs': 'viewer',
  'GET /runs/:run': 'viewer',
  'GET /schedules': 'viewer',
  'GET /workers': 'viewer',
  'GET /backfills': 'viewer',
  'GET /backfills/:backfill': 'viewer',
  'GET /files': 'viewer',
  'GET /files/:file': 'viewer',
  'GET /notices': 'viewer',
  'GET /audit': 'viewer',

  'POST /codes/assign': 'marketing',
  'POST /codes/withdraw': 'marketing',
  'POST /codes/void': 'marketing',
  'POST /claims/add': 'marketing',
  'POST /claims/reply': 'marketing',
  'POST /claims/close': 'marketing',
  'POST /money/leaks/acknowledge': 'marketing',
  'POST /statements/close': 'marketing',
  'POST /statements/send': 'marketing',
  'POST /statements/settle-mail': 'marketing',
  'POST /money/payments/propose': 'marketing',
  'POST /money/payments/export': 'operator',
  'POST /money/payments/cancel': 'operator',
  'POST /money/payments/complete': 'operator',
  'POST /money/payments/settle-booking': 'operator',
  'POST /held/decide': 'marketing',
  'POST /restated/settle': 'marketing',
  'POST /doubts/settle': 'marketing',
  'POST /bulk/preview': 'marketing',
  'POST /bulk/preview-credits': 'marketing',
  'POST /bulk/confirm': 'marketing',
  'POST /bulk/abort': 'marketing',
  'POST /bulk/preview-files': 'operator',
  'POST /files/release': 'operator',
  'POST /files/newest': 'operator',
  'POST /files/reread': 'operator',
  'POST /checks/acknowledge': 'operator',
  'POST /checks/expect-date': 'operator',
  'POST /schedules/run-now': 'operator',
  'POST /schedules/pause': 'operator',
  'POST /schedules/resume': 'operator',
  'POST /backfills/pause': 'operator',
  'POST /backfills/resume': 'operator',
  'POST /backfills/cancel': 'operator',

  // Values of the field `decision`, in every form that has one.
  'decide credit': 'marketing',
  'decide exclude': 'marketing',
  'decide accepted': 'marketing',
  'decide write_off': 'marketing',
  'decide acknowledge': 'marketing',
  // Whether the service has an order is a question of its answers and the log. A wrong one credits it twice.
  'decide resend': 'operator',
  'decide release': 'operator',
  'decide reread': 'operator',

  /** Rows of files, which contain personal data of customers. */
  'see raw rows': 'operator',
} as const satisfies Readonly<Record<string, Role>>;

export type Permission = keyof typeof LEAST;
type Suffix<Prefix extends string, Of = Permission> = Of extends `${Prefix} ${infer Rest}` ? Rest : never;
/** Path of a page in Fastify's syntax. */
export type PagePath = Suffix<'GET'>;
/** Path to which a form is sent. */
export type ActionPath = Suffix<'POST'>;

export const permissions = Object.keys(LEAST) as readonly Permission[];

/** The least role for something. What is not in the table is left to operators. */
function leastRole(permission: string): Role {
  return Object.hasOwn(LEAST, permission) ? LEAST[permission as Permission] : 'operator';
}

/** Whether a role may do something. */
export function permits(role: Role, permission: string): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(leastRole(permission));
}

/** Why somebody was refused. */
export function whyForbidden({ role }: { role: Role }, permission: string): string {
  return `Your role is ${role}. ${whoMay(permission)} can do this.`;
}

/** Who may do something, at the beginning of a sentence. */
export function whoMay(permission: string): string {
  return { viewer: 'Everybody', marketing: 'Marketing or an operator', operator: 'Only an operator' }[
    leastRole(permission)
  ];
}
