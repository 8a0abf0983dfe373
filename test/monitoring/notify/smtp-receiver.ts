import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { onTestFinished } from 'vitest';

export type Mail = {
  readonly from: string;
  readonly to: readonly string[];
  /** Header and body as received. */
  readonly source: string;
  readonly isEncrypted: boolean;
  readonly user: string | null;
};

export type MailServer = { readonly port: number; readonly mails: Mail[] };

/**
 * Starts a real mail server on this machine, which stops at the end of the test. If a user is given, it
 * requires the password `right`.
 */
export async function startMailServer({
  user = '',
  encryption = 'none',
  answer = async () => null,
}: {
  readonly user?: string;
  readonly encryption?: 'none' | 'starttls';
  /** What the server says after a whole mail: null takes it. */
  readonly answer?: () => Promise<Error | null>;
} = {}): Promise<MailServer> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    authOptional: user === '',
    disabledCommands: encryption === 'none' ? ['STARTTLS'] : [],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      username === user && password === 'right' ? done(null, { user }) : done(new Error('wrong password')),
    onData(stream, session, done) {
      void text(stream).then((source) => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : (mailFrom?.address ?? ''),
          to: rcptTo.map(({ address }) => address),
          source,
          isEncrypted: session.secure,
          user: typeof session.user === 'string' ? session.user : null,
        });
        void answer().then((refusal) => done(refusal));
      });
    },
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as AddressInfo).port, mails };
}
