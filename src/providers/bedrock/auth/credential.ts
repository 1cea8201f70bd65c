import * as z from 'zod'
import type { Environment } from '../../../core/ports.ts'
import { findHeaderTextProblem } from '../../../wire/header-text.ts'
import { tryParseJson } from '../../../wire/json/parse.ts'
import { maskSecrets } from '../../../wire/mask.ts'

/** The credential in the one secret of an AWS provider. */
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

/** Ids of long-term access keys start with AKIA, those of temporary ones with ASIA. */
const accessKeyId = /^(?:AKIA|ASIA)[A-Z0-9]{12,124}$/
/** `id:secret` or `id:secret:sessionToken`; the id and the secret contain no colon. */
const accessKeyTriple = /^((?:AKIA|ASIA)[A-Z0-9]{12,124}):([^:]+)(?::(.+))?$/s

/**
 * Reads a secret: JSON, `id:secret`, `id:secret:sessionToken`, an access key id whose secret is in the
 * environment, or else a Bedrock API key.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html
 */
export function readAwsSecret(value: string, env: Environment): AwsCredential {
  const text = value.trim()
  if (text.startsWith('{')) return parseJsonSecret(text)
  const [, id, secret, sessionToken] = accessKeyTriple.exec(text) ?? []
  if (id !== undefined && secret !== undefined) {
    return { kind: 'access-key', id, secret, sessionToken }
  }
  if (accessKeyId.test(text)) return completeFromEnvironment(text, env)
  return { kind: 'api-key', key: text }
}

/**
 * Returns the credential in the environment variables of AWS's own tools, as JSON. An API key has
 * precedence, as in those tools.
 */
export function readAmbientSecret(env: Environment): string | undefined {
  const apiKey = readVariable(env, 'AWS_BEARER_TOKEN_BEDROCK')
  if (apiKey) return JSON.stringify({ api_key: apiKey })
  const id = readVariable(env, 'AWS_ACCESS_KEY_ID')
  const secret = readVariable(env, 'AWS_SECRET_ACCESS_KEY')
  if (!id || !secret) return undefined
  const token = readVariable(env, 'AWS_SESSION_TOKEN')
  return JSON.stringify({ access_key_id: id, secret_access_key: secret, session_token: token })
}

function readVariable(env: Environment, name: string): string | undefined {
  return env[name]?.trim() || undefined
}

/** Returns why a secret is unusable, without quoting it; undefined if it is usable. */
export function checkAwsSecret(value: string, env: Environment): string | undefined {
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

/** Masks the secret parts of a credential: AWS quotes session tokens in its signature errors. */
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

/** The gateway's own member names, and those that AWS's tools write. */
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

function parseJsonSecret(text: string): AwsCredential {
  const parsed = storedSecret.safeParse(tryParseJson(text))
  if (!parsed.success) {
    return { kind: 'unusable', reason: 'it starts with { but is not a valid JSON object' }
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

function completeFromEnvironment(id: string, env: Environment): AwsCredential {
  const secret = readVariable(env, 'AWS_SECRET_ACCESS_KEY')
  if (secret) {
    return { kind: 'access-key', id, secret, sessionToken: readVariable(env, 'AWS_SESSION_TOKEN') }
  }
  return { kind: 'unusable', reason: 'an access key id alone needs AWS_SECRET_ACCESS_KEY' }
}
