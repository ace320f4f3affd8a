import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { S3Error } from './s3-error.ts';

/** The parts of a request to the store. */
export interface StoreRequest {
  readonly method: string;
  /** The path as it was sent, with its percent-encoding. */
  readonly path: string;
  readonly bucket: string;
  /** The object's key. Empty if the request is for the bucket. */
  readonly key: string;
  /** The query's parameters, decoded, in their order. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly headers: IncomingMessage['headers'];
  readonly body: IncomingMessage;
}

export interface StoreAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: string | Buffer | Readable;
}

/** Reads a request. Throws S3's error if the path can't be decoded. */
export function readRequest(request: IncomingMessage): StoreRequest {
  const [path = '', query = ''] = splitOnce(request.url ?? '', '?');
  const [, bucket = '', ...key] = path.split('/').map(decodeSegment);
  return {
    method: request.method ?? '',
    path,
    bucket,
    key: key.join('/'),
    parameters: query === '' ? [] : [...new URLSearchParams(query)],
    headers: request.headers,
    body: request,
  };
}

/** The first value of a query parameter. */
export const parameterOf = ({ parameters }: StoreRequest, name: string): string | undefined =>
  parameters.find(([other]) => other === name)?.[1];

const splitOnce = (text: string, separator: string): string[] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
};

const decodeSegment = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new S3Error('InvalidURI', "Couldn't parse the specified URI.");
  }
};
