import type { ProviderKind } from '../core/provider.ts'
import { azure } from './kinds/azure.ts'
import { demo } from './kinds/demo.ts'
import { openAiCompatibleKinds } from './kinds/openai-compatible.ts'

/** Every provider kind of the product. The only such list. */
export const kinds: readonly ProviderKind[] = [...openAiCompatibleKinds, azure, demo]

const byName = new Map(kinds.map((kind) => [kind.name, kind]))

/** The kind of that canonical name. Configuration has checked that it exists. */
export function kindNamed(name: string): ProviderKind {
  const kind = byName.get(name)
  if (!kind) throw new TypeError(`unknown provider kind ${name}`)
  return kind
}
