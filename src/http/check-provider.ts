import { GatewayError, invalid } from '../core/errors.ts'
import { isPattern } from '../core/model-pattern.ts'
import { isBuffered } from '../core/ports.ts'
import type { Model, Provider, UsableCredential } from '../core/provider.ts'
import type { CheckedCredential, CheckProvider, CheckQuestion } from '../core/provider-check.ts'
import type { Reply } from '../core/reply.ts'
import type { RequestRecord } from '../core/request-record.ts'
import type { ModelRoute } from '../core/route.ts'
import type { DataPlane } from '../data-plane/index.ts'
import type { Snapshot } from '../snapshot/index.ts'
import { services } from './services.ts'
import { type SmallRequest, toSmallRequest } from './small-request.ts'

export interface ProviderCheckDeps {
  readonly plane: DataPlane
  readonly snapshot: () => Snapshot
}

/** Creates the function that checks providers, by requests that take the way of all others. */
export function createCheckProvider({ plane, snapshot }: ProviderCheckDeps): CheckProvider {
  return async ({ provider: name, model, origin }) => {
    const current = snapshot()
    const provider = current.providers.find((one) => one.name === name)
    if (!provider) return undefined
    const link = findLink(current, { provider, model })
    const request = toSmallRequest(link)
    const asked = await Promise.all(
      provider.usable.map((credential) =>
        ask(request, { plane, snapshot: current, link, credential, origin }),
      ),
    )
    return { provider: name, model: link.id, credentials: [...asked, ...listMissing(provider)] }
  }
}

interface Wanted {
  readonly provider: Provider
  readonly model: string | undefined
}

/** Throws LM-1001 for a model of another provider, and for a provider that has none to ask. */
function findLink(snapshot: Snapshot, { provider, model }: Wanted): Model {
  if (model !== undefined) {
    // A pattern is not a model: its vendor would be asked for `*`.
    const found = isPattern(model) ? undefined : snapshot.findModel(model)
    if (found?.provider.name === provider.name) return found
    throw invalid(`model: provider ${provider.name} has no such model`, 'model')
  }
  const isOwn = (one: Model) => one.provider.name === provider.name
  const first = snapshot.models().find((one) => isOwn(one) && !isPattern(one.id))
  if (first) return first
  const lack = snapshot.models().some(isOwn) ? 'has only patterns' : 'has no models'
  throw invalid(`model: is required, since provider ${provider.name} ${lack}`, 'model')
}

interface AskOptions extends Pick<CheckQuestion, 'origin'> {
  readonly plane: DataPlane
  readonly snapshot: Snapshot
  readonly link: Model
  readonly credential: UsableCredential
}

/** Sends the request with one credential, and reads what its record and its error say. */
async function ask(
  { path, body }: SmallRequest,
  { plane, snapshot, link, credential, origin }: AskOptions,
): Promise<CheckedCredential> {
  const alone = isolate(snapshot, { link, credential })
  let record: RequestRecord | undefined
  const own = plane.isolate({
    snapshot: alone,
    record(finished) {
      record = finished
    },
  })
  const place = services.find(({ paths }) => paths.includes(path))
  if (!place) throw new Error(`no service has the path ${path}`)
  const request = new Request(`http://gateway${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const matched = { request, context: origin, params: {}, route: path }
  let error: GatewayError | undefined
  try {
    await readToEnd(await own.recorded(place.service)(matched))
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown
    error = thrown
  }
  if (!record) throw new Error('a check has ended without a record')
  return describe(credential, { record, error })
}

interface Target {
  readonly link: Model
  readonly credential: UsableCredential
}

/** The same configuration with one way: one model, one credential, one attempt, no cache and no limit. */
function isolate(snapshot: Snapshot, { link, credential }: Target): Snapshot {
  const { room: _, ...rest } = link
  const provider = { ...link.provider, usable: [credential] }
  const only: Model = { ...rest, provider }
  const { id, capabilities, modalities, created } = link
  const route: ModelRoute = {
    id,
    capabilities,
    modalities,
    created,
    provider,
    chain: [only],
    balance: undefined,
  }
  return {
    ...snapshot,
    route: () => route,
    resolve: () => route,
    retry: { ...snapshot.retry, maxAttempts: 1 },
    unpriced: 'allow',
  }
}

/** Reads a stream until it ends, and keeps nothing of it. A stream that breaks has said so in its record. */
async function readToEnd({ body }: Reply): Promise<void> {
  if (body === null || isBuffered(body)) return
  const reader = body.getReader()
  try {
    while (!(await reader.read()).done);
  } catch {
    await reader.cancel().catch(() => {})
  }
}

interface Outcome {
  readonly record: RequestRecord
  readonly error: GatewayError | undefined
}

function describe({ name }: UsableCredential, { record, error }: Outcome): CheckedCredential {
  const seen = {
    credential: name,
    firstToken: error ? null : (record.timeToFirstToken ?? record.latency),
    cost: record.price ? record.cost : null,
  }
  if (error) return { ...seen, ...judge(error, record), error: `${error.code} ${error.message}` }
  // The model has answered, even if its stream then broke.
  const answered = { ...seen, reachable: true, authenticated: true, modelKnown: true }
  const { errorCode, failed: [broken] = [] } = record
  if (errorCode === undefined) return { ...answered, error: null }
  const reason = broken ? `provider ${broken.provider} ${broken.reason}` : 'the stream has failed'
  return { ...answered, error: `${errorCode} ${reason}` }
}

type Judged = Pick<CheckedCredential, 'reachable' | 'authenticated' | 'modelKnown'>

/** Reads what a failure says of the credential and of the model: the status of the vendor's own answer. */
function judge({ code, detail }: GatewayError, { lastCalled }: RequestRecord): Judged {
  const unknown = { authenticated: null, modelKnown: null }
  if (code === 'LM-3006') return { reachable: null, authenticated: false, modelKnown: null }
  if (!lastCalled) return { reachable: null, ...unknown }
  const { upstreamStatus: status } = detail
  if (unanswered.has(code)) return { reachable: null, ...unknown }
  if (status === undefined) return { reachable: !unreached.has(code), ...unknown }
  if (refusals.has(status)) return { reachable: true, authenticated: false, modelKnown: null }
  if (status < 400 || status >= 500 || status === 408) return { reachable: true, ...unknown }
  return { reachable: true, authenticated: true, modelKnown: status === 404 ? false : null }
}

/** No content in time: whether an answer had begun is not known. */
const unanswered: ReadonlySet<string> = new Set(['LM-3011', 'LM-3013'])

/** Without an answer of the vendor: a lost or refused connection, and one that took too long. */
const unreached: ReadonlySet<string> = new Set(['LM-3003', 'LM-3012'])

const refusals: ReadonlySet<number> = new Set([401, 402, 403, 407])

function listMissing({ credentials }: Provider): CheckedCredential[] {
  return credentials.flatMap((one) =>
    one.kind === 'missing'
      ? [
          {
            credential: one.state,
            reachable: null,
            authenticated: false,
            modelKnown: null,
            firstToken: null,
            cost: null,
            error: one.message,
          },
        ]
      : [],
  )
}
