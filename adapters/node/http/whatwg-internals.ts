import type { ServerResponse } from 'node:http'
import { type NodeRequest, sendNodeResponse } from '@whatwg-node/server'
import type { BodyWriter } from './body-writer.ts'

/*
 * What this host uses of @whatwg-node/server beyond its types: nothing else in the tree relies on a private member of
 * it. The version is pinned, and test/node/whatwg-internals.test.ts holds the installed one to this file.
 */

/** Every field that the adapter reads from a response of its own class, the private ones included. */
export interface SentResponse {
  readonly status: number
  readonly statusText: string
  /** With an object here, the adapter writes the whole head at once. */
  readonly headers: { readonly headersInit: Readonly<Record<string, string>> }
  /** With `String`, `bodyInit` is the whole body. */
  readonly bodyType: 'String' | undefined
  readonly bodyInit: string | undefined
  /** A whole body of bytes. */
  readonly _buffer: Uint8Array | undefined
  /** Read only without the two above. */
  readonly body: BodyWriter | null
}

/** Sends a response. The promise is absent when all of it was handed to Node at once. */
export function sendResponse(
  response: SentResponse,
  { outgoing, incoming }: { readonly outgoing: ServerResponse; readonly incoming: NodeRequest },
): Promise<void> | void {
  // It has every field that the adapter reads.
  const typed = response as unknown as Response
  const writesHeadAtOnce = true
  return sendNodeResponse(typed, outgoing, incoming, writesHeadAtOnce)
}

/** The adapter makes a signal of its own for each request: a native `AbortController` costs 12 % of a small one. */
export const ownSignal = { __useCustomAbortCtrl: true }
