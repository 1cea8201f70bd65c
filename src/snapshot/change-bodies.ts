import type { DialectRequest } from '../core/endpoints.ts'
import type { Model } from '../core/provider.ts'
import type { ChangeBody } from '../core/provider-kind.ts'

export type Endpoints = Pick<Model, 'chat' | 'native' | 'embed' | 'rerank' | 'decisions'>

/** Lets endpoints change the bodies that they build for calls. */
export function changeBodies(endpoints: Endpoints, change: ChangeBody): Endpoints {
  const wrap = <Call, Endpoint extends { buildRequest(call: Call): DialectRequest }>(
    endpoint: Endpoint,
  ): Endpoint => ({
    ...endpoint,
    buildRequest(call: Call) {
      const request = endpoint.buildRequest(call)
      return { ...request, body: change(request.body) }
    },
  })
  const wrapEach = <Call, Endpoint extends { buildRequest(call: Call): DialectRequest }>(
    each: Readonly<Record<string, Endpoint>>,
  ) => Object.fromEntries(Object.entries(each).map(([api, endpoint]) => [api, wrap(endpoint)]))
  const { chat, native, embed, rerank, decisions } = endpoints
  return {
    chat: chat && wrap(chat),
    native: wrapEach(native),
    embed: embed && { ...wrap(embed), ...(embed.native && { native: wrapEach(embed.native) }) },
    rerank: rerank && wrap(rerank),
    decisions: decisions && wrap(decisions),
  }
}
