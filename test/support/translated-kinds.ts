import { isUtf8 } from 'node:buffer'
import type { ChatEndpoint } from '../../src/core/endpoints.ts'
import type { DialectTarget, ProviderKind } from '../../src/core/provider-kind.ts'
import { UntranslatableError } from '../../src/core/untranslatable-error.ts'
import { readChat } from '../../src/doors/chat/request.ts'
import { kinds } from '../../src/providers/index.ts'
import { ManualClock } from './manual-clock.ts'
import { openSlice } from './open-slice.ts'

/** A kind whose chat requests the gateway translates. */
export interface TranslatedKind {
  readonly name: string
  /** Its column of the translation table; undefined when its requests are not filtered by the table. */
  readonly api: string | undefined
}

const clock = new ManualClock()

/** The model and address that dialects are bound to. */
export const dialectTarget: DialectTarget = {
  // An address of Vertex AI must have a project.
  baseUrl: 'https://vendor.test/v1/projects/p/locations/l',
  hasCustomBaseUrl: true,
  apiVersion: undefined,
  upstreamId: 'model',
  modelId: 'm',
  maxOutputTokens: undefined,
  takesEffort: true,
  profileSettings: [],
  messagesUrl: undefined,
  streamUsage: 'not-asked',
  speaksResponses: undefined,
  mayAskUsage: true,
  forwardsMediaUrls: false,
  clock,
  env: { AWS_REGION: 'us-east-1' },
  secret: 'key',
}

/** All translated kinds, found by what they send: only verbatim kinds forward an unknown field. */
export const translatedKinds: readonly TranslatedKind[] = await findTranslatedKinds()

/** One translated kind for each API. */
export const apiKinds: readonly string[] = translatedKinds
  .filter(({ api }, at) => translatedKinds.findIndex((other) => other.api === api) === at)
  .map(({ name }) => name)

/** Lists the translated kinds that share their API with none of the covered kinds. */
export function listUncovered(covered: readonly string[]): string[] {
  const apis = new Set(
    translatedKinds.filter(({ name }) => covered.includes(name)).map(({ api }) => api),
  )
  return translatedKinds.filter(({ api }) => !apis.has(api)).map(({ name }) => name)
}

async function findTranslatedKinds(): Promise<TranslatedKind[]> {
  const plain = await readChat({ bytes: encode({ unknown_field: 1 }), slice: openSlice(), isUtf8 })
  const messages = [{ role: 'user', content: [{ type: 'unknown_part' }] }]
  const refused = await readChat({ bytes: encode({ messages }), slice: openSlice(), isUtf8 })
  return kinds.flatMap((kind) => {
    const endpoint = bindChat(kind)
    if (!endpoint) return []
    const sent = new TextDecoder().decode(endpoint.buildRequest(plain).body)
    if (sent.includes('unknown_field')) return []
    return [{ name: kind.name, api: readApi(() => endpoint.listUnsupported(refused)) }]
  })
}

function encode(fields: object): Uint8Array {
  const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields }
  return new TextEncoder().encode(JSON.stringify(request))
}

/** Reads the API from the refusal of a part, which the table refuses in every column. */
function readApi(refuse: () => void): string | undefined {
  try {
    refuse()
  } catch (error) {
    if (!(error instanceof UntranslatableError)) throw error
    return /the (\w+) API does not support part of another type/.exec(error.message)?.[1]
  }
  return undefined
}

/** Binds the chat dialect of a kind to a model. */
export function bindChat(kind: ProviderKind): ChatEndpoint | undefined {
  return kind.chat?.(dialectTarget)
}
