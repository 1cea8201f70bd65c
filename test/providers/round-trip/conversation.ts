import { expect } from 'vitest'
import type { TestGateway } from '../../support/gateway.ts'
import { pieces } from '../../support/pieces.ts'
import { whole } from '../../support/scripted-upstream.ts'
import type { Chance } from './chance.ts'
import type { Door, Expected, Reply } from './doors/door.ts'
import type { Answer, Input, Vendor } from './vendor.ts'
import { proof, text, written } from './words.ts'

/** One random conversation of a client with a model. */
export class Conversation {
  readonly #gateway: TestGateway
  readonly #vendor: Vendor
  readonly #door: Door
  readonly #chance: Chance
  readonly #items: object[] = []
  readonly #expected: Expected[] = []
  readonly #inputs: Input[] = []

  constructor(
    gateway: TestGateway,
    { vendor, door }: { readonly vendor: Vendor; readonly door: Door },
    chance: Chance,
  ) {
    this.#gateway = gateway
    this.#vendor = vendor
    this.#door = door
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
    // Some upstreams answer a streamed request as a whole.
    const isWhole = !isStreamed || this.#chance.is(0.25)
    const answer = this.#vendor.answer(this.#chance, {
      isStreamed: !isWhole,
      hasMedia: this.#door.takesMedia,
      mayTear: !isWhole && this.#door.takesTornCalls,
    })
    const { items, callIds } = await this.#receive(answer, { isStreamed, isWhole })
    this.#checkBody()
    const expected = this.#door.expect(answer, isStreamed)
    this.#expected.push('text' in expected ? { text: compact(expected.text) } : expected)
    this.#items.push(...items)
    if (callIds.length > 0) this.#answerCalls(callIds)
    // A user message may follow the results, and must when there are none.
    if (callIds.length === 0 || this.#chance.is(0.2)) this.#ask()
  }

  async #receive(answer: Answer, { isStreamed, isWhole }: Forms): Promise<Reply> {
    const { ask, path, read } = this.#door
    this.#gateway.upstream.next(
      isWhole
        ? whole(answer.whole)
        : pieces(this.#chance.cuts(answer.stream), this.#vendor.contentType),
    )
    const body = written({
      ...ask(this.#items, this.#vendor.model),
      ...(isStreamed && { stream: true }),
    })
    const response = await this.#gateway.get(path, { method: 'POST', body })
    await expectOk(response)
    const reply = await read({ response, isStreamed, chance: this.#chance })
    expectShown(reply, answer)
    return reply
  }

  /** What the vendor received, parsed, and what it should have received. */
  #checkBody(): void {
    const body = this.#gateway.upstream.text()
    const { turns, inputs, readText } = this.#vendor
    const wanted = this.#expected.filter(comesBack)
    const seen = turns(body).map((turn, at) =>
      'text' in (wanted[at] ?? {}) ? { text: compact(readText(turn)) } : { turn },
    )
    expectSame({ turns: seen, inputs: inputs(body) }, { turns: wanted, inputs: this.#inputs })
  }

  #ask(): void {
    const input = { text: text(this.#chance), png: undefined, hasFailed: false }
    this.#inputs.push(input)
    this.#items.push(this.#door.toUser(input.text))
  }

  /** Clients that run calls in parallel return results in any order. */
  #answerCalls(ids: readonly string[]): void {
    const { takesMedia } = this.#door
    const results = ids.map((id) => {
      const png =
        takesMedia && this.#vendor.takesPictures && this.#chance.is(0.3)
          ? proof(this.#chance)
          : undefined
      const hasFailed = takesMedia && this.#vendor.takesFailures && this.#chance.is(0.2)
      return { id, input: { text: text(this.#chance), png, hasFailed } }
    })
    this.#inputs.push(...results.map(({ input }) => input))
    this.#items.push(...this.#door.toResults(this.#chance.shuffled(results)))
  }
}

/** What the client asks for, and what the vendor sends. */
interface Forms {
  readonly isStreamed: boolean
  readonly isWhole: boolean
}

/** A message without content is left out. */
function comesBack(expected: Expected): boolean {
  return 'text' in expected ? expected.text !== '' : expected.turn !== undefined
}

/** Vendors that refuse texts of white space do not get them. */
function compact(said: string): string {
  return said.replace(/\s/g, '')
}

/** A door compares what its client sees. */
function expectShown({ shown }: Reply, answer: Answer): void {
  const { content, refusal = '' } = answer.shown
  const wanted = { refusal: '', annotations: [], ...answer.shown, words: content || refusal }
  expect(wanted).toMatchObject(shown)
}

/**
 * Plain texts that touch may come back as one, which keeps the white space of those that alone would be refused.
 * A call without arguments may come back with an empty object. Thoughts that prove nothing need not come back.
 */
function expectSame(seen: object, wanted: object): void {
  expect(unify(seen)).toEqual(unify(wanted))
}

function unify(value: unknown, name = ''): unknown {
  if (name === 'arguments' && (value === '' || value === 'null')) return '{}'
  if (name === 'content' && typeof value === 'string') return compact(value)
  if (Array.isArray(value)) {
    const joined = joinTexts(value.filter((item) => !isUnproven(item)).map((item) => unify(item)))
    const [first] = joined
    return name === 'content' && joined.length === 1 && isPlainText(first) ? first.text : joined
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unify(member, key)]))
}

function joinTexts(items: readonly unknown[]): unknown[] {
  const joined: unknown[] = []
  for (const item of items) {
    const last = joined.at(-1)
    if (isPlainText(last) && isPlainText(item)) {
      joined[joined.length - 1] = { ...last, text: last.text + item.text }
    } else {
      joined.push(item)
    }
  }
  return joined.flatMap((item) => {
    if (!isPlainText(item)) return [item]
    const said = compact(item.text)
    return said === '' ? [] : [{ ...item, text: said }]
  })
}

/** A thought of Gemini without a signature. */
function isUnproven(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return 'thought' in value && value.thought === true && !('thoughtSignature' in value)
}

/** A text without anything that belongs to it alone. */
function isPlainText(value: unknown): value is { readonly text: string } {
  if (typeof value !== 'object' || value === null || !('text' in value)) return false
  const others = Object.keys(value).filter((key) => key !== 'text' && key !== 'type')
  return typeof value.text === 'string' && others.length === 0
}

async function expectOk(response: Response): Promise<void> {
  expect(response.status, response.ok ? '' : await response.clone().text()).toBe(200)
}
