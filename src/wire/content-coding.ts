import type { UpstreamFailure } from '../core/failure.ts'

/** Returns the coding of a `content-encoding` header in lower case; undefined when there is none. */
export function parseContentCoding(contentEncoding: string | undefined): string | undefined {
  const coding = contentEncoding?.trim().toLowerCase()
  return coding === '' || coding === 'identity' ? undefined : coding
}

/** Headers that describe the encoded body and are wrong for the decoded one. */
export const codedBodyHeaders: ReadonlySet<string> = new Set(['content-encoding', 'content-length'])

/** Maximum length of a coding name in a message, in characters. */
const maxNameLength = 60

/** Returns the failure for a response in a coding that the host cannot decode. */
export function undecodableFailure(coding: string): UpstreamFailure {
  const name = JSON.stringify(coding.slice(0, maxNameLength))
  return { kind: 'malformed', detail: `unsupported content-encoding ${name}` }
}
