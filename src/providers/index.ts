import type { ProviderKind } from '../core/provider.ts'
import { anthropic } from './kinds/anthropic.ts'
import { azure } from './kinds/azure.ts'
import { bedrock } from './kinds/bedrock.ts'
import { cohere } from './kinds/cohere.ts'
import { demo } from './kinds/demo.ts'
import { google } from './kinds/google.ts'
import { jina } from './kinds/jina.ts'
import { mixedbread } from './kinds/mixedbread.ts'
import { openAiCompatibleKinds } from './kinds/openai-compatible.ts'
import { pinecone } from './kinds/pinecone.ts'
import { tei } from './kinds/tei.ts'
import { vertexAi } from './kinds/vertex_ai.ts'
import { voyage } from './kinds/voyage.ts'

export { rootAnswers } from './dialects/liveness.ts'

/** Every provider kind of the product. The only such list. */
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
  demo,
]

const byName = new Map(kinds.map((kind) => [kind.name, kind]))

/** The kind of that canonical name. Configuration has checked that it exists. */
export function kindNamed(name: string): ProviderKind {
  const kind = byName.get(name)
  if (!kind) throw new TypeError(`unknown provider kind ${name}`)
  return kind
}
