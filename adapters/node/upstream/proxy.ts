import type { Socket } from 'node:net'
import { UpstreamFault } from '../../../src/core/failure.ts'
import { refusedByProxy } from '../../../src/core/network-failure.ts'
import { maskedUrl } from '../../../src/wire/mask.ts'
import type { Opener } from './connect.ts'
import { reasonOf } from './fault.ts'
import { withoutBrackets } from './host-name.ts'

/** A proxy for outgoing calls. */
export interface Proxy {
  readonly protocol: 'http:' | 'https:'
  /** A name or an address, without brackets. */
  readonly hostname: string
  readonly port: string
  /** `host:port`, as failures name it. */
  readonly name: string
  /** The address without its credential, for the log. */
  readonly shown: string
  /** The value of `proxy-authorization`. */
  readonly authorization: string | undefined
}

/** The proxy at an address such as `http://user:secret@host:port`; undefined when it is none. */
export function proxyAt(address: string): Proxy | undefined {
  // curl and others take an address without a scheme.
  const text = address.includes('://') ? address : `http://${address}`
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, port: given, username, password } = new URL(text)
  if ((protocol !== 'http:' && protocol !== 'https:') || hostname === '') return undefined
  const port = given === '' ? defaultPorts[protocol] : given
  const name = `${hostname}:${port}`
  const hasCredential = username !== '' || password !== ''
  return {
    protocol,
    hostname: withoutBrackets(hostname),
    port,
    name,
    shown: maskedUrl(text),
    authorization: hasCredential ? basic(username, password) : undefined,
  }
}

const defaultPorts = { 'http:': '80', 'https:': '443' } as const

function basic(username: string, password: string): string {
  const credential = `${decoded(username)}:${decoded(password)}`
  return `Basic ${Buffer.from(credential).toString('base64')}`
}

/** A lone percent sign stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Opens sockets through a proxy: by a tunnel to an https upstream, else to the proxy itself, which
 * is then asked with whole addresses.
 */
export function proxyOpener(proxy: Proxy, open: Opener): Opener {
  const { protocol, hostname, port, name } = proxy
  return (options, callback) => {
    const fail = (reason: string) =>
      callback(
        new UpstreamFault({ kind: 'network', reason, phase: 'connecting', proxy: name }),
        null,
      )
    return open({ protocol, hostname, port, host: name }, (error, socket) => {
      if (!socket) return fail(reasonOf(error))
      if (options.protocol !== 'https:') return callback(null, socket)
      openTunnel(socket, requestOf(proxy, options), (reason) => {
        if (reason !== undefined) return fail(reason)
        open({ ...options, httpSocket: socket }, callback)
      })
    })
  }
}

function requestOf(
  { authorization }: Proxy,
  { hostname, port }: { readonly hostname: string; readonly port: string },
): string {
  const host = hostname.includes(':') ? `[${hostname}]` : hostname
  const authority = `${host}:${port || 443}`
  const credential = authorization === undefined ? '' : `proxy-authorization: ${authorization}\r\n`
  return `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${credential}\r\n`
}

const longestHead = 16 * 1024

/** Sends a request for a tunnel; `done` gets why the proxy grants none, or undefined. */
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
    if (head.includes('\r\n\r\n')) finish(refusalIn(head))
    else if (head.length > longestHead) finish(notHttp)
  }
  const onError = (error: Error) => finish(reasonOf(error))
  const onClose = () => finish('ECONNRESET')
  socket.on('data', onData).on('error', onError).on('close', onClose)
  socket.write(request)
}

const notHttp = 'PROXY_NOT_HTTP'

/** Why an answer grants no tunnel. The upstream does not speak first, so nothing may follow it. */
function refusalIn(head: string): string | undefined {
  const status = Number(/^HTTP\/1\.[01] (\d{3})\b/.exec(head)?.[1])
  if (Number.isNaN(status)) return notHttp
  if (status < 200 || status > 299) return refusedByProxy(status)
  return head.endsWith('\r\n\r\n') ? undefined : notHttp
}
