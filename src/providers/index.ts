import type { NativeEndpoints } from '../core/endpoints.ts'
import type { DialectTarget, ProviderKind } from '../core/provider-kind.ts'
import { anthropic } from './anthropic/kind.ts'
import { bindMessages } from './anthropic/native.ts'
import { bedrock } from './bedrock/kind.ts'
import { cohere } from './cohere/kind.ts'
import { demo } from './demo/kind.ts'
import { google } from './google/kind.ts'
import { azure } from './vendors/azure.ts'
import { jina } from './vendors/jina.ts'
import { mixedbread } from './vendors/mixedbread.ts'
import { openAiCompatibleKinds } from './vendors/openai-compatible.ts'
import { pinecone } from './vendors/pinecone.ts'
import { tei } from './vendors/tei.ts'
import { typesafe } from './vendors/typesafe.ts'
import { voyage } from './vendors/voyage.ts'
import { vertexAi } from './vertex/kind.ts'

export { probeRoot } from './base/probe.ts'
export { createCostReader } from './openai/billing.ts'
export { explainRefusal } from './refusals/explain-refusal.ts'
export { exchangeGoogleFile } from './vertex/auth/file-exchange.ts'

/** All provider kinds. This is the only list of them. */
export const kinds: readonly ProviderKind[] = [
  ...openAiCompatibleKinds,
  azure,
  anthropic,
  google,
  vertexAi,
  bedrock,
  cohere,
  jina,
  voyage,
  mixedbread,
  pinecone,
  tei,
  typesafe,
  demo,
]

const byName = new Map(kinds.map((kind) => [kind.name, kind]))

/** Returns the kind with this canonical name. The configuration has checked that it exists. */
export function getKind(name: string): ProviderKind {
  const kind = byName.get(name)
  if (!kind) throw new TypeError(`unknown provider kind ${name}`)
  return kind
}

/** Binds the APIs of the gateway that an upstream speaks itself: by its kind, or at an address of its own. */
export function bindNative({ native = {} }: ProviderKind, target: DialectTarget): NativeEndpoints {
  const { messagesUrl: url, upstreamId } = target
  const ofKind = Object.entries(native).map(([api, bind]) => [api, bind(target)] as const)
  return {
    ...Object.fromEntries(ofKind.filter(([, endpoint]) => endpoint !== undefined)),
    ...(url !== undefined && {
      messages: bindMessages({ url, upstreamId, keyHeader: 'x-api-key' }),
    }),
  }
}
