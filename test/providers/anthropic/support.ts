import { expect } from 'vitest'
import { toOutcome } from '../../support/chunks.ts'
import { readError, type TestGateway, testGateway } from '../../support/gateway.ts'
import { json } from '../../support/scripted-upstream.ts'

export { event } from '../cases/anthropic.ts'

export interface Setup {
  readonly upstreamId?: string | undefined
  /** Further settings of the provider, one TOML line each. */
  readonly settings?: string
  readonly secret?: string
  /** The setting that names the secret. */
  readonly credential?: string
}

/** Creates a gateway with one provider `p` of this kind and its model `m`. */
export function anthropicGateway(setup: Setup = {}): Promise<TestGateway> {
  const {
    upstreamId = 'claude-sonnet-4-5',
    settings = '',
    secret = 'sk-ant-api03-canary',
    credential = 'api_key_env = "P_KEY"',
  } = setup
  const config = `
# A failure in one test must not open the circuit for the next one.
[resilience]
circuit_failure_threshold = 1000000
[[providers]]
name = "p"
kind = "anthropic"
${credential}
${settings}
[[providers.models]]
id = "m"
upstream_id = "${upstreamId}"
modalities = ["text", "image"]
`
  return testGateway(config, { env: { P_KEY: secret } })
}

/** Builds a request with one question and these fields. */
export function asking(fields: object = {}): { model: string; messages: object[] } {
  return { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields }
}

/** Builds a JSON answer of the vendor with these blocks. */
export function message(content: readonly object[], more: object = {}): object {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content,
    stop_reason: 'end_turn',
    usage: { input_tokens: 10, output_tokens: 5 },
    ...more,
  }
}

/** Sends a request and reads the answer that the client gets for this upstream body. */
export async function readOutcome(
  body: object,
  fields: object = {},
): Promise<{ answer: unknown } & ReturnType<typeof toOutcome>> {
  const { chat, upstream } = await anthropicGateway()
  upstream.next(json(body))
  const response = await chat(asking(fields))
  expect(response.status).toBe(200)
  const answer: unknown = await response.json()
  return { answer, ...toOutcome(answer) }
}

/** Advances the clock past all retries and returns the answer. */
export async function waitForAnswer(
  { clock }: TestGateway,
  answer: Promise<Response>,
): Promise<Response> {
  await clock.advance(120_000)
  return answer
}

/** Sends a request with these fields and returns the upstream body. */
export async function sent(fields: object, setup: Setup = {}): Promise<Record<string, unknown>> {
  const { chat, upstream } = await anthropicGateway(setup)
  upstream.next(json(message([{ type: 'text', text: 'ok' }])))
  const response = await chat(asking(fields))
  expect(response.status, response.status === 200 ? '' : await response.text()).toBe(200)
  // The API accepts a JSON object only.
  return upstream.body() as Record<string, unknown>
}

/** Sends a request with these fields and returns its error; expects no upstream call. */
export async function refused(fields: object, setup: Setup = {}): Promise<Record<string, unknown>> {
  const { chat, upstream } = await anthropicGateway(setup)
  const response = await chat(asking(fields))
  expect(response.status).toBe(400)
  expect(upstream.requests).toEqual([])
  return readError(response)
}

/** A provider with `strict = true`. */
export const strict: Setup = { settings: 'strict = true' }
