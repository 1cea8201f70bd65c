import { expect } from 'vitest'
import type { RequestHeaders } from '../../../src/core/endpoints.ts'
import type { Authorizer, CredentialContext } from '../../../src/core/provider-kind.ts'
import { bedrock } from '../../../src/providers/bedrock/kind.ts'
import { awsEvent } from '../../support/aws-event-stream.ts'
import { toOutcome } from '../../support/chunks.ts'
import { readError, type TestGateway, testGateway } from '../../support/gateway.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { json, type Responder, ScriptedUpstream, stream } from '../../support/scripted-upstream.ts'

export const sonnet = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'

export const apiKey = 'bedrock-api-key-canary-0123456789'

export interface Setup {
  readonly upstreamId?: string | undefined
  /** The client-facing id. */
  readonly id?: string | undefined
  readonly strict?: boolean | undefined
  readonly secret?: string | undefined
  /** More lines for the provider. */
  readonly settings?: string | undefined
  /** More environment variables. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** More lines of the file, after the model. */
  readonly more?: string | undefined
}

/** Creates a gateway with one provider `p` of this kind and its model `m`. */
export function bedrockGateway(setup: Setup = {}): Promise<TestGateway> {
  const { upstreamId = sonnet, id = 'm', strict = false, secret = apiKey } = setup
  const config = `
[[providers]]
name = "p"
kind = "bedrock"
api_key_env = "P_KEY"
strict = ${strict}
${setup.settings ?? ''}
[[providers.models]]
id = "${id}"
upstream_id = "${upstreamId}"
modalities = ["text", "image"]
${setup.more ?? ''}`
  return testGateway(config, { env: { P_KEY: secret, ...setup.env } })
}

/** Builds a request with one question and these fields. */
export function asking(fields: object = {}): { model: string; messages: object[] } {
  return { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields }
}

/** Advances the clock past all retries and returns the answer. */
export async function waitForAnswer<T>({ clock }: TestGateway, answer: Promise<T>): Promise<T> {
  await clock.advance(120_000)
  return answer
}

/** Builds a JSON answer of Converse with these blocks. */
export function answered(content: readonly object[], more: object = {}): object {
  return {
    output: { message: { role: 'assistant', content } },
    stopReason: 'end_turn',
    usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    metrics: { latencyMs: 9 },
    ...more,
  }
}

/** A request body of Converse, with the members that the tests compare. */
export interface ConverseBody {
  readonly system?: unknown
  readonly messages: readonly { readonly role: string; readonly content: readonly SentBlock[] }[]
  readonly inferenceConfig?: unknown
  readonly toolConfig?: unknown
  readonly additionalModelRequestFields?: unknown
  readonly outputConfig?: unknown
  readonly serviceTier?: unknown
  readonly guardrailConfig?: unknown
}

interface SentBlock {
  readonly toolUse?: { readonly toolUseId: string; readonly input: unknown }
  readonly toolResult?: { readonly toolUseId: string }
  readonly document?: { readonly name: string }
}

/** Sends a request with these fields to a model. Returns the upstream body. */
export async function sendFields(
  upstreamId: string,
  fields: object,
  setup: Setup = {},
): Promise<ConverseBody> {
  const { chat, upstream } = await bedrockGateway({ ...setup, upstreamId })
  upstream.next(json(answered([{ text: 'Hi' }])))
  const response = await chat({ ...asking(fields), model: setup.id ?? 'm' })
  expect(response.status, await response.clone().text()).toBe(200)
  // The tests compare every member that they name.
  return upstream.body() as ConverseBody
}

/** Sends these messages to a model. Returns the conversation of the upstream body. */
export async function sendMessages(
  messages: readonly object[],
  upstreamId: string = sonnet,
): Promise<Pick<ConverseBody, 'system' | 'messages'>> {
  const { system, messages: turns } = await sendFields(upstreamId, { messages })
  return { ...(system !== undefined && { system }), messages: turns }
}

/** Sends a request with these fields to a strict provider. Returns the refused field, if any. */
export async function refuseFields(upstreamId: string, fields: object): Promise<unknown> {
  const { chat, upstream } = await bedrockGateway({ upstreamId, strict: true })
  upstream.always(json(answered([{ text: 'Hi' }])))
  const response = await chat(asking(fields))
  if (response.status === 200) return undefined
  expect(response.status).toBe(400)
  expect(upstream.requests).toEqual([])
  const { code, param } = await readError(response)
  expect(code).toBe('LM-1001')
  return param
}

/** Sends these messages, which must be refused before any upstream call. Returns the error. */
export async function refuseMessages(
  messages: readonly object[],
  strict = false,
): Promise<{ code: unknown; param: unknown }> {
  const { chat, upstream } = await bedrockGateway({ strict })
  const response = await chat({ model: 'm', messages })
  expect(response.status).toBe(400)
  expect(upstream.requests).toEqual([])
  const { code, param } = await readError(response)
  return { code, param }
}

/** Reads the answer that the client gets for these upstream blocks. */
export async function readOutcome(
  content: readonly object[],
  more: object = {},
  fields: object = {},
): Promise<ReturnType<typeof toOutcome>> {
  const { chat, upstream } = await bedrockGateway()
  upstream.next(json(answered(content, more)))
  return toOutcome(await (await chat(asking(fields))).json())
}

export const requestId = { 'x-amzn-requestid': 'rid-1' }

const streamHead = {
  headers: { 'content-type': 'application/vnd.amazon.eventstream', ...requestId },
}

/** Responds with a ConverseStream answer in these pieces. */
export function streamed(pieces: readonly Uint8Array[]): Responder {
  return stream(pieces, streamHead)
}

export const start: Uint8Array = awsEvent('messageStart', { role: 'assistant' })

export function say(text: string, block = 0): Uint8Array {
  return awsEvent('contentBlockDelta', { contentBlockIndex: block, delta: { text } })
}

export function openCall(block: number, toolUseId: string | undefined, name: string): Uint8Array {
  const toolUse = { toolUseId, name }
  return awsEvent('contentBlockStart', { contentBlockIndex: block, start: { toolUse } })
}

export function argue(block: number, input: string): Uint8Array {
  const delta = { toolUse: { input } }
  return awsEvent('contentBlockDelta', { contentBlockIndex: block, delta })
}

export function close(block: number): Uint8Array {
  return awsEvent('contentBlockStop', { contentBlockIndex: block })
}

export function stop(stopReason = 'end_turn'): Uint8Array {
  return awsEvent('messageStop', { stopReason })
}

export const metadata: Uint8Array = awsEvent('metadata', {
  usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
  metrics: { latencyMs: 9 },
})

export interface Bench {
  readonly authorize: Authorizer
  /** Returns the headers of the credential for a request to this address with this body. */
  headers(url: string, body?: string): Promise<RequestHeaders>
}

/** Creates an authorizer alone, with the clock at noon UTC on 15 January 2026. */
export function bench(
  secret: string,
  context: Partial<Pick<CredentialContext, 'baseUrl' | 'env'>> = {},
): Bench {
  const authorize = bedrock.createAuthorizer({
    secret,
    baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com',
    clock: new ManualClock(Date.UTC(2026, 0, 15, 12)),
    env: {},
    send: new ScriptedUpstream().port,
    ...context,
  })
  return {
    authorize,
    headers: async (url, body = '{}') =>
      authorize({
        url,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: new TextEncoder().encode(body),
      }),
  }
}
