import type { ChatCall } from '../core/chat.ts'
import { invalid } from '../core/errors.ts'
import type { RequestId } from '../core/ids.ts'
import type { Log } from '../core/ports.ts'
import type { Route } from '../core/provider.ts'

/**
 * Looks, before any upstream call, for fields that some link of the chain cannot honour: dropped
 * with a debug line, or LM-1001 where that link's provider is `strict`.
 */
export function checkFields(call: ChatCall, { chain }: Route, log: Log, id: RequestId): void {
  for (const { id: model, chat, provider } of chain) {
    const [field, ...others] = chat?.unsupported(call) ?? []
    if (field === undefined) continue
    if (provider.strict) throw invalid(`provider ${provider.name} cannot honour ${field}`, field)
    const fields = [field, ...others]
    log.write('debug', 'fields dropped', { request_id: id, model, provider: provider.name, fields })
  }
}
