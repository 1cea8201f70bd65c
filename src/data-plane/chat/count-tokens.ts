import type { NativeApi } from '../../core/capability.ts'
import type { NativeCall } from '../../core/endpoints.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Bytes, Millis } from '../../core/ids.ts'
import { asHeaderList } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import { type ErrorForm, jsonBytes, type Reply } from '../../core/reply.ts'
import { RunningByKey } from '../../core/running-by-key.ts'
import { attemptsHeader } from '../request/admitted.ts'
import { readTimeout } from '../request/asked-timeout.ts'
import type { RequestContext } from '../request/context.ts'
import { cleanReason } from '../request/refusal.ts'
import type { ReceivedRequest } from '../serve/received-request.ts'
import type { ServeRequest } from '../serve/service.ts'
import { callUpstream, failed, readAnswer } from '../upstream/call-upstream.ts'

/** An API that counts the tokens of a prompt without generating anything. */
export interface CountDoor {
  readonly api: NativeApi
  /** The paths that are POSTed to. */
  readonly paths: readonly string[]
  readonly form: ErrorForm
  /** Reads a request. Throws LM-1001 with the field at fault. */
  read(received: ReceivedRequest): Promise<CountCall>
  /** Renders a count of the gateway's own. */
  renderEstimate(tokens: number): Uint8Array
}

/** One request to count. */
export interface CountCall {
  readonly model: string
  readonly native: NativeCall
  readonly promptTokens: number
}

/** How many counts may run at once for a key: clients send bursts of them. */
const maxAtOnce = 64

/** How long the upstream may take: a client waits for the count before it goes on. */
const maxWait: Millis = 10_000
/** A count is a few numbers. */
const maxCountBytes: Bytes = 64 * 1024

/**
 * Serves counts: asks the model's own upstream if it counts, and estimates otherwise. A count is not
 * charged, and no limit of the key counts it.
 */
export function serveCounts(door: CountDoor): ServeRequest {
  const running = new RunningByKey({ max: maxAtOnce, name: 'counts' })
  return async (request, context) => {
    const slice = context.startTimeSlice()
    const authenticated = context.authenticate(request) // LM-4004
    let leave: (() => void) | undefined
    try {
      const timeout = readTimeout(request.headers) // LM-1001
      leave = running.enter(authenticated.keyId) // LM-4006
      const bytes = await authenticated.readBody(request) // LM-1002
      const { clock, isUtf8 } = context
      const call = await door.read({ bytes, request, slice, clock, isUtf8 }) // LM-1001
      const countInput = () => call.promptTokens
      const { chain } = authenticated.resolve(call, { bytes, countInput }) // LM-2001, LM-4005, LM-2002
      context.releaseParser()
      const { count, attempts } = await askUpstream(door.api, call, {
        link: chain[0],
        context,
        timeout,
      })
      return reply(count ?? door.renderEstimate(call.promptTokens), attempts)
    } catch (error) {
      logRefusal(error, { context, path: door.paths[0] ?? '', keyId: authenticated.keyId })
      throw error
    } finally {
      leave?.()
    }
  }
}

interface Refused {
  readonly context: RequestContext
  readonly path: string
  readonly keyId: string | undefined
}

/** Counts have no record, and so no request line. Unexpected errors have a line of their own. */
function logRefusal(error: unknown, { context: { id, log }, path, keyId }: Refused): void {
  if (!(error instanceof GatewayError)) return
  const { status, code, message } = error
  log.write('info', 'count refused', {
    request_id: id,
    key_id: keyId,
    path,
    status,
    error_code: code,
    reason: cleanReason(message),
  })
}

interface Asked {
  readonly link: Model
  readonly context: RequestContext
  /** The total timeout that the client asks for. */
  readonly timeout: Millis | undefined
}

interface Counted {
  /** Undefined where the upstream does not count, or fails. */
  readonly count?: Uint8Array
  readonly attempts: number
}

const uncounted: Counted = { attempts: 0 }

/** Asks the upstream for its count, where it has one. */
async function askUpstream(
  api: NativeApi,
  { native }: CountCall,
  { link, context, timeout = maxWait }: Asked,
): Promise<Counted> {
  const endpoint = link.native[api]
  const counting = endpoint?.counting
  const { breakers, credentials } = context.resilience
  if (!endpoint || !counting || breakers.isOpen(link)) return uncounted
  const scope = context.scope.open()
  const left = context.arrived + timeout - context.clock.elapsed()
  scope.endAfter(Math.min(maxWait, left), { kind: 'timeout', limit: 'read' })
  const { bufferAccount } = context
  const credential = credentials.takeNext(link)
  const result = await callUpstream<Uint8Array>({
    attempt: { link, scope, credential, mayResend: true, resends: 0 },
    deps: context,
    streamed: false,
    maxAnswerBytes: maxCountBytes,
    request: () => counting.buildRequest(native),
    parseError: (status, body, header) => endpoint.parseError(status, body, header),
    async read(response) {
      const body = await readAnswer(response, { scope, bufferAccount, maxBytes: maxCountBytes })
      if (counting.isCount(body)) return { ok: true, value: body }
      return failed({ kind: 'malformed', detail: 'the answer is not a count' })
    },
  })
  scope.close()
  if (result.ok) return { count: result.value, attempts: 1 }
  context.log.write('debug', 'the upstream has not counted the tokens', {
    request_id: context.id,
    model: link.id,
    provider: link.provider.name,
    failure: result.failure.kind,
  })
  return { attempts: result.failure.kind === 'no-credential' ? 0 : 1 }
}

function reply(body: Uint8Array, attempts: number): Reply {
  return jsonBytes(body, { headers: asHeaderList([attemptsHeader, String(attempts)]) })
}
