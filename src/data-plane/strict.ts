import { invalid } from '../core/errors.ts'
import type { Model, Route } from '../core/provider.ts'
import type { Exchange } from './exchange.ts'

/**
 * Looks, before any upstream call, for fields that some link of the chain cannot honour: dropped
 * with a debug line, or LM-1001 where that link's provider is `strict`.
 */
export function checkFields(
  { chain }: Route,
  unsupported: (link: Model) => readonly string[],
  { log, id }: Exchange,
): void {
  for (const link of chain) {
    const { id: model, provider } = link
    const [field, ...others] = unsupported(link)
    if (field === undefined) continue
    if (provider.strict) throw invalid(`provider ${provider.name} cannot honour ${field}`, field)
    const fields = [field, ...others]
    log.write('debug', 'fields dropped', { request_id: id, model, provider: provider.name, fields })
  }
}
