import { expect } from 'vitest'
import { assemble, type Outcome, readStream, toOutcome } from '../support/chunks.ts'
import { providerKey, type TestGateway } from '../support/gateway.ts'
import { json, type Responder, stream } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'
import type { ChatContractCase, ScriptedAnswer, VendorScript } from './contract-case.ts'

/** How the answers come. */
export type Mode = 'whole' | 'streamed'

export const hello: ScriptedAnswer = {
  text: ['Grüße, ', '世界 ', '🦆'],
  finish: 'stop',
  usage: { prompt: 9, completion: 6 },
}

export const question = { role: 'user', content: 'What is the weather?' }

export function openGateway(
  { kind, upstreamId, settings = '', secret = providerKey }: ChatContractCase,
  { strict = false } = {},
): Promise<TestGateway> {
  const config = `
    [resilience]
    retry_max_attempts = 2
    [[providers]]
    name = "p"
    kind = "${kind}"
    api_key_env = "P_KEY"
    strict = ${strict}
    ${settings}
    [[providers.models]]
    id = "m"
    upstream_id = "${upstreamId}"
    modalities = ["text", "image"]
    [[providers.models]]
    id = "blind"
    upstream_id = "${upstreamId}"
  `
  return watchedGateway(config, { env: { P_KEY: secret } })
}

/** Sends a request with these fields, to which the vendor gives this answer. */
export async function askVendor(
  gateway: TestGateway,
  { script }: ChatContractCase,
  mode: Mode,
  what: ScriptedAnswer,
  fields: object = {},
): Promise<Response> {
  if (script) gateway.upstream.next(answering(script, what, mode))
  return sendQuestion(gateway, mode, fields)
}

/** Does the same and reads the answer to its end. */
export async function readOutcome(
  gateway: TestGateway,
  kindCase: ChatContractCase,
  mode: Mode,
  what: ScriptedAnswer,
  fields: object = {},
): Promise<Outcome> {
  return readAnswer(await askVendor(gateway, kindCase, mode, what, fields), mode)
}

/** Sends a request and advances the clock until it is answered, including retries. */
export async function sendQuestion(
  { chat, clock: time }: TestGateway,
  mode: Mode,
  fields: object = {},
): Promise<Response> {
  const streamed = mode === 'streamed' && { stream: true }
  const pending = chat({ model: 'm', ...streamed, messages: [question], ...fields })
  await time.advance(10_000)
  return pending
}

export async function readAnswer(response: Response, mode: Mode): Promise<Outcome> {
  expect(response.status, response.status === 200 ? '' : await response.text()).toBe(200)
  if (mode === 'whole') return toOutcome(await response.json())
  const { chunks, done } = await readStream(response)
  expect(done, 'the stream ends with [DONE]').toBe(true)
  return assemble(chunks)
}

export function answering(script: VendorScript, what: ScriptedAnswer, mode: Mode): Responder {
  if (mode === 'whole') return json(script.answer(what))
  const { opening, content, end } = script.events(what)
  return stream([...opening, ...content, ...end], toHead(script))
}

export function toHead({ contentType }: VendorScript): { headers?: Record<string, string> } {
  return contentType === undefined ? {} : { headers: { 'content-type': contentType } }
}

/** A kind with its own upstream answers with its own text. */
export function expectText(
  { script }: ChatContractCase,
  content: string | null,
  text: string,
): void {
  if (script) expect(content).toBe(text)
  else expect(content).toMatch(/\S/)
}

/** Expects these texts in the last upstream body, each once and in this order. */
export function expectOrder(
  { script }: ChatContractCase,
  { upstream }: TestGateway,
  texts: readonly string[],
): void {
  if (!script) return
  const body = upstream.text()
  const places = texts.map((text) => body.indexOf(text))
  expect(places).toEqual([...places].sort((a, b) => a - b))
  for (const text of texts) expect(body.split(text).length - 1, text).toBe(1)
}
