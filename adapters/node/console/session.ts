import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** What opens the console: a code that the command prints, and the cookie that a browser gets for it. */
export interface Session {
  /** The code that a person enters, or that the printed link carries. */
  readonly code: string
  /** The value of `Set-Cookie` for a browser that has the code. */
  readonly cookie: string
  hasCode(code: string): boolean
  /** True when the header `Cookie` of a request carries the cookie. */
  hasCookie(header: string | undefined): boolean
}

/** Creates the session of one run. `port`: browsers share the cookies of all ports of a host. */
export function createSession(port: number): Session {
  const code = randomBytes(16).toString('base64url')
  const token = randomBytes(32).toString('base64url')
  const name = `gateway-console-${port}`
  return Object.freeze({
    code,
    cookie: `${name}=${token}; HttpOnly; SameSite=Strict; Path=/`,
    hasCode: (given: string) => isEqual(given, code),
    hasCookie: (header = '') =>
      header.split(/; */).some((cookie) => isEqual(cookie, `${name}=${token}`)),
  })
}

/** Compares in a time that does not depend on where the texts differ. */
function isEqual(first: string, second: string): boolean {
  return timingSafeEqual(digest(first), digest(second))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
