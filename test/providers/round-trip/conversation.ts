import { expect } from 'vitest'
import { assemble, type Outcome, readStream, toOutcome } from '../../support/chunks.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { type MergedMessage, merges } from '../../support/merged-deltas.ts'
import { pieces } from '../../support/pieces.ts'
import { whole } from '../../support/scripted-upstream.ts'
import type { Chance } from './chance.ts'
import type { Answer, Input, Vendor } from './vendor.ts'
import { proof, text } from './words.ts'

/** One random conversation of a client with a model. */
export class Conversation {
  readonly #gateway: TestGateway
  readonly #vendor: Vendor
  readonly #chance: Chance
  readonly #messages: object[] = []
  readonly #answers: Answer[] = []
  readonly #inputs: Input[] = []

  constructor(gateway: TestGateway, vendor: Vendor, chance: Chance) {
    this.#gateway = gateway
    this.#vendor = vendor
    this.#chance = chance
    this.#ask()
  }

  /** Plays some turns, and expects the vendor to get each of its answers back as it gave it. */
  async expectRoundTrips(turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn++) await this.#turn()
  }

  /** Sends the conversation, then appends the answer and the client's next input. */
  async #turn(): Promise<void> {
    const isStreamed = this.#chance.is(0.6)
    const answer = this.#vendor.answer(this.#chance, isStreamed)
    const message = isStreamed ? await this.#stream(answer) : await this.#send(answer)
    this.#checkBody()
    this.#answers.push(answer)
    this.#messages.push(message)
    const calls = (message['tool_calls'] ?? []) as readonly { readonly id: string }[]
    if (calls.length > 0) this.#answerCalls(calls)
    // A user message may follow the results, and must when there are none.
    if (calls.length === 0 || this.#chance.is(0.2)) this.#ask()
  }

  async #send(answer: Answer): Promise<MergedMessage> {
    this.#gateway.upstream.next(whole(answer.whole))
    const response = await this.#gateway.chat(this.#request())
    await expectOk(response)
    const outcome = toOutcome(await response.json())
    expectShown(outcome, answer)
    // The client sends the message back as it received it.
    return outcome.message as MergedMessage
  }

  async #stream(answer: Answer): Promise<MergedMessage> {
    const { contentType } = this.#vendor
    this.#gateway.upstream.next(pieces(this.#chance.cuts(answer.stream), contentType))
    const response = await this.#gateway.chat({ ...this.#request(), stream: true })
    await expectOk(response)
    const { chunks } = await readStream(response)
    expectShown(assemble(chunks), answer)
    const merge = this.#chance.pick(Object.values(merges))
    return merge(chunks)
  }

  #request(): object {
    return { model: 'm', messages: this.#messages, tools: [{ type: 'function', function: f }] }
  }

  /** What the vendor received, parsed, and what it should have received. */
  #checkBody(): void {
    const body = this.#gateway.upstream.text()
    const said = this.#answers.map(({ back }) => back).filter((turn) => turn !== undefined)
    const { turns, inputs } = this.#vendor
    expectSame({ turns: turns(body), inputs: inputs(body) }, { turns: said, inputs: this.#inputs })
  }

  #ask(): void {
    const input = { text: text(this.#chance), png: undefined, hasFailed: false }
    this.#inputs.push(input)
    this.#messages.push({ role: 'user', content: input.text })
  }

  /** Clients that run calls in parallel return results in any order. */
  #answerCalls(calls: readonly { readonly id: string }[]): void {
    const results = calls.map(({ id }) => {
      const png =
        this.#vendor.takesPictures && this.#chance.is(0.3) ? proof(this.#chance) : undefined
      const hasFailed = this.#vendor.takesFailures && this.#chance.is(0.2)
      return { id, input: { text: text(this.#chance), png, hasFailed } }
    })
    this.#inputs.push(...results.map(({ input }) => input))
    for (const { id, input } of this.#chance.shuffled(results)) {
      this.#messages.push({
        role: 'tool',
        tool_call_id: id,
        content: toContent(input),
        ...(input.hasFailed && { is_error: true }),
      })
    }
  }
}

const f = { name: 'f', parameters: { type: 'object', properties: { id: { type: 'string' } } } }

function toContent({ text: said, png }: Input): unknown {
  if (png === undefined) return said
  const url = `data:image/png;base64,${png}`
  return [
    { type: 'text', text: said },
    { type: 'image_url', image_url: { url } },
  ]
}

function expectShown(outcome: Outcome, { shown }: Answer): void {
  const { content, reasoning, refusal, annotations, calls } = outcome
  const seen = { content: content ?? '', reasoning, refusal, annotations }
  const called = calls.map((call) => call.function)
  expect({ ...seen, calls: called }).toEqual({ refusal: '', annotations: [], ...shown })
}

function expectSame(seen: object, wanted: object): void {
  expect(seen).toEqual(wanted)
}

async function expectOk(response: Response): Promise<void> {
  expect(response.status, response.ok ? '' : await response.clone().text()).toBe(200)
}
