import type { IncomingMessage } from 'node:http';

export type S3Operation =
  | 'ListObjectsV2'
  | 'ListObjectVersions'
  | 'GetObject'
  | 'HeadObject'
  | 'PutObject'
  | 'DeleteObject'
  | 'CreateBucket'
  | 'DeleteBucket'
  | 'HeadBucket'
  | 'Unknown';

export type S3Target = {
  readonly operation: S3Operation;
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
};

const OBJECT_OPERATIONS: Readonly<Record<string, S3Operation>> = {
  GET: 'GetObject',
  HEAD: 'HeadObject',
  PUT: 'PutObject',
  DELETE: 'DeleteObject',
};
const BUCKET_OPERATIONS: Readonly<Record<string, S3Operation>> = {
  PUT: 'CreateBucket',
  DELETE: 'DeleteBucket',
  HEAD: 'HeadBucket',
};

/** Parses a path-style address: `/bucket/key?query`. */
export function parseTarget(request: IncomingMessage): S3Target {
  const [path = '', search = ''] = (request.url ?? '').split('?', 2);
  const [, rawBucket = '', rawKey = ''] = /^\/([^/]*)\/?(.*)$/s.exec(path) ?? [];
  const bucket = decodeURIComponent(rawBucket);
  const key = decodeURIComponent(rawKey);
  const query = new URLSearchParams(search);
  const method = request.method ?? '';
  if (key !== '') return { operation: OBJECT_OPERATIONS[method] ?? 'Unknown', bucket, key, query };
  return { operation: bucketOperation(method, query), bucket, key, query };
}

function bucketOperation(method: string, query: URLSearchParams): S3Operation {
  if (method === 'GET' && query.get('list-type') === '2') return 'ListObjectsV2';
  if (method === 'GET' && query.has('versions')) return 'ListObjectVersions';
  return BUCKET_OPERATIONS[method] ?? 'Unknown';
}

/** An error in the format of S3. */
export class S3Error extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Additional elements of the answer. */
  readonly fields: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message = code,
    {
      headers = {},
      fields = {},
    }: {
      readonly headers?: Readonly<Record<string, string>>;
      readonly fields?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.fields = fields;
  }

  toXml(): string {
    return xml('Error', [['Code', this.code], ['Message', this.message], ...Object.entries(this.fields)]);
  }
}

type Field = readonly [name: string, content: string | number | boolean | readonly Field[]];

/** Builds an XML document of named fields. */
export function xml(root: string, fields: readonly Field[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element([root, fields])}`;
}

function element([name, content]: Field): string {
  const inner = Array.isArray(content) ? content.map(element).join('') : escapeXml(String(content));
  return `<${name}>${inner}</${name}>`;
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
