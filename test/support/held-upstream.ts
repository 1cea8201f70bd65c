import { UpstreamFault } from '../../src/core/failure.ts'
import type { UpstreamRequest, UpstreamResponse } from '../../src/index.ts'
import { type Responder, type ScriptedUpstream, whole } from './scripted-upstream.ts'

/** A call that runs at the upstream until the test answers it, or the gateway gives it up. */
export interface HeldCall {
  /** The `model` of its body. */
  readonly model: string
  readonly request: UpstreamRequest
  /** Answers with a responder; by default with a whole answer. */
  answer(responder?: Responder): void
}

const answered = whole(
  JSON.stringify({
    id: 'chatcmpl-a1',
    object: 'chat.completion',
    created: 1_764_000_000,
    model: 'upstream-m',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 },
  }),
)

/** Upstream calls that wait for the test, and how many of them run at once. */
export class HeldUpstream {
  /** In the order of their arrival. */
  readonly running: HeldCall[] = []
  /** The most that have run at once. */
  peak = 0
  /** All calls so far. */
  total = 0

  readonly #onHold: () => void

  /** `onHold` is called when another call runs. */
  constructor(upstream: ScriptedUpstream, onHold: () => void = () => {}) {
    this.#onHold = onHold
    upstream.always((request) => this.#hold(request))
  }

  /** Answers the call that runs for longest. */
  answerFirst(responder?: Responder): void {
    const [first] = this.running
    if (!first) throw new Error('no call runs')
    first.answer(responder)
  }

  #hold(request: UpstreamRequest): Promise<UpstreamResponse> {
    this.total++
    return new Promise((resolve, reject) => {
      const { model } = JSON.parse(new TextDecoder().decode(request.body))
      const end = () => {
        const at = this.running.indexOf(call)
        if (at < 0) return false
        this.running.splice(at, 1)
        return true
      }
      const call: HeldCall = {
        model,
        request,
        answer(responder = answered) {
          if (end()) responder(request).then(resolve, reject)
        },
      }
      this.running.push(call)
      this.peak = Math.max(this.peak, this.running.length)
      this.#onHold()
      request.signal.addEventListener('abort', () => {
        end()
        reject(new UpstreamFault({ kind: 'network', reason: 'aborted' }))
      })
    })
  }
}
