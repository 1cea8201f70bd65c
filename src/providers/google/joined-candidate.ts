import { isObject } from '../../wire/json/parse.ts'
import { stringifyJson } from '../../wire/json/raw.ts'
import { PartialArguments } from './arguments.ts'
import { isPlainText, writeCall } from './content.ts'
import { JoinedSources } from './joined-sources.ts'
import { createMembers, type KnownMembers, replaceKnown } from './known-members.ts'
import type { GeminiPart } from './response.ts'

/** One candidate of the chunks that are joined to an answer. */
export class JoinedCandidate {
  /** Each as the pieces of its JSON. */
  readonly #parts: (readonly string[])[] = []
  readonly #members = createMembers()
  readonly #sources = new JoinedSources()
  readonly #chosen: unknown[] = []
  readonly #tops: unknown[] = []
  #hasContent = false
  /** The text at the end of the parts so far. */
  #run: TextRun | undefined
  /** The call whose arguments are incomplete. */
  #call: { readonly part: GeminiPart; readonly pieces: PartialArguments } | undefined

  /** Adds what a chunk says of the candidate besides its parts. */
  add(candidate: Readonly<KnownMembers>): void {
    const { content, logprobsResult, groundingMetadata, ...others } = candidate
    const { citationMetadata, urlContextMetadata, ...members } = others
    this.#hasContent ||= isObject(content)
    replaceKnown(this.#members, members)
    this.#sources.addGrounding(groundingMetadata)
    this.#sources.addReport('citationMetadata', citationMetadata)
    this.#sources.addReport('urlContextMetadata', urlContextMetadata)
    if (isObject(logprobsResult)) this.#addLogprobs(logprobsResult)
  }

  /** Adds a part. `readJson` returns its text, with the numbers as the service wrote them. */
  addPart(part: GeminiPart, readJson: () => string): void {
    if (isPlainText(part)) return this.#addText(part)
    this.#endText()
    const { functionCall: call } = part
    if (!call || (call.name && !call.willContinue && !call.partialArgs)) {
      this.#endCall()
      this.#parts.push([readJson()])
      return
    }
    // A call without a name continues the one before.
    if (call.name || !this.#call) {
      this.#endCall()
      this.#call = { part, pieces: new PartialArguments() }
    }
    for (const piece of call.partialArgs ?? []) this.#call.pieces.add(piece)
    if (!call.willContinue) this.#endCall()
  }

  /** Writes the candidate as JSON, in pieces. */
  *write(): Generator<string> {
    this.#endText()
    this.#endCall()
    const members = stringifyJson({
      ...this.#members,
      ...this.#sources.members,
      ...(this.#chosen.length > 0 && { logprobsResult: this.#logprobs }),
    }).slice(1, -1)
    yield `{${members}`
    if (this.#hasContent) {
      yield `${members && ','}"content":{"role":"model","parts":[`
      for (const [at, pieces] of this.#parts.entries()) {
        if (at > 0) yield ','
        yield* pieces
      }
      yield ']}'
    }
    yield '}'
  }

  /** Joins neighbouring texts of one kind, which Google allows for those that are not signed. */
  #addText({ text, thought: isThought }: GeminiPart): void {
    if (!text) return
    const thought = isThought === true
    if (this.#run?.thought !== thought) {
      this.#endText()
      this.#endCall()
      this.#run = { thought, written: [], text: '' }
    }
    addToRun(this.#run, text)
  }

  #endText(): void {
    const run = this.#run
    this.#run = undefined
    if (!run) return
    const { written, text, thought } = run
    const end = thought ? '","thought":true}' : '"}'
    this.#parts.push(['{"text":"', ...written, writeText(text), end])
  }

  #endCall(): void {
    const call = this.#call
    this.#call = undefined
    if (call) this.#parts.push([writeCall(call.part, call.pieces.json)])
  }

  #addLogprobs({ chosenCandidates: chosen, topCandidates: tops }: KnownMembers): void {
    if (!Array.isArray(chosen)) return
    chosen.forEach((token, at) => {
      this.#chosen.push(token)
      this.#tops.push((Array.isArray(tops) ? tops[at] : undefined) ?? {})
    })
  }

  get #logprobs(): object {
    return { chosenCandidates: this.#chosen, topCandidates: this.#tops }
  }
}

/** A text that goes on. */
interface TextRun {
  readonly thought: boolean
  /** Pieces that are written as JSON. Tens of megabytes in one would hold the event loop. */
  readonly written: string[]
  /** What follows them. */
  text: string
}

const maxUnwritten = 64 * 1024

function addToRun(run: TextRun, text: string): void {
  const whole = run.text + text
  // The other half of a character may follow.
  const end = whole.length < maxUnwritten ? 0 : findWholeEnd(whole)
  if (end > 0) run.written.push(writeText(whole.slice(0, end)))
  run.text = whole.slice(end)
}

function findWholeEnd(text: string): number {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length
}

/** Writes the content of a JSON string. */
function writeText(text: string): string {
  return stringifyJson([text]).slice(2, -2)
}
