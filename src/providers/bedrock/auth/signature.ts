import { bytesToHex } from '@noble/hashes/utils.js'
import { AwsV4Signer } from 'aws4fetch'
import type { Millis } from '../../../core/ids.ts'
import type { DialectRequest, RequestHeaders } from '../../../core/provider.ts'
import type { AwsCredential } from './credential.ts'

export interface Signing {
  readonly credential: AwsCredential & { readonly kind: 'access-key' }
  readonly region: string
  readonly service: string
  readonly now: Millis
}

/**
 * Signature Version 4 of a POST request. It covers the address, the body, and of the headers only
 * `content-type`: what an HTTP client may rewrite on its way must not be signed.
 */
export async function awsSignature(
  request: DialectRequest,
  { credential, region, service, now }: Signing,
): Promise<RequestHeaders> {
  const type = request.headers['content-type']
  const { id, secret, sessionToken } = credential
  const signer = new AwsV4Signer({
    method: 'POST',
    url: request.url,
    headers: {
      ...(type !== undefined && { 'content-type': type }),
      'x-amz-content-sha256': await sha256(request.body),
    },
    accessKeyId: id,
    secretAccessKey: secret,
    ...(sessionToken !== undefined && { sessionToken }),
    // Without a name the signer takes the one in the host, which is not the one AWS expects.
    service,
    region,
    datetime: new Date(now).toISOString().replace(/[:-]|\.\d+/g, ''),
    allHeaders: true,
  })
  const { headers } = await signer.sign()
  return Object.fromEntries(headers)
}

async function sha256(bytes: Uint8Array): Promise<string> {
  // No body lies in shared memory, which the digest would refuse.
  const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)
  return bytesToHex(new Uint8Array(digest))
}
