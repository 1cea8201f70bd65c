import { bytesToHex } from '@noble/hashes/utils.js'
import { AwsV4Signer } from 'aws4fetch'
import type { AccessKey } from '../../../core/cloud-credential.ts'
import type { DialectRequest, RequestHeaders } from '../../../core/endpoints.ts'
import type { Millis } from '../../../core/ids.ts'

export interface SigningContext {
  readonly credential: Pick<AccessKey, 'id' | 'secret' | 'sessionToken'>
  readonly region: string
  readonly service: string
  readonly now: Millis
}

/**
 * Returns the headers that sign a request with Signature Version 4. Of the request's headers the
 * signature covers `content-type` only, because an HTTP client may rewrite others.
 */
export async function signRequest(
  request: DialectRequest,
  { credential, region, service, now }: SigningContext,
): Promise<RequestHeaders> {
  const type = request.headers['content-type']
  const { id, secret, sessionToken } = credential
  const signer = new AwsV4Signer({
    method: request.method ?? 'POST',
    url: request.url,
    headers: {
      ...(type !== undefined && { 'content-type': type }),
      'x-amz-content-sha256': await sha256(request.body),
    },
    accessKeyId: id,
    secretAccessKey: secret,
    ...(sessionToken !== undefined && { sessionToken }),
    // By default the signer takes the name from the host, which AWS does not accept.
    service,
    region,
    datetime: new Date(now).toISOString().replace(/[:-]|\.\d+/g, ''),
    allHeaders: true,
  })
  const { headers } = await signer.sign()
  return Object.fromEntries(headers)
}

async function sha256(bytes: Uint8Array): Promise<string> {
  // No body is in shared memory, which the digest would reject.
  const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)
  return bytesToHex(new Uint8Array(digest))
}
