import { readdirSync, readFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, takeFault } from './s3-faults.ts';
import { answerRequest, type Exchange, type S3Bucket, type S3Object, toObject } from './s3-operations.ts';
import { parseTarget, S3Error, type S3Operation } from './s3-protocol.ts';
import { authorize } from './s3-signature.ts';

export type S3ServerOptions = {
  /** Region of the buckets. Requests signed for another region are redirected. */
  readonly region?: string;
  /** Answers every range request with the whole object. */
  readonly ignoresRange?: boolean;
  /** Returns the current object, whatever `If-Match` says. */
  readonly ignoresIfMatch?: boolean;
  /** Uses TLS with this certificate. */
  readonly tls?: { readonly key: Buffer; readonly cert: Buffer };
};

/** A request and the status of its answer. */
export type S3Request = {
  readonly operation: S3Operation;
  readonly bucket: string;
  readonly key: string;
  /** The prefix that a listing asks for; empty for other operations. */
  readonly prefix: string;
  readonly range: string | null;
  readonly ifMatch: string | null;
  status: number;
};

/** Properties that differ from an ordinary object, whose ETag is an MD5 and which has a checksum. */
export type S3Traits = Partial<Omit<S3Object, 'content'>>;

export type S3Server = {
  readonly url: string;
  /** Environment variables for the standard chain: endpoint, region, credentials. */
  readonly env: Readonly<Record<string, string>>;
  readonly requests: readonly S3Request[];
  /** Stores an object without HTTP. Creates the bucket if needed. */
  readonly put: (bucket: string, key: string, content: Buffer | string, traits?: S3Traits) => S3Object;
  /** Applies a fault to the next matching requests. */
  readonly fail: (fault: Fault) => void;
  /** The objects of a bucket by key; a test may change them. */
  readonly objects: (bucket: string) => S3Bucket;
  /** Removes all faults. */
  readonly heal: () => void;
  /** Delays each page of a listing by this time from now on. */
  readonly setListingLatency: (milliseconds: number) => void;
  /** Number of open connections, idle or busy. */
  readonly openConnections: () => number;
  /** Number of answers that are being sent. */
  readonly openAnswers: () => number;
  readonly close: () => Promise<void>;
};

const ACCESS_KEY_ID = 'TESTACCESSKEY';
const SECRET_ACCESS_KEY = 'test-secret-access-key';

/**
 * Implements the part of S3 that reading exports needs, in memory: ListObjectsV2, GetObject with Range and
 * If-Match, HeadObject, PutObject, DeleteObject, buckets. Verifies signatures and checksums, returns errors
 * in the format of S3, and injects faults on request.
 */
export async function startS3Server(options: S3ServerOptions = {}): Promise<S3Server> {
  const region = options.region ?? 'us-east-1';
  const buckets = new Map<string, S3Bucket>();
  const faults: Fault[] = [];
  const requests: S3Request[] = [];
  const sockets = new Set<Socket>();
  let openAnswers = 0;
  let listingLatencyMs = 0;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = parseTarget(request);
    const seen: S3Request = {
      ...target,
      prefix: target.query.get('prefix') ?? '',
      range: request.headers.range ?? null,
      ifMatch: request.headers['if-match'] ?? null,
      status: 0,
    };
    requests.push(seen);
    response.on('close', () => {
      seen.status = response.statusCode;
    });
    const fault = takeFault(faults, target);
    if (fault?.kind === 'stall_before_headers') return;
    if (fault?.kind === 'error') throw new S3Error(fault.status, fault.code, fault.code, fault);
    const body = await authorize(request, {
      accessKeyId: ACCESS_KEY_ID,
      secretAccessKey: SECRET_ACCESS_KEY,
      region,
    });
    if (target.operation === 'ListObjectsV2') await sleep(listingLatencyMs);
    const { ignoresRange = false, ignoresIfMatch = false } = options;
    const exchange: Exchange = { request, response, body, fault, buckets, ignoresRange, ignoresIfMatch };
    await answerRequest(target, exchange);
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    openAnswers += 1;
    response.on('close', () => {
      openAnswers -= 1;
    });
    handle(request, response).catch((error: unknown) => answerError(error, request, response));
  }

  const server = options.tls === undefined ? createHttpServer(serve) : createHttpsServer(options.tls, serve);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url,
    env: {
      AWS_ENDPOINT_URL_S3: url,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: ACCESS_KEY_ID,
      AWS_SECRET_ACCESS_KEY: SECRET_ACCESS_KEY,
    },
    requests,
    put: (bucket, key, content, traits) => {
      const object = toObject(Buffer.from(content), traits);
      const objects = buckets.get(bucket) ?? new Map<string, S3Object>();
      buckets.set(bucket, objects.set(key, object));
      return object;
    },
    objects: (bucket) => buckets.get(bucket) ?? new Map(),
    fail: (fault) => void faults.push(fault),
    heal: () => void faults.splice(0),
    setListingLatency: (milliseconds) => {
      listingLatencyMs = milliseconds;
    },
    openConnections: () => sockets.size,
    openAnswers: () => openAnswers,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Stores each file below a folder in a bucket, under its path in the folder. */
export function putFolder(
  server: S3Server,
  { bucket, folder }: { readonly bucket: string; readonly folder: string },
): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) server.put(bucket, relative(folder, path), readFileSync(path));
  }
}

function answerError(error: unknown, request: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const s3Error = error instanceof S3Error ? error : new S3Error(500, 'InternalError', String(error));
  response.writeHead(s3Error.status, { 'content-type': 'application/xml', ...s3Error.headers });
  response.end(request.method === 'HEAD' ? undefined : s3Error.toXml());
  // Discards what a client still sends of a refused upload.
  request.resume();
}
