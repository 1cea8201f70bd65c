/** The host of a URL as sockets take it: IPv6 addresses have brackets in URLs only. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}
