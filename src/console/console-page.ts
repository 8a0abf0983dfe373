import type { z } from 'zod';
import type { Role } from '../config/console-fields.ts';
import type { PipelineConfig } from '../config/schema.ts';
import type { Problem } from '../core/notify/notice.ts';
import type { Html, HtmlValue } from '../core/text/html.ts';
import type { Database } from '../db/connect.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import type { ActorlessRecord } from '../ops/record-audit.ts';
import type { ActionPath, PagePath, Permission } from './access/permissions.ts';
import { reasonField } from './form-fields.ts';

/** The person who uses the console. */
export type Actor = { readonly name: string; readonly role: Role };

/** How a page shows what many pages show. */
export type Showing = {
  /**
   * An instant in the zone that the foot of the page names, with UTC as its tooltip. A day stays this day in every
   * zone: `28 Nov`. Empty for null.
   */
  instant(at: Date | string | null, options?: { readonly seconds?: boolean }): Html;
  /** A link to the page of an order, with its id as the default label. */
  order(order: { readonly source: string | null; readonly orderId: string }, label?: HtmlValue): Html;
  /** A link to the page of a creator; empty if it is not known. */
  creator(handle: string | null): Html | null;
  /** A link to the page of a deal; empty if it is not known. */
  deal(dealId: string | null): Html | null;
};

/** A request for a page, and everything that the page needs. */
export type Visit = Showing & {
  /** A read-only connection with a statement timeout that a person can wait for. */
  readonly db: Database;
  readonly config: PipelineConfig;
  readonly actor: Actor;
  /** Whether this person may do something. If not, pages offer no form for it. A read-only console permits no change. */
  readonly may: (permission: Permission) => boolean;
  /** Path of this page, without its query. */
  readonly path: string;
  /** Parts of the path: `run` of `/runs/:run`. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** What waits for a person, most urgent first. Read only once. */
  waiting(): Promise<readonly Problem[]>;
  /** The time of the request, from which relative times are calculated. */
  readonly now: Date;
  /** IANA zone in which times are shown, from the query, else from the configuration. */
  readonly zone: string;
  /** Builds the address of a page of the console. Empty values are left out, and the chosen zone is kept. */
  link(path: string, query?: Readonly<Record<string, LinkValue>>): string;
};

/** A value of a link; several are as many parameters of the name. */
export type LinkValue = string | number | readonly string[] | null | undefined;

/** The result of a page: its content, a redirect, or a file. */
export type Shown = ShownPage | { readonly redirect: string } | { readonly download: Download };

/** A file to download. Its name consists of fixed words and ids only. */
export type Download = { readonly name: string; readonly type: string; readonly content: string | Buffer };

export type ShownPage = {
  /** Heading of the page and title of the window. */
  readonly title: string;
  readonly content: HtmlValue;
  /** 404 if the requested object does not exist, 403 if this person may not see it; default 200. */
  readonly status?: 403 | 404;
};

/** A page of the console. To add one, create a file in `pages/` and add it to its index, which gives it its place. */
export type ConsolePage = {
  /** Path in Fastify's syntax: `/runs/:run`. */
  readonly path: PagePath;
  readonly show: (visit: Visit) => Promise<Shown>;
};

export function definePage(path: PagePath, show: ConsolePage['show']): ConsolePage {
  return { path, show };
}

/** The context of an action. Everything happens in one transaction, including the audit record. */
export type Change = {
  readonly trx: DatabaseTransaction;
  readonly config: PipelineConfig;
  readonly decidedBy: string;
  /** Why, as every form asks. It is kept with the change. */
  readonly reason: string;
  /** @throws Refused if this person may not decide so. */
  requireRight(permission: Permission): void;
  /**
   * Writes the audit record, which every action must; its summary is shown to the person.
   * @returns its id.
   */
  audit(record: ActorlessRecord): Promise<string>;
  /** Who decides and why, and how that is recorded, for what decides in the same way for commands. */
  readonly by: Pick<Change, 'decidedBy' | 'reason' | 'audit'>;
  /**
   * Adds work to do after the commit, such as refreshing reports. If it fails, the change stays and the error
   * is logged.
   */
  afterwards(work: (db: Database) => Promise<unknown>): void;
  /** Shows another page of the console afterwards instead of the form's page, for example `/bulk/5`. */
  leadTo(path: string): void;
};

/** The definition of an action. To add one, create a file in `actions/` and add it to its index. */
type ActionDefinition<Form> = {
  /** Path to which the form is sent: `/doubts/settle`. */
  readonly path: ActionPath;
  /** Fields of the form besides the reason. All values arrive as text. */
  readonly form: z.ZodType<Form>;
  /**
   * Carries out the action, with its audit record.
   * @throws Refused with the reason; then nothing was changed.
   */
  readonly perform: (change: Change, form: Form) => Promise<unknown>;
};

/** A parsed form: the action to perform, or the problems, each a sentence for the person. */
type ReadForm =
  | { readonly perform: (change: Omit<Change, 'reason' | 'by'>) => Promise<unknown> }
  | { readonly problems: readonly string[] };

/** An action without the type of its form. */
export type ConsoleAction = {
  readonly path: ActionPath;
  readonly read: (fields: Readonly<Record<string, unknown>>) => ReadForm;
};

export function defineAction<Form>({ path, form, perform }: ActionDefinition<Form>): ConsoleAction {
  return {
    path,
    read(fields) {
      const [read, why] = [form.safeParse(fields), reasonField.safeParse(fields.reason)];
      if (!read.success || !why.success)
        return {
          problems: [read, why].flatMap(({ error }) => error?.issues.map(({ message }) => message) ?? []),
        };
      return {
        perform({ decidedBy, audit, ...change }) {
          const by = { decidedBy, reason: why.data, audit };
          return perform({ ...change, ...by, by }, read.data);
        },
      };
    },
  };
}

/** Thrown if a change is not possible now. Nothing was changed, and the page shows the reason. */
export class Refused extends Error {
  readonly status: 403 | 409;

  /**
   * @param message one or two sentences for the person: the reason, and what to do.
   * @param status 403 if this person may not do it.
   */
  constructor(message: string, status: 403 | 409 = 409) {
    super(message);
    this.name = 'Refused';
    this.status = status;
  }
}
