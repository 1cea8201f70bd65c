import ipaddr from 'ipaddr.js'

/** Azure serves machine metadata, including secrets, on an address that looks public. */
const metadataAddresses = new Set(['168.63.129.16'])

/** True for an IP address of the public internet, in any notation. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  // Converts an IPv4-mapped IPv6 address to IPv4.
  const ip = ipaddr.process(address)
  // The parser takes `::8.8.8.8`, of a reserved block, for an IPv4 address.
  if (ip.kind() === 'ipv4' && /^::(?!ffff:)/i.test(address)) return false
  if (ip.range() !== 'unicast' || metadataAddresses.has(ip.toString())) return false
  return ip.kind() === 'ipv4' || isGlobalIpv6(ip.toByteArray())
}

/** True for an IP address, false for a host name. IPv6 must have no brackets. */
export function isAddress(host: string): boolean {
  return ipaddr.isValid(host)
}

/** True for 2000::/3, the only IPv6 block assigned for the internet. */
function isGlobalIpv6([first = 0]: readonly number[]): boolean {
  return first >> 5 === 1
}
