import * as z from 'zod'
import type { Environment } from '../../../core/ports.ts'
import { findHeaderTextProblem } from '../../../wire/header-text.ts'
import { tryParseJson } from '../../../wire/json.ts'
import { maskSecrets } from '../../../wire/mask.ts'

/** What the one secret of an AWS provider holds. */
export type AwsCredential =
  | { readonly kind: 'api-key'; readonly key: string; readonly region?: string | undefined }
  | {
      readonly kind: 'access-key'
      readonly id: string
      readonly secret: string
      readonly sessionToken?: string | undefined
      readonly region?: string | undefined
    }
  | { readonly kind: 'unusable'; readonly reason: string; readonly region?: undefined }

/** Long-term access key ids start with AKIA, temporary ones with ASIA. */
const accessKeyId = /^(?:AKIA|ASIA)[A-Z0-9]{12,124}$/
/** None of the three contains a colon. */
const accessKeyTriple = /^((?:AKIA|ASIA)[A-Z0-9]{12,124}):([^:]+)(?::(.+))?$/s

/**
 * Reads a secret: JSON, `id:secret`, `id:secret:sessionToken`, an access key id whose other half
 * stands in the environment, or else a Bedrock API key.
 */
export function readAwsSecret(value: string, env: Environment): AwsCredential {
  const text = value.trim()
  if (text.startsWith('{')) return readJson(text)
  const [, id, secret, sessionToken] = accessKeyTriple.exec(text) ?? []
  if (id !== undefined && secret !== undefined) {
    return { kind: 'access-key', id, secret, sessionToken }
  }
  if (accessKeyId.test(text)) return withEnvironment(text, env)
  return { kind: 'api-key', key: text }
}

/**
 * The credential in the variables that AWS's own tools read; an API key comes first, as it does
 * there. Undefined when there is none.
 */
export function ambientAwsSecret(env: Environment): string | undefined {
  const apiKey = valueIn(env, 'AWS_BEARER_TOKEN_BEDROCK')
  if (apiKey) return JSON.stringify({ api_key: apiKey })
  const id = valueIn(env, 'AWS_ACCESS_KEY_ID')
  const secret = valueIn(env, 'AWS_SECRET_ACCESS_KEY')
  if (!id || !secret) return undefined
  const token = valueIn(env, 'AWS_SESSION_TOKEN')
  return JSON.stringify({ access_key_id: id, secret_access_key: secret, session_token: token })
}

function valueIn(env: Environment, name: string): string | undefined {
  return env[name]?.trim() || undefined
}

/** Why requests cannot use a secret, without quoting it; undefined when they can. */
export function awsSecretProblem(value: string, env: Environment): string | undefined {
  const credential = readAwsSecret(value, env)
  switch (credential.kind) {
    case 'api-key':
      return findHeaderTextProblem(credential.key)
    case 'access-key':
      return findHeaderTextProblem(`${credential.id}${credential.sessionToken ?? ''}`)
    case 'unusable':
      return credential.reason
    default:
      return credential satisfies never
  }
}

/** Hides what is secret of a credential: AWS quotes session tokens in its signature errors. */
export function maskCredential(text: string, credential: AwsCredential): string {
  switch (credential.kind) {
    case 'api-key':
      return maskSecrets(text, credential.key)
    case 'access-key':
      return maskSecrets(maskSecrets(text, credential.secret), credential.sessionToken)
    case 'unusable':
      return text
    default:
      return credential satisfies never
  }
}

const field = z.string().min(1).nullish()

/** Our own spelling, and the one that AWS's tools write. */
const storedSecret = z.looseObject({
  api_key: field,
  access_key_id: field,
  secret_access_key: field,
  session_token: field,
  region: field,
  AccessKeyId: field,
  SecretAccessKey: field,
  SessionToken: field,
})

function readJson(text: string): AwsCredential {
  const parsed = storedSecret.safeParse(tryParseJson(text))
  if (!parsed.success) {
    return { kind: 'unusable', reason: 'it starts like JSON and is no valid object' }
  }
  const fields = parsed.data
  const region = fields.region ?? undefined
  if (fields.api_key) return { kind: 'api-key', key: fields.api_key, region }
  const id = fields.access_key_id ?? fields.AccessKeyId
  const secret = fields.secret_access_key ?? fields.SecretAccessKey
  const sessionToken = fields.session_token ?? fields.SessionToken ?? undefined
  if (id && secret) return { kind: 'access-key', id, secret, sessionToken, region }
  return {
    kind: 'unusable',
    reason: 'its JSON needs access_key_id and secret_access_key, or api_key',
  }
}

function withEnvironment(id: string, env: Environment): AwsCredential {
  const secret = valueIn(env, 'AWS_SECRET_ACCESS_KEY')
  if (secret) {
    return { kind: 'access-key', id, secret, sessionToken: valueIn(env, 'AWS_SESSION_TOKEN') }
  }
  return { kind: 'unusable', reason: 'an access key id alone needs AWS_SECRET_ACCESS_KEY' }
}
