import { toFailure } from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'
import { describeNetworkFailure } from '../core/network-failure.ts'
import type { UpstreamPort } from '../core/ports.ts'
import type { CancelScope } from '../wire/cancel-scope.ts'
import { LightAbortController } from '../wire/light-abort-controller.ts'
import type { WebhookMessage } from './message.ts'

export interface Recipient {
  readonly url: string
  /** For one attempt, from connecting to the status of the answer. */
  readonly timeout: Millis
}

/** The status is all that is asked of a receiver; more of its answer is never kept. */
const queueLimit = 64 * 1024

/** One attempt. Resolves to why it failed, in words without the address; undefined when it did not. */
export async function deliver(
  { headers, body }: WebhookMessage,
  { url, timeout }: Recipient,
  { send, scope: parent }: { readonly send: UpstreamPort; readonly scope: CancelScope },
): Promise<string | undefined> {
  const scope = parent.open()
  const cancel = new LightAbortController()
  scope.onEnd(() => cancel.abort())
  scope.endAfter(timeout, { kind: 'timeout', limit: 'read' })
  try {
    const answer = await scope.race(
      send({
        method: 'POST',
        url,
        headers,
        body,
        connectTimeout: timeout,
        queueLimit,
        signal: cancel,
      }),
    )
    answer.body.drain()
    return answer.status >= 200 && answer.status < 300 ? undefined : `status ${answer.status}`
  } catch (error) {
    const failure = scope.ended ?? toFailure(error)
    return failure.kind === 'network' ? describeNetworkFailure(failure) : 'no answer in time'
  } finally {
    scope.close()
  }
}
