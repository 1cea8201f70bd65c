const bearer = /^bearer +(\S+) *$/i

/** The token of an `Authorization: Bearer` header; undefined when there is none. */
export function bearerToken(headers: Headers): string | undefined {
  return bearer.exec(headers.get('authorization') ?? '')?.[1]
}

/** Tells a client which scheme to use, on every LM-4004. */
export const challenge = Object.freeze(['www-authenticate', 'Bearer'])
