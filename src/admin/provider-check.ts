import * as z from 'zod'
import { invalid } from '../core/errors.ts'
import { toUsd } from '../core/money.ts'
import type { CheckedCredential, CheckedProvider, CheckProvider } from '../core/provider-check.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import { type AdminRequest, type AdminRoutes, type BodyOptions, readOptionalJson } from './input.ts'

export interface ProviderCheckRouteDeps extends BodyOptions {
  readonly checkProvider: CheckProvider
}

/** The route that checks a provider by a real request. It changes nothing, so it leaves no audit row. */
export function providerCheckRoutes(deps: ProviderCheckRouteDeps): AdminRoutes {
  return {
    // A name may hold slashes.
    '/admin/providers/:name+/check': { POST: (matched) => checkOne(matched, deps) },
  }
}

/** The body of `POST /admin/providers/{name}/check`. */
export const providerCheckBody = z.strictObject({
  model: z.string({ error: 'must be the id of a model, or null' }).nullish(),
})

async function checkOne(matched: AdminRequest, deps: ProviderCheckRouteDeps): Promise<Reply> {
  const { name: provider = '' } = matched.params
  const { model } = await readOptionalJson(matched, providerCheckBody, deps)
  const question = { provider, model: model ?? undefined, origin: matched.context }
  const checked = await deps.checkProvider(question)
  if (!checked) throw invalid('no provider with this name is configured', 'name')
  return jsonReply(renderCheck(checked))
}

/** Renders a check for the API. */
export function renderCheck({ provider, model, credentials }: CheckedProvider): object {
  return { provider, model, credentials: credentials.map(renderCredential) }
}

function renderCredential(checked: CheckedCredential): object {
  return {
    credential: checked.credential,
    reachable: checked.reachable,
    authenticated: checked.authenticated,
    model_known: checked.modelKnown,
    first_token_ms: checked.firstToken === null ? null : Math.round(checked.firstToken),
    cost: checked.cost === null ? null : toUsd(checked.cost),
    error: checked.error,
  }
}
