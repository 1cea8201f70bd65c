import { state as sdkWarnings } from '@aws-sdk/core/client'
import { fromEnv } from '@aws-sdk/credential-provider-env'
import { fromHttp } from '@aws-sdk/credential-provider-http'
import { fromIni } from '@aws-sdk/credential-provider-ini'
import { fromTokenFile } from '@aws-sdk/credential-provider-web-identity'
import { fromInstanceMetadata } from '@smithy/credential-provider-imds'
import {
  type AccessKey,
  CloudCredentialError,
  type CloudCredentialRequest,
} from '../../../src/index.ts'
import { describeAwsFailure, isMissingProfile } from './aws-failure.ts'
import { createAwsHandler } from './aws-handler.ts'

// The packages warn of old versions of Node.js, for which operators of a bundle cannot do anything.
sdkWarnings.warningEmitted = true

/** One of the places in which the SDKs of AWS look for credentials. */
interface Place {
  /** The name of the credential that is found there. */
  readonly origin: string
  readonly load: () => Promise<Found>
  /** The next place is tried when this one has nothing. Otherwise its failure is the result. */
  readonly mayBeEmpty?: boolean
}

/** The identity that the packages of AWS return. */
interface Found {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
  readonly expiration?: Date | undefined
}

/**
 * Fetches a credential from the first place that is configured, in the order of AWS's SDKs. Unlike these, it
 * does not go on after a configured place has failed, because the next one may have another identity.
 * https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
 */
export async function fetchAwsCredential(request: CloudCredentialRequest): Promise<AccessKey> {
  for (const place of listPlaces(request)) {
    try {
      return toAccessKey(await place.load(), place.origin)
    } catch (error) {
      if (place.mayBeEmpty && isMissingProfile(error)) continue
      throw new CloudCredentialError(`${place.origin}: ${describeAwsFailure(error)}`)
    }
  }
  throw new CloudCredentialError(
    'there are no AWS variables, no profile, and no role of a container, and the instance metadata is ' +
      'disabled (AWS_EC2_METADATA_DISABLED)',
  )
}

/** The variables are read each time, because files and services that they name may appear later. */
function* listPlaces({ profile: configured, ...call }: CloudCredentialRequest): Generator<Place> {
  const { env } = process
  const requestHandler = createAwsHandler(call)
  // A profile may have a region of its own.
  const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? 'us-east-1'
  const clients = {
    logger,
    clientConfig: { requestHandler, logger },
    parentClientConfig: { region },
  }
  const profile = configured ?? env['AWS_PROFILE']
  if (profile) {
    const load = fromIni({ ...clients, profile, ignoreCache: true })
    yield { origin: `AWS profile ${profile}`, load }
    return
  }
  if (env['AWS_ACCESS_KEY_ID'] && env['AWS_SECRET_ACCESS_KEY']) {
    yield { origin: 'AWS variables', load: fromEnv() }
    return
  }
  const load = fromIni({ ...clients, profile: 'default', ignoreCache: true })
  yield { origin: 'AWS profile default', load, mayBeEmpty: true }
  if (env['AWS_WEB_IDENTITY_TOKEN_FILE']) {
    yield { origin: 'AWS web identity', load: fromTokenFile(clients) }
  } else if (
    env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] ||
    env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI']
  ) {
    yield { origin: 'AWS container role', load: fromHttp({ logger, maxRetries: 1 }) }
  } else if (env['AWS_EC2_METADATA_DISABLED']?.toLowerCase() !== 'true') {
    yield { origin: 'AWS instance role', load: fromInstanceMetadata({ logger }) }
  }
}

/** The packages would write to the console. What they log may contain parts of credentials. */
const logger = { debug() {}, info() {}, warn() {}, error() {} }

function toAccessKey(found: Found, origin: string): AccessKey {
  return {
    kind: 'access-key',
    id: found.accessKeyId,
    secret: found.secretAccessKey,
    sessionToken: found.sessionToken,
    origin,
    expiresAt: found.expiration?.getTime(),
  }
}
