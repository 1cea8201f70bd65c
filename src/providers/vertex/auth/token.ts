import { SignJWT } from 'jose'
import * as z from 'zod'
import { type UpstreamFailure, UpstreamFault } from '../../../core/failure.ts'
import type { Millis } from '../../../core/ids.ts'
import type { Clock, UpstreamPort, UpstreamResponse } from '../../../core/ports.ts'
import { unixSeconds } from '../../../core/unix-seconds.ts'
import { version } from '../../../core/version.ts'
import { readExcerpt } from '../../../wire/body.ts'
import { CancelScope } from '../../../wire/cancel-scope.ts'
import { tryParseJson } from '../../../wire/json/parse.ts'
import { LightAbortController } from '../../../wire/light-abort-controller.ts'
import { maskSecrets } from '../../../wire/mask.ts'
import { parseRetryAfter } from '../../../wire/retry-after.ts'
import { extractMessage } from '../../base/error-message.ts'
import { importRsaKey } from './rsa-key.ts'
import {
  type AuthorizedUser,
  type GoogleCredentials,
  noCredential,
  type ServiceAccount,
} from './secret.ts'
import type { FreshToken } from './token-cache.ts'

/** Limits of an exchange. It has its own timeout, because several requests may wait for it. */
const maxExchangeTime: Millis = 10_000
const connectTimeout: Millis = 5_000
const maxAnswerBytes = 64 * 1024

export interface TokenPorts {
  readonly send: UpstreamPort
  readonly clock: Clock
}

/**
 * Returns a function that exchanges credentials for an access token. It rejects with an
 * `UpstreamFault`: status 401 when the token endpoint refuses the credentials, otherwise the
 * failure of the token endpoint.
 */
export function tokenExchange(
  credentials: GoogleCredentials,
  ports: TokenPorts,
): () => Promise<FreshToken> {
  const grant =
    credentials.kind === 'service-account'
      ? assertionGrant(credentials, ports.clock)
      : refreshGrant(credentials)
  return async () => exchangeGrant(credentials.tokenUri, await grant(), ports)
}

/** The request to the token endpoint. All `fields` are secret. */
interface Grant {
  readonly type: string
  readonly fields: Readonly<Record<string, string>>
}

const scope = 'https://www.googleapis.com/auth/cloud-platform'
/** The maximum lifetime of an assertion that the token endpoint accepts. */
const assertionSeconds = 3600

/** A service account signs an assertion of its identity (RFC 7523). */
function assertionGrant(account: ServiceAccount, clock: Clock): () => Promise<Grant> {
  const { email, keyId, privateKey, tokenUri } = account
  let key: ReturnType<typeof importRsaKey> | undefined
  return async () => {
    const issuedAt = unixSeconds(clock)
    const jwt = new SignJWT({ scope })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) })
      .setIssuer(email)
      .setAudience(tokenUri)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + assertionSeconds)
    try {
      key ??= importRsaKey(privateKey)
      const assertion = await jwt.sign(await key)
      return { type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', fields: { assertion } }
    } catch {
      // The message of jose is not used: it may contain parts of the key.
      throw noCredential('its private_key is not a PKCS#8 or PKCS#1 RSA key of at least 2048 bits')
    }
  }
}

/** A signed-in user has a refresh token (RFC 6749, section 6). */
function refreshGrant(user: AuthorizedUser): () => Promise<Grant> {
  const fields = {
    client_id: user.clientId,
    client_secret: user.clientSecret,
    refresh_token: user.refreshToken,
  }
  return async () => ({ type: 'refresh_token', fields })
}

async function exchangeGrant(
  url: string,
  grant: Grant,
  { send, clock }: TokenPorts,
): Promise<FreshToken> {
  const form = new URLSearchParams({ grant_type: grant.type, ...grant.fields })
  const cancel = new LightAbortController()
  const time = new CancelScope(clock)
  time.onEnd(() => cancel.abort())
  time.endAfter(maxExchangeTime, { kind: 'timeout', limit: 'read' })
  try {
    const pending = send({
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': `model-gateway/${version}`,
      },
      body: new TextEncoder().encode(form.toString()),
      connectTimeout,
      queueLimit: maxAnswerBytes,
      signal: cancel,
    })
    const response = await time.race(pending)
    const body = await time.race(readExcerpt(response.body, { maxBytes: maxAnswerBytes }))
    if (response.status >= 200 && response.status < 300) return parseToken(body)
    throw new UpstreamFault(parseTokenError(response, body, { grant, clock }))
  } finally {
    time.close()
  }
}

const tokenAnswer = z.object({
  // The token becomes the value of a header.
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  expires_in: z.unknown().default(assertionSeconds),
})

/**
 * Lifetime of a token whose stated lifetime is invalid. If the token expires sooner, the upstream
 * refuses it, and it is renewed then.
 */
const fallbackLifetime: Millis = 60_000

/** Parses the lifetime in seconds, which some servers send as a string. */
function parseLifetime(expiresIn: unknown): Millis {
  const seconds = typeof expiresIn === 'string' ? Number(expiresIn) : expiresIn
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : fallbackLifetime
}

function parseToken(body: string): FreshToken {
  const answer = tokenAnswer.safeParse(tryParseJson(body))
  if (answer.success) {
    const { access_token: value, expires_in: expiresIn } = answer.data
    return { value, lifetime: parseLifetime(expiresIn) }
  }
  // Fails here, because a request with an empty `Bearer` would get a 401 that hides the cause.
  const detail = 'the answer of the token endpoint has no access token'
  throw new UpstreamFault({ kind: 'malformed', detail })
}

interface TokenErrorContext {
  readonly grant: Grant
  readonly clock: Clock
}

function parseTokenError(
  { status, header }: UpstreamResponse,
  body: string,
  { grant, clock }: TokenErrorContext,
): UpstreamFailure {
  const isRefused = status >= 400 && status < 500 && status !== 408 && status !== 429
  const text = extractMessage(Object.values(grant.fields).reduce(maskSecrets, oauthMessage(body)))
  return {
    kind: 'status',
    status: isRefused ? 401 : status,
    message: `token endpoint, status ${status}${text === '' ? '' : `, ${text}`}`,
    retryAfter: parseRetryAfter(header, clock.now()),
    vendor: { status, code: oauthError.safeParse(tryParseJson(body)).data?.error },
  }
}

const oauthError = z.object({ error: z.string(), error_description: z.string().optional() })

/** Formats an OAuth error: `invalid_grant: Invalid JWT Signature.` Empty for another body. */
function oauthMessage(body: string): string {
  const { success, data } = oauthError.safeParse(tryParseJson(body))
  if (!success) return ''
  return [data.error, data.error_description].filter(Boolean).join(': ')
}
