import { toFailure } from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'
import { describeNetworkFailure } from '../core/network-failure.ts'
import type { UpstreamPort } from '../core/ports.ts'
import type { CancelScope } from '../wire/cancel-scope.ts'
import { LightAbortController } from '../wire/light-abort-controller.ts'
import type { WebhookMessage } from './message.ts'

/** The receiver of webhook deliveries. */
export interface Recipient {
  readonly url: string
  /** The time limit of one attempt, from connecting to the status of the response. */
  readonly timeout: Millis
}

/** Bytes of a response that may wait to be drained. Only its status matters. */
const queueLimit = 64 * 1024

/** Makes one attempt. Resolves to the reason of a failure, without the address, or to undefined. */
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
    const response = await scope.race(
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
    response.body.drain()
    return response.status >= 200 && response.status < 300 ? undefined : `status ${response.status}`
  } catch (error) {
    const failure = scope.ended ?? toFailure(error)
    return failure.kind === 'network' ? describeNetworkFailure(failure) : 'no response in time'
  } finally {
    scope.close()
  }
}
