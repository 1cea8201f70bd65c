import { getBasePath } from '../base/request.ts'

/**
 * Returns the address of a v2 operation. A version or an operation at the end of `base` is
 * replaced.
 */
export function cohereUrl(base: string, operation: 'chat' | 'embed' | 'rerank'): string {
  const url = new URL(base)
  const prefix = getBasePath(url).replace(versionPath, '')
  url.pathname = `${prefix}/v2/${operation}`
  url.hash = ''
  return url.href
}

const versionPath = /\/(compatibility\/v1|v[12](\/(chat|embed|rerank))?)$/i

/**
 * Returns the address of rerank. Clouds have a full address for each model: it is kept as it is.
 */
export function rerankUrl(baseUrl: string): string {
  return /\/rerank\/*$/i.test(new URL(baseUrl).pathname) ? baseUrl : cohereUrl(baseUrl, 'rerank')
}
