import assert from 'node:assert/strict'
import { BlockList, isIP, isIPv4 } from 'node:net'
import { isAddress, isPublicAddress } from '../../../src/wire/public-address.ts'
import { textTarget } from '../target.ts'

/** Blocks that are not for the public internet: https://www.iana.org/assignments/iana-ipv4-special-registry */
const forbiddenIpv4 = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
  ['168.63.129.16', 32],
] as const) {
  forbiddenIpv4.addSubnet(network, prefix, 'ipv4')
}

/** https://www.iana.org/assignments/iana-ipv6-special-registry */
const forbiddenIpv6 = new BlockList()
for (const [network, prefix] of [
  ['::', 8],
  ['64:ff9b::', 96],
  ['2001::', 32],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  forbiddenIpv6.addSubnet(network, prefix, 'ipv6')
}

/** No address that a URL reaches in another notation is taken for a public one. */
export const publicAddress = textTarget({
  seeds: ['8.8.8.8', '127.1', '0x7f.1', '2130706433', '::1', '::ffff:10.0.0.1', '2606:4700::1111'],
  words: [
    '127.',
    '10.',
    '0x',
    '0',
    '017',
    '::',
    ':ffff:',
    'fe80',
    '2002:',
    '64:ff9b::',
    '%eth0',
    '.',
  ],
  check(text) {
    if (!isPublicAddress(text)) return
    assert.ok(isAddress(text))
    const host = text.includes(':') ? `[${text}]` : text
    if (!URL.canParse(`http://${host}/`)) return
    const address = new URL(`http://${host}/`).hostname.replace(/^\[|\]$/g, '')
    assert.notEqual(isIP(address), 0)
    // An IPv4-mapped address reaches the IPv4 address in it.
    const isForbidden =
      isIPv4(address) || address.startsWith('::ffff:')
        ? forbiddenIpv4.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
        : forbiddenIpv6.check(address, 'ipv6')
    assert.equal(isForbidden, false, address)
  },
})
