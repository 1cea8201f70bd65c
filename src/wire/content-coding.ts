import type { UpstreamFailure } from '../core/failure.ts'

/** The coding that a `content-encoding` names, in lower case; undefined when there is none. */
export function parseContentCoding(contentEncoding: string | undefined): string | undefined {
  const coding = contentEncoding?.trim().toLowerCase()
  return coding === '' || coding === 'identity' ? undefined : coding
}

/** Headers that describe a body as it was sent, and not as it is read once it has been decoded. */
export const codedBodyHeaders: ReadonlySet<string> = new Set(['content-encoding', 'content-length'])

const maxNameLength = 60

/** The failure of an answer in a coding that the host cannot decode. */
export function undecodableFailure(coding: string): UpstreamFailure {
  const name = JSON.stringify(coding.slice(0, maxNameLength))
  return { kind: 'malformed', detail: `its content-encoding ${name} cannot be decoded` }
}
