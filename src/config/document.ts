import type { ConfigFile } from '../core/config-file.ts'
import { GatewayError, invalid } from '../core/errors.ts'
import { blake3Hex } from '../wire/digest.ts'
import { type Problem, renderProblem } from './problem.ts'

/** Bytes of a replacement: thousands of models. More would hold the process up while it is parsed. */
const maxBytes = 1024 * 1024

/** What is said of a text that may become the configuration. */
export type Judgement = Accepted | { readonly ok: false; readonly problems: readonly Problem[] }

interface Accepted {
  readonly ok: true
  /** Makes it serve. Called before anything else is judged, or never. */
  readonly apply: () => void | Promise<void>
}

/** What came of a reload. `unchanged`: the file has been judged as it is. */
export type Reload =
  | { readonly state: 'applied' | 'unchanged' }
  | { readonly state: 'refused'; readonly problems: readonly Problem[] }

export interface ConfigDocumentOptions {
  readonly file: ConfigFile
  /** The text of the configuration that serves. */
  readonly serving: string
  /** Judges as a boot would, and prepares everything. Rejects when it cannot tell. */
  readonly judge: (text: string) => Promise<Judgement>
}

/** The configuration file as it stands: its text, and the hash that a replacement must name. */
export interface ConfigReading {
  readonly config: string
  /** BLAKE3 of the bytes, 64 lowercase hex digits. */
  readonly hash: string
}

/**
 * The configuration file, and the one place where what serves is replaced by what it says. Changes
 * happen one after the other, so each is judged against what the one before has left.
 */
export class ConfigDocument {
  readonly #file: ConfigFile
  readonly #judge: ConfigDocumentOptions['judge']
  #serving: string
  /** The mark of the file when it was last judged, whatever the judgement. */
  #judged: string
  #last: Promise<unknown> = Promise.resolve()

  constructor({ file, serving, judge }: ConfigDocumentOptions) {
    this.#file = file
    this.#judge = judge
    this.#serving = serving
    this.#judged = blake3Hex(serving)
  }

  /** Bytes that are no UTF-8 read as U+FFFD; the hash is that of the file all the same. */
  async get(): Promise<ConfigReading> {
    const bytes = await this.#file.read()
    return { config: lenientUtf8.decode(bytes), hash: blake3Hex(bytes) }
  }

  /**
   * Replaces the file by a valid configuration and serves it; resolves to the new hash. LM-1001 for
   * what cannot serve, LM-1002 for what is over 1 MiB and LM-1004 for a hash that is not the file's;
   * all leave the file untouched.
   * Should the new configuration fail to take over although it is valid, the file keeps it, and the
   * next reload tries again.
   */
  async put(bytes: Uint8Array, ifMatch: string | null): Promise<string> {
    const expected = expectedHash(ifMatch)
    if (bytes.length > maxBytes) {
      throw new GatewayError('LM-1002', `the configuration is over the limit of ${maxBytes} bytes`)
    }
    const text = utf8(bytes)
    if (text === undefined) throw invalid('the configuration is not valid UTF-8')
    if (isBlank(text)) throw invalid('the configuration is empty')
    return this.#inTurn(() => this.#replace(text, bytes, expected))
  }

  /** Serves what the file says now. A file that is refused, or cannot be read, changes nothing. */
  reload(): Promise<Reload> {
    return this.#inTurn(async () => this.#serve(await this.#look()))
  }

  /** Like `reload`, but only when the file is another one than was judged last. */
  refresh(): Promise<Reload> {
    return this.#inTurn(async () => {
      const look = await this.#look()
      return look.mark === this.#judged ? { state: 'unchanged' } : this.#serve(look)
    })
  }

  /** Prepares what serves anew, for secrets that have changed, without a look at the file. */
  rebuild(): Promise<Reload> {
    return this.#inTurn(() => this.#adopt(this.#serving))
  }

  async #replace(text: string, bytes: Uint8Array, expected: string): Promise<string> {
    await this.#expect(expected)
    const staged = await this.#file.stage(bytes)
    try {
      const judgement = await this.#judge(text)
      if (!judgement.ok) throw refusal(judgement.problems)
      // Judging takes a while, and an editor takes no turns.
      await this.#expect(expected)
      await staged.commit()
      await this.#apply(text, judgement)
    } finally {
      await staged.discard()
    }
    this.#judged = blake3Hex(bytes)
    return this.#judged
  }

  async #expect(hash: string): Promise<void> {
    if (blake3Hex(await this.#file.read()) === hash) return
    throw new GatewayError(
      'LM-1004',
      'If-Match differs from the hash of the configuration file; GET it again',
    )
  }

  async #look(): Promise<Look> {
    try {
      return lookAt(await this.#file.read())
    } catch (error) {
      return { mark: 'unreadable', problem: `cannot be read${codeOf(error)}` }
    }
  }

  async #serve(look: Look): Promise<Reload> {
    const reload = 'text' in look ? await this.#adopt(look.text) : refused(look.problem)
    this.#judged = look.mark
    return reload
  }

  async #adopt(text: string): Promise<Reload> {
    const judgement = await this.#judge(text)
    if (!judgement.ok) return { state: 'refused', problems: judgement.problems }
    await this.#apply(text, judgement)
    return { state: 'applied' }
  }

  async #apply(text: string, { apply }: Accepted): Promise<void> {
    await apply()
    this.#serving = text
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => {})
    return turn
  }
}

const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true })
const strictUtf8 = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })

function utf8(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return undefined
  }
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

/** The file as it was found. The mark is its hash; equal marks are equal files. */
type Look = { readonly mark: string } & ({ readonly text: string } | { readonly problem: string })

function lookAt(bytes: Uint8Array): Look {
  const mark = blake3Hex(bytes)
  const text = utf8(bytes)
  if (text === undefined) return { mark, problem: 'is not valid UTF-8' }
  // An editor that writes in place empties the file first, and an empty one would serve nothing.
  return isBlank(text) ? { mark, problem: 'is empty' } : { mark, text }
}

/** The host's code, ` (ENOENT)`. Its message would tell the path. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? ` (${code})` : ''
}

/** The hash that `If-Match` names, in quotes or not. */
function expectedHash(ifMatch: string | null): string {
  const value = ifMatch?.trim() ?? ''
  const hash = /^"(.*)"$/.exec(value)?.[1] ?? value
  if (hash === '') {
    throw invalid('If-Match is missing: send the hash that GET /admin/config has given')
  }
  if (hash === '*') throw invalid('If-Match must name a hash: * is not taken')
  if (hash.startsWith('W/'))
    throw invalid('If-Match must name the hash itself: no weak tag is taken')
  return hash
}

/** As many problems as help; a file that is something else altogether has thousands. */
const mostProblems = 20

function refusal(problems: readonly Problem[]): GatewayError {
  const told = problems.slice(0, mostProblems).map(renderProblem)
  const rest = problems.length - told.length
  if (rest > 0) told.push(`and ${rest} more`)
  return invalid(
    `the configuration is refused: ${told.join('; ')}`,
    problems[0]?.setting || undefined,
  )
}

function refused(message: string): Reload {
  return { state: 'refused', problems: [{ setting: 'the configuration file', message }] }
}
