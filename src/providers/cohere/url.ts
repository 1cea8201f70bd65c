import { getBasePath } from '../shared/request.ts'

/** Where an operation of the v2 API lives, whichever version or pasted address `base` ends in. */
export function cohereUrl(base: string, operation: 'chat' | 'embed' | 'rerank'): string {
  const url = new URL(base)
  const prefix = getBasePath(url).replace(versionPath, '')
  url.pathname = `${prefix}/v2/${operation}`
  url.hash = ''
  return url.href
}

const versionPath = /\/(compatibility\/v1|v[12](\/(chat|embed|rerank))?)$/i

/** Clouds that sell these models have a whole address for each, of either version. */
export function rerankUrl(baseUrl: string): string {
  return /\/rerank\/*$/i.test(new URL(baseUrl).pathname) ? baseUrl : cohereUrl(baseUrl, 'rerank')
}
