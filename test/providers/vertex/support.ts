import { exportPKCS8, exportSPKI, generateKeyPair } from 'jose'
import { expect } from 'vitest'
import type { RequestHeaders } from '../../../src/core/endpoints.ts'
import { type UpstreamFailure, UpstreamFault } from '../../../src/core/failure.ts'
import type { ReadFile } from '../../../src/core/ports.ts'
import type { Authorizer, CredentialContext } from '../../../src/core/provider-kind.ts'
import { googleAuthorizer } from '../../../src/providers/vertex/auth/credentials.ts'
import { type TestGateway, testGateway } from '../../support/gateway.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { json, type Responder, ScriptedUpstream } from '../../support/scripted-upstream.ts'

const pair = await generateKeyPair('RS256', { extractable: true })
const privateKey = await exportPKCS8(pair.privateKey)

/** Verifies the signatures of `serviceAccount`. */
export const publicKey = await exportSPKI(pair.publicKey)

export const tokenUri = 'https://oauth2.googleapis.com/token'

/** The JSON of a service account, in Google Cloud's shape. */
export const serviceAccount = {
  type: 'service_account',
  project_id: 'sa-proj',
  private_key_id: 'kid-1',
  private_key: privateKey,
  client_email: 'gw@sa-proj.iam.gserviceaccount.com',
  client_id: '1234567890',
  auth_uri: 'https://accounts.google.com/o/oauth2/auth',
  token_uri: tokenUri,
  universe_domain: 'googleapis.com',
}

/** The JSON of a signed-in user, in the shape that gcloud writes. */
export const authorizedUser = {
  type: 'authorized_user',
  client_id: 'client-canary-1',
  client_secret: 'client-secret-canary-2',
  refresh_token: '1//refresh-canary-3',
}

/** Every secret of the credentials above, and pieces of the private key. */
export const canaries = [
  ...privateKey.split('\n').filter((line) => line.length > 20 && !line.startsWith('-')),
  authorizedUser.client_secret,
  authorizedUser.refresh_token,
]

/** The token endpoint's answer. */
export function token(value: string, seconds = 3599): Responder {
  return json({ access_token: value, expires_in: seconds, token_type: 'Bearer' })
}

export interface Bench {
  readonly authorize: Authorizer
  readonly upstream: ScriptedUpstream
  readonly clock: ManualClock
  /** The headers for one request. */
  headers(): Promise<RequestHeaders>
}

/** An authorizer with a scripted token endpoint and a manual clock. */
export function bench(
  secret: object | string,
  context: Partial<Pick<CredentialContext, 'readFile' | 'env'>> = {},
): Bench {
  const upstream = new ScriptedUpstream()
  const clock = new ManualClock()
  const authorize = googleAuthorizer({
    secret: typeof secret === 'string' ? secret : JSON.stringify(secret),
    baseUrl: 'https://us-central1-aiplatform.googleapis.com',
    clock,
    env: {},
    send: upstream.port,
    ...context,
  })
  const request = { url: 'https://vertex.test', headers: {}, body: new Uint8Array(0) }
  return { authorize, upstream, clock, headers: async () => authorize(request) }
}

/** The form of a call to the token endpoint. */
export function formOf(upstream: ScriptedUpstream, index = upstream.requests.length - 1) {
  return Object.fromEntries(new URLSearchParams(upstream.text(index)))
}

/** The default `base_url`. */
export const baseUrl =
  'https://us-central1-aiplatform.googleapis.com/v1/projects/my-proj/locations/us-central1'

export interface Setup {
  readonly upstreamId?: string | undefined
  readonly baseUrl?: string | undefined
  readonly strict?: boolean | undefined
  /** Defaults to an access token. */
  readonly secret?: object | string | undefined
  /** Further lines of the file, after the model. */
  readonly more?: string
  readonly readFile?: ReadFile
}

/** A gateway with one provider `p` of the kind, and its model `g`. */
export function vertexGateway(setup: Setup = {}): Promise<TestGateway> {
  const { upstreamId = 'gemini-2.5-flash', strict = false, secret = 'ya29.test', more = '' } = setup
  const config = `
[[providers]]
name = "p"
kind = "vertex_ai"
api_key_env = "P_KEY"
base_url = "${setup.baseUrl ?? baseUrl}"
strict = ${strict}
[[providers.models]]
id = "g"
upstream_id = "${upstreamId}"
modalities = ["text", "image"]
${more}`
  const env = { P_KEY: typeof secret === 'string' ? secret : JSON.stringify(secret) }
  return testGateway(config, { env, readFile: setup.readFile })
}

/** A request with one question, and these fields. */
export function asking(fields: object = {}): object {
  return { model: 'g', messages: [{ role: 'user', content: 'Hi' }], ...fields }
}

/** An answer with this text. */
export function saying(text: string): object {
  return {
    candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 1, totalTokenCount: 3 },
    responseId: 'v-1',
  }
}

/** One event in the service's format. */
export function event(payload: object): string {
  return `data: ${JSON.stringify(payload)}\r\n\r\n`
}

/** The payloads of a client's stream. */
export async function payloads(response: Response): Promise<unknown[]> {
  const text = await response.text()
  return [...text.matchAll(/^data: (.+)\n\n/gm)].map(([, data = '']) =>
    data === '[DONE]' ? data : JSON.parse(data),
  )
}

/** The failure that a promise rejects with. Checks that it contains no secret. */
export async function failureOf(promise: Promise<unknown>): Promise<UpstreamFailure> {
  const fault = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(fault instanceof UpstreamFault)) throw new Error('no UpstreamFault')
  const text = JSON.stringify([fault.failure, fault.message, fault.cause])
  expect(canaries.filter((canary) => text.includes(canary))).toEqual([])
  return fault.failure
}
