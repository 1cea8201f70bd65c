import * as z from 'zod'
import { UpstreamFault } from '../../../src/core/failure.ts'
import { describeNetworkFailure } from '../../../src/core/network-failure.ts'

/** The members of errors of AWS's packages that describe a failure without quoting anything. */
const awsError = z.looseObject({
  name: z.string().optional().catch(undefined),
  message: z.string().catch(''),
  /** A code of the system, such as `ENOENT`. */
  code: z.union([z.string(), z.number()]).optional().catch(undefined),
  statusCode: z.number().optional().catch(undefined),
  $metadata: z.object({ httpStatusCode: z.number() }).optional().catch(undefined),
})

/**
 * Describes why AWS's packages found no credential. Their own messages may quote files, commands and answers,
 * so they are only compared.
 */
export function describeAwsFailure(error: unknown): string {
  if (error instanceof UpstreamFault) {
    const { failure } = error
    return failure.kind === 'network'
      ? `AWS ${describeNetworkFailure(failure)}`
      : 'AWS did not answer in time'
  }
  const { name = '', message, code, statusCode, $metadata } = awsError.parse(error)
  const known = knownMessages.find(([pattern]) => pattern.test(message))
  if (known) return known[1]
  const status = $metadata?.httpStatusCode ?? statusCode ?? /status: (\d{3})$/.exec(message)?.[1]
  // A service of AWS has answered with an error that it names.
  if ($metadata && isWord(name)) return `AWS answered ${name}, status ${status}`
  if (status !== undefined) return `it answered with status ${status}`
  return typeof code === 'string' && isWord(code)
    ? `it is not available (${code})`
    : 'it is not available'
}

/** True when the shared files have no such profile, or one without a credential. */
export function isMissingProfile(error: unknown): boolean {
  return missingProfile.test(awsError.parse(error).message)
}

const missingProfile = /^Could not resolve credentials using profile/

const knownMessages: readonly (readonly [RegExp, string])[] = [
  [missingProfile, 'the shared files have no such profile, or it has no credential'],
  [/credential_process returned invalid JSON/, 'its credential_process returned invalid JSON'],
  [/credential_process/, 'its credential_process returned no valid credential'],
  [/^Command failed/, 'its credential_process has failed'],
  [/SSO|aws sso login/, 'its SSO session is invalid or has expired; run aws sso login'],
  [/multi-factor/, 'it requires multi-factor authentication'],
  [
    /^TimeoutError/,
    'the instance metadata service did not answer; this may not be an EC2 instance',
  ],
]

/** A word that an error code may be; any other text could quote something. */
function isWord(text: string): boolean {
  return /^[A-Za-z]\w{0,63}$/.test(text)
}
