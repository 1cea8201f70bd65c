import { type UpstreamFailure, UpstreamFault } from '../core/failure.ts'
import { type Bytes, nameRule } from '../core/ids.ts'
import type { ListPage, ListRequest, NamedFacts } from '../core/model-list.ts'
import type { Environment, UnreadBytes } from '../core/ports.ts'
import type { Provider, UsableCredential } from '../core/provider.ts'
import { version } from '../core/version.ts'
import { readUpstreamBody } from '../wire/body.ts'
import type { CancelScope } from '../wire/cancel-scope.ts'
import { tryParseJson } from '../wire/json/parse.ts'
import { LightAbortController } from '../wire/light-abort-controller.ts'

const maxPageBytes: Bytes = 16 * 1024 * 1024
const maxPages = 100
/** A longer list counts as malformed. */
const maxModels = 10_000

export interface ListContext {
  readonly scope: CancelScope
  readonly env: Environment
}

/**
 * Reads all pages of the list of a provider's vendor. When a credential is refused, the next one reads it. Rejects
 * with an `UpstreamFault`.
 */
export async function readList(
  provider: Provider,
  context: ListContext,
): Promise<readonly NamedFacts[]> {
  let failure: UpstreamFailure = { kind: 'no-credential', message: '' }
  for (const credential of provider.usable) {
    try {
      return await readPages(provider, credential, context)
    } catch (error) {
      if (!(error instanceof UpstreamFault) || !isRefusal(error.failure)) throw error
      failure = error.failure
    }
  }
  throw new UpstreamFault(failure)
}

function isRefusal(failure: UpstreamFailure): boolean {
  if (failure.kind === 'no-credential') return true
  return failure.kind === 'status' && (failure.status === 401 || failure.status === 403)
}

async function readPages(
  provider: Provider,
  credential: UsableCredential,
  { scope, env }: ListContext,
): Promise<readonly NamedFacts[]> {
  const { kind, baseUrl } = provider
  const place = { baseUrl, secret: credential.secret, env }
  const models = new Map<string, NamedFacts>()
  let token: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const request = kind.models?.buildRequest(place, token)
    if (!request) break
    const { models: found, next } = await readPage(provider, { request, credential, scope })
    // A name that no client could write is left out.
    for (const model of found) if (nameRule.test(model.name)) models.set(model.name, model)
    if (models.size > maxModels) throw malformed(`the list has over ${maxModels} models`)
    if (next === undefined || next === token) return [...models.values()]
    token = next
  }
  throw malformed(`the list has over ${maxPages} pages`)
}

interface PageCall {
  readonly request: ListRequest
  readonly credential: UsableCredential
  readonly scope: CancelScope
}

async function readPage(provider: Provider, call: PageCall): Promise<ListPage> {
  const cancel = new LightAbortController()
  const stopListening = call.scope.onEnd(() => cancel.abort())
  try {
    const body = await fetchPage(provider, call, cancel)
    const page = provider.kind.models?.readPage(tryParseJson(new TextDecoder().decode(body)))
    if (page) return page
    throw malformed('the answer is no list of models')
  } catch (error) {
    cancel.abort()
    throw error
  } finally {
    stopListening()
  }
}

async function fetchPage(
  provider: Provider,
  { request, credential: { authorize }, scope }: PageCall,
  signal: LightAbortController,
): Promise<Uint8Array> {
  const send = async (secret: Readonly<Record<string, string>>) => {
    const pending = provider.send({
      method: 'GET',
      url: request.url,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': `model-gateway/${version}`,
        ...request.headers,
        ...secret,
      },
      connectTimeout: provider.connectTimeout,
      dedicatedPool: provider.dedicatedPool,
      queueLimit: maxPageBytes + 1024 * 1024,
      signal,
    })
    return scope.race(pending, (late) => late.body.cancel())
  }
  const sign = () =>
    scope.race(Promise.resolve(authorize({ ...request, method: 'GET', body: new Uint8Array(0) })))
  const secret = await sign()
  let response = await send(secret)
  // A token may be revoked before it expires.
  if (response.status === 401 && authorize.renew?.(secret)) {
    response.body.drain()
    response = await send(await sign())
  }
  const { status, body } = response
  if (status < 200 || status >= 300) {
    body.cancel()
    throw new UpstreamFault({ kind: 'status', status, message: '' })
  }
  return scope.race(readUpstreamBody(body, { maxBytes: maxPageBytes, unread: uncounted }))
}

const uncounted: UnreadBytes = Object.freeze({ add() {}, release() {} })

function malformed(detail: string): UpstreamFault {
  return new UpstreamFault({ kind: 'malformed', detail })
}
