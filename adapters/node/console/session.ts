import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** What opens the console: a code that the command prints, and the token that the page gets for it. */
export interface Session {
  /** The code that a person enters, or that the printed link carries. */
  readonly code: string
  /** What the page sends with each request, in a header; a cookie would go to every port of the host. */
  readonly token: string
  hasCode(code: string): boolean
  hasToken(token: string): boolean
}

/** Creates the session of one run. */
export function createSession(): Session {
  const code = randomBytes(16).toString('base64url')
  const token = randomBytes(32).toString('base64url')
  return Object.freeze({
    code,
    token,
    hasCode: (given: string) => isEqual(given, code),
    hasToken: (given: string) => isEqual(given, token),
  })
}

/** Compares in a time that does not depend on where the texts differ. */
function isEqual(first: string, second: string): boolean {
  return timingSafeEqual(digest(first), digest(second))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
