/**
 * Returns the address of a model on the Gemini API. A version at the end of the configured path is
 * kept; otherwise `v1beta` is appended, because `v1` lacks the newer fields. Any other path belongs
 * to a proxy and is kept too. https://ai.google.dev/api/generate-content
 */
export function googleModelUrl(baseUrl: string, upstreamId: string): URL {
  const url = new URL(baseUrl)
  const path = url.pathname.replace(/\/+$/, '')
  const root = /\/v1(?:alpha|beta)?$/.test(path) ? path : `${path}/v1beta`
  const model = /^(?:models|tunedModels)\//.test(upstreamId) ? upstreamId : `models/${upstreamId}`
  url.pathname = `${root}/${model}`
  url.hash = ''
  return url
}

/** Returns the address of a method of a model, such as `:generateContent`. */
export function methodUrl(modelUrl: URL, method: string): URL {
  const url = new URL(modelUrl)
  url.pathname += `:${method}`
  return url
}
