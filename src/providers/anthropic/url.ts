/** Accepts a `base_url` without `/v1`, with it, and the full address of the endpoint. */
export function buildMessagesUrl(base: string): string {
  const url = new URL(base)
  const path = url.pathname.replace(/\/+$/, '').replace(/\/messages$/, '')
  url.pathname = path.endsWith('/v1') ? `${path}/messages` : `${path}/v1/messages`
  url.hash = ''
  return url.href
}
