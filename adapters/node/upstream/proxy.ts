import type { Socket } from 'node:net'
import { UpstreamFault } from '../../../src/core/failure.ts'
import { toProxyReason } from '../../../src/core/network-failure.ts'
import { maskUrl } from '../../../src/wire/mask.ts'
import type { Connector } from './connect.ts'
import { getErrorReason } from './errors.ts'

/** A proxy for outgoing calls. */
export interface Proxy {
  readonly protocol: 'http:' | 'https:'
  /** A host name or an address without brackets. */
  readonly hostname: string
  readonly port: string
  /** `host:port`, the name in failures. */
  readonly name: string
  /** The URL without its credentials, for the log. */
  readonly maskedUrl: string
  /** The value of the header `proxy-authorization`. */
  readonly authorization: string | undefined
}

/** Parses a proxy URL such as `http://user:secret@host:port`. Returns undefined for other text. */
export function parseProxy(address: string): Proxy | undefined {
  // Like curl, accept an address without a scheme.
  const text = address.includes('://') ? address : `http://${address}`
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, port: given, username, password } = new URL(text)
  if ((protocol !== 'http:' && protocol !== 'https:') || hostname === '') return undefined
  const port = given === '' ? defaultPorts[protocol] : given
  const name = `${hostname}:${port}`
  const hasCredential = username !== '' || password !== ''
  return {
    protocol,
    hostname: stripBrackets(hostname),
    port,
    name,
    maskedUrl: maskUrl(text),
    authorization: hasCredential ? basicAuthorization(username, password) : undefined,
  }
}

/** Returns the host of a URL for use with sockets: only URLs put brackets around IPv6 addresses. */
export function stripBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}

const defaultPorts = { 'http:': '80', 'https:': '443' } as const

function basicAuthorization(username: string, password: string): string {
  const credential = `${decodePercent(username)}:${decodePercent(password)}`
  return `Basic ${Buffer.from(credential).toString('base64')}`
}

/** Decodes percent-encoding; text with an invalid percent sign stays as it is. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Creates a connector through a proxy. For an https upstream it opens a tunnel; for http it connects to
 * the proxy, and requests carry the absolute URL.
 */
export function createProxyConnector(proxy: Proxy, connector: Connector): Connector {
  const { protocol, hostname, port, name } = proxy
  return (options, callback) => {
    const fail = (reason: string) =>
      callback(
        new UpstreamFault({ kind: 'network', reason, phase: 'connecting', proxy: name }),
        null,
      )
    return connector({ protocol, hostname, port, host: name }, (error, socket) => {
      if (!socket) return fail(getErrorReason(error))
      if (options.protocol !== 'https:') return callback(null, socket)
      openTunnel(socket, buildConnectRequest(proxy, options), (reason) => {
        if (reason !== undefined) return fail(reason)
        connector({ ...options, httpSocket: socket }, callback)
      })
    })
  }
}

function buildConnectRequest(
  { authorization }: Proxy,
  { hostname, port }: { readonly hostname: string; readonly port: string },
): string {
  const host = hostname.includes(':') ? `[${hostname}]` : hostname
  const authority = `${host}:${port || 443}`
  const credential = authorization === undefined ? '' : `proxy-authorization: ${authorization}\r\n`
  return `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${credential}\r\n`
}

/** Maximum length of the proxy's response head, in characters. */
const maxHeadLength = 16 * 1024

/** Requests a tunnel. Calls `done` with the reason if the proxy refuses, else with undefined. */
function openTunnel(socket: Socket, request: string, done: (reason?: string) => void): void {
  let head = ''
  const finish = (reason?: string) => {
    socket.off('data', onData).off('error', onError).off('close', onClose)
    if (reason === undefined) socket.pause()
    else socket.destroy()
    done(reason)
  }
  const onData = (piece: Buffer) => {
    head += piece.toString('latin1')
    if (head.includes('\r\n\r\n')) finish(findTunnelProblem(head))
    else if (head.length > maxHeadLength) finish(notHttp)
  }
  const onError = (error: Error) => finish(getErrorReason(error))
  const onClose = () => finish('ECONNRESET')
  socket.on('data', onData).on('error', onError).on('close', onClose)
  socket.write(request)
}

const notHttp = 'PROXY_NOT_HTTP'

/**
 * Returns why a response does not open a tunnel. The upstream does not send first, so bytes after the
 * head are an error.
 */
function findTunnelProblem(head: string): string | undefined {
  const status = Number(/^HTTP\/1\.[01] (\d{3})\b/.exec(head)?.[1])
  if (Number.isNaN(status)) return notHttp
  if (status < 200 || status > 299) return toProxyReason(status)
  return head.endsWith('\r\n\r\n') ? undefined : notHttp
}
