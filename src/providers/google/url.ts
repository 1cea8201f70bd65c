/**
 * The address of a model. A version at the end of the configured path stands, else `v1beta` is
 * added, as newer fields are missing from `v1`; any other path is that of a proxy, and is kept.
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

export function methodUrl(modelUrl: URL, method: string): URL {
  const url = new URL(modelUrl)
  url.pathname += `:${method}`
  return url
}
