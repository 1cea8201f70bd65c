import type { UpstreamFailure } from '../core/failure.ts'
import { filteredAnswer } from '../core/fallback.ts'
import { type Frame, mergeIdentity, type RawChoice } from '../core/frame.ts'
import type { StageController, Transformer } from '../core/streams.ts'
import type { ReportedUsage } from '../core/usage.ts'
import type { UnreadCounter } from '../wire/buffers.ts'
import { ByteList } from '../wire/byte-list.ts'

/**
 * Holds the frames of a stream until the first content frame. Until then another attempt can replace
 * an upstream that fails, because the client has received no frame. The gate reads ahead of its
 * reader; otherwise it would never open.
 */
export class CommitGate implements Transformer<Frame[], Frame[]> {
  /** Resolves to undefined when the gate opens, or to the failure that came in place of content. */
  readonly opened: Promise<FailedOpening | undefined>
  #settle: (failed: FailedOpening | undefined) => void = () => {}
  readonly #limit: number
  readonly #unread: UnreadCounter
  readonly #failsFiltered: boolean
  #isOpen = false
  /** A choice has been ended by the content filter, and none has content yet. */
  #isFiltered = false
  /** The quiet frames so far, joined into one; their bytes are in `#quietBytes`. */
  #quiet: Frame | undefined
  readonly #quietBytes = new ByteList()
  /** Their choices, in one list: one for each joined frame would be copied with the next one. */
  #quietChoices: RawChoice[] = []
  #heldBytes = 0

  constructor({ limit, unread, failsFiltered = false }: CommitGateOptions) {
    this.#limit = limit
    this.#unread = unread
    this.#failsFiltered = failsFiltered
    this.opened = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  transform(frames: Frame[], out: StageController<Frame[]>): void {
    if (this.#isOpen) return out.enqueue(frames)
    const last = frames.findIndex((frame) => frame.kind !== 'quiet' && !this.#isHeld(frame))
    const decisive = frames[last]
    for (const frame of last < 0 ? frames : frames.slice(0, last)) this.#holdQuiet(frame)
    if (decisive?.kind === 'content') return this.#open(frames.slice(last), out)
    const isTooLong = this.#heldBytes > this.#limit || this.#quietChoices.length > maxHeldChoices
    const end = this.#isFiltered ? filteredAnswer : closedEarly
    const failure = decisive ? (decisive.failure ?? end) : isTooLong ? noContent : undefined
    if (!failure) return
    const isBilled = decisive?.isBilled || failure === filteredAnswer
    this.#fail(failure, isBilled ? (decisive?.usage ?? this.#quiet?.usage) : undefined)
    out.terminate()
  }

  flush(): void {
    if (this.#isOpen) return
    if (this.#isFiltered) this.#fail(filteredAnswer, this.#quiet?.usage)
    else this.#fail(closedEarly)
  }

  /** Holds the end by a content filter back: its usage is still to come, and another choice may have content. */
  #isHeld({ isFiltered }: Frame): boolean {
    if (!isFiltered || !this.#failsFiltered) return false
    this.#isFiltered = true
    return true
  }

  #open(frames: Frame[], out: StageController<Frame[]>): void {
    this.#isOpen = true
    const bytes = this.#quietBytes.takeAll()
    const choices = this.#quietChoices.length > 0 ? this.#quietChoices : undefined
    const held = this.#quiet ? [{ ...this.#quiet, bytes, choices }] : []
    this.#release()
    out.enqueue([...held, ...frames])
    this.#settle(undefined)
  }

  #fail(failure: UpstreamFailure, usage?: ReportedUsage): void {
    this.#release()
    this.#settle({ failure, usage })
  }

  #release(): void {
    this.#unread.release()
    this.#quiet = undefined
    this.#quietChoices = []
  }

  /** Joins quiet frames into one, because a frame of a few bytes takes about a hundred bytes of memory. */
  #holdQuiet(frame: Frame): void {
    const { length } = frame.bytes
    this.#heldBytes += length + (frame.droppedBytes ?? 0)
    this.#unread.add(length)
    this.#quietBytes.push(frame.bytes)
    if (frame.choices) this.#quietChoices.push(...frame.choices)
    this.#quiet = this.#quiet ? joinFrames(this.#quiet, frame) : frame
  }
}

export interface CommitGateOptions {
  /** A stream with more bytes before its first content fails as malformed. */
  readonly limit: number
  readonly unread: UnreadCounter
  /** A stream without content that the vendor's content filter has ended fails; false by default. */
  readonly failsFiltered?: boolean
}

/** A stream that has failed before its first content. */
export interface FailedOpening {
  readonly failure: UpstreamFailure
  /** What the vendor bills for it. */
  readonly usage: ReportedUsage | undefined
}

/** How many choices may be held: they are written at once when the gate opens. */
const maxHeldChoices = 5_000

const closedEarly: UpstreamFailure = { kind: 'closed-early' }
const noContent: UpstreamFailure = { kind: 'malformed', detail: 'the stream has no content' }

/** Joins two frames, without their choices. Where both report a value, the later one counts. */
function joinFrames(first: Frame, second: Frame): Frame {
  return {
    ...first,
    usage: second.usage ?? first.usage,
    hasUnsentUsage: second.usage ? second.hasUnsentUsage : first.hasUnsentUsage,
    identity:
      first.identity && second.identity
        ? mergeIdentity(first.identity, second.identity)
        : (second.identity ?? first.identity),
    output: (first.output ?? '') + (second.output ?? ''),
    outputBytes: first.outputBytes + second.outputBytes,
    finished: second.finished ?? first.finished,
  }
}
