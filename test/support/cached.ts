import { pricedProvider } from './keyed-gateway.ts'

/** The settings that turn the cache on, with these further ones. */
export function cacheOn(settings = ''): string {
  return `[cache]\nenabled = true\n${settings}\n`
}

/** The priced provider whose model `m` allows the cache, with further settings of `[cache]`. */
export function cachedProvider(settings = ''): string {
  return `${cacheOn(settings)}${pricedProvider}cache = true\n`
}

/** Returns the result that a response names, and its age where it has one. */
export function cacheHeaders({ headers }: Pick<Response, 'headers'>): readonly (string | null)[] {
  const age = headers.get('age')
  const result = headers.get('x-gateway-cache')
  return age === null ? [result] : [result, age]
}
