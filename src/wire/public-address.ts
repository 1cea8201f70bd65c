import ipaddr from 'ipaddr.js'

/** Azure answers its machines here, with their secrets, on an address that looks public. */
const metadataAddresses = new Set(['168.63.129.16'])

/** True for the IP address of a host of the public internet, however it is written. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  // An IPv4 address inside of an IPv6 one is judged as what it is.
  const ip = ipaddr.process(address)
  if (ip.range() !== 'unicast' || metadataAddresses.has(ip.toString())) return false
  return ip.kind() === 'ipv4' || isGlobalIpv6(ip.toByteArray())
}

/** True for an address instead of a name; of IPv6, without the brackets. */
export function isAddress(host: string): boolean {
  return ipaddr.isValid(host)
}

/** Of IPv6 only 2000::/3 has been given out for the internet. */
function isGlobalIpv6([first = 0]: readonly number[]): boolean {
  return first >> 5 === 1
}
