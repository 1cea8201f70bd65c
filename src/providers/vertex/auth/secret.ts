import * as z from 'zod'
import { UpstreamFault } from '../../../core/failure.ts'

/** The kinds of secret that a provider on Google Cloud may be configured with. */
export type GoogleSecret =
  | GoogleCredentials
  | { readonly kind: 'api-key'; readonly key: string }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'file'; readonly path: string }
  | UnusableSecret

/** Credentials that the gateway exchanges for access tokens. */
export type GoogleCredentials = ServiceAccount | AuthorizedUser

export interface ServiceAccount {
  readonly kind: 'service-account'
  readonly email: string
  /** PEM text of a PKCS#8 key. */
  readonly privateKey: string
  readonly keyId: string | undefined
  readonly tokenUri: string
  readonly project: string | undefined
  readonly quotaProject: string | undefined
}

export interface AuthorizedUser {
  readonly kind: 'authorized-user'
  readonly clientId: string
  readonly clientSecret: string
  readonly refreshToken: string
  readonly tokenUri: string
  readonly quotaProject: string | undefined
}

export interface UnusableSecret {
  readonly kind: 'unusable'
  /** The reason, without any part of the secret. */
  readonly problem: string
}

/** Recognizes the kind of a secret. A `problem` never contains any part of the secret. */
export function parseGoogleSecret(secret: string): GoogleSecret {
  const text = decodeBase64(secret.trim())
  if (text.startsWith('{')) return parseGoogleCredentials(text)
  if (isPath(text)) return { kind: 'file', path: text }
  if (!/^[\x21-\x7e]+$/.test(text))
    return unusable('it is not JSON, a file path, an API key or an access token')
  if (/^(?:AIza|AQ\.)/.test(text)) return { kind: 'api-key', key: text }
  return { kind: 'token', token: text }
}

/** Returns why a secret is unusable, judging by its text alone; undefined when it may be usable. */
export function findSecretProblem(secret: string): string | undefined {
  const read = parseGoogleSecret(secret)
  return read.kind === 'unusable' ? read.problem : undefined
}

/** Parses the credentials JSON of a service account or of a signed-in user. */
export function parseGoogleCredentials(text: string): GoogleCredentials | UnusableSecret {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return unusable('the credentials are not valid JSON')
  }
  const { success, data, error } = credentials.safeParse(value)
  if (success) return data
  const field = error.issues[0]?.path[0]
  return unusable(
    field === undefined || field === 'type'
      ? 'the credentials JSON is not of type service_account or authorized_user'
      : `the credentials JSON has a missing or invalid ${String(field)}`,
  )
}

/**
 * The failure of a provider whose Google credential is unusable. `problem` states why; `reason` is
 * an error code that clients do not see.
 */
export function noCredential(problem: string, reason?: string): UpstreamFault {
  const message = `the Google credential cannot be used: ${problem}`
  return new UpstreamFault({ kind: 'no-credential', message, reason })
}

const filled = z.string().min(1)
/**
 * Goes into a path or a header. The id of an old project may include a domain: `example.com:name`.
 */
const project = z
  .union([z.literal('').transform(() => undefined), z.string().regex(/^[\w.:-]+$/)])
  .optional()
const common = {
  token_uri: z.url({ protocol: /^https?$/ }).default('https://oauth2.googleapis.com/token'),
  quota_project_id: project,
  // Other universes use other hosts for all services.
  universe_domain: z.literal('googleapis.com').optional(),
}

const serviceAccount = z
  .object({
    type: z.literal('service_account'),
    client_email: filled,
    private_key: filled,
    private_key_id: z.string().optional(),
    project_id: project,
    ...common,
  })
  .transform(
    (json): ServiceAccount => ({
      kind: 'service-account',
      email: json.client_email,
      // Keys from environment files often have the two characters `\n` for each line break.
      privateKey: json.private_key.replaceAll(String.raw`\n`, '\n'),
      keyId: json.private_key_id || undefined,
      tokenUri: json.token_uri,
      project: json.project_id,
      quotaProject: json.quota_project_id,
    }),
  )

const authorizedUser = z
  .object({
    type: z.literal('authorized_user'),
    client_id: filled,
    client_secret: filled,
    refresh_token: filled,
    ...common,
  })
  .transform(
    (json): AuthorizedUser => ({
      kind: 'authorized-user',
      clientId: json.client_id,
      clientSecret: json.client_secret,
      refreshToken: json.refresh_token,
      tokenUri: json.token_uri,
      quotaProject: json.quota_project_id,
    }),
  )

const credentials = z.discriminatedUnion('type', [serviceAccount, authorizedUser])

/**
 * Decodes a secret that is base64 of JSON, as some secret stores keep it. The three prefixes are
 * the base64 of `{"type`, of `{` and a line feed, and of `{` and CR LF.
 */
function decodeBase64(text: string): string {
  if (!/^(?:eyJ0eXBl|ewog|ew0K)/.test(text)) return text
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0)))
  } catch {
    return text
  }
}

function isPath(text: string): boolean {
  return /^(?:\/|\.\.?\/|~\/)/.test(text) || text.endsWith('.json')
}

function unusable(problem: string): UnusableSecret {
  return { kind: 'unusable', problem }
}
