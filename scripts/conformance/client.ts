import type { Kind } from './kinds.ts'
import type { Outcome } from './sdks/checks.ts'

/** Where a client sends its requests. */
export interface Door {
  readonly address: string
  readonly key: string
}

/** An unmodified client from the package registry. */
export interface Client {
  /** Selects it on the command line. */
  readonly name: string
  /** Its name in the table. */
  readonly title: string
  /** The package whose version the table shows. */
  readonly package: string
  readonly api: 'Chat' | 'Messages' | 'Responses' | 'Gemini' | 'Decisions'
  /** The form of its decisions, for a client that asks for nothing else. */
  readonly decisions?: Kind['decisions']
  /** Whether it can send back reasoning with its proof, as some vendors require. */
  readonly carriesProofs: boolean
  /** The kinds whose upstream gets the bodies of the client as they are, and may refuse what it should not have sent. */
  readonly refusedBy?: readonly string[]
  /** Milliseconds from its start within which its first request must reach the upstream. */
  readonly firstRequestWithin?: number
  /** Uses the client with the models of one kind. */
  run(kind: Kind, door: Door): Promise<readonly Outcome[]>
}

/** True for a kind whose upstream has what the client asks for. */
export function takesKind({ decisions }: Client, kind: Kind): boolean {
  return kind.decisions === decisions
}
