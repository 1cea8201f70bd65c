import type { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import type { UpstreamFailure } from '../../../src/core/failure.ts'
import type { CancelSignal } from '../../../src/index.ts'
import type { BoundedQueue } from '../../../src/wire/bounded-queue.ts'
import { abortFault, getErrorReason } from './errors.ts'

/** The destination of a response body while it arrives. */
export interface BodySink {
  push(bytes: Uint8Array): void
  /** The body is complete. */
  end(): void
  /** The body has broken off. The bytes that have arrived are still read. */
  fail(failure: UpstreamFailure): void
}

/** Creates the zlib transform for a body that begins with these bytes. */
type CreateTransform = (first: Uint8Array) => Transform

const createZstd: unknown = Reflect.get(zlib, 'createZstdDecompress')

const transforms = new Map<string, CreateTransform>([
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  // `deflate` means a zlib stream, but many servers omit the zlib header.
  [
    'deflate',
    ([first = 0]) => ((first & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw()),
  ],
  ['br', () => zlib.createBrotliDecompress()],
])
// Available since Node.js 22.15.
if (typeof createZstd === 'function') transforms.set('zstd', () => createZstd())

export interface BodyDecoderOptions {
  readonly queue: BoundedQueue
  /** Maximum number of bytes that wait to be decoded. */
  readonly maxWaitingBytes: number
  /** Aborts the decoding. */
  readonly signal: CancelSignal
  /** Called when the bytes cannot be decoded, so that the caller stops receiving. */
  readonly giveUp: () => void
}

/** Creates a decoder for a content coding (in lower case), or returns undefined for an unknown one. */
export function createBodyDecoder(
  coding: string,
  options: BodyDecoderOptions,
): BodyDecoder | undefined {
  const open = transforms.get(coding)
  return open && new BodyDecoder(coding, open, options)
}

/**
 * Decodes a body into `queue` while it arrives, off the event loop. Bytes that do not decode end the
 * queue as `malformed`.
 */
export class BodyDecoder implements BodySink {
  readonly #coding: string
  readonly #options: BodyDecoderOptions
  readonly #open: CreateTransform
  #decoder: Transform | undefined
  /** Why the body has broken off, while the bytes that have arrived are decoded. */
  #failure: UpstreamFailure | undefined

  constructor(coding: string, open: CreateTransform, options: BodyDecoderOptions) {
    this.#coding = coding
    this.#options = options
    this.#open = open
    options.signal.addEventListener('abort', this.#abort)
  }

  push(bytes: Uint8Array): void {
    const decoder = (this.#decoder ??= this.#start(bytes))
    decoder.write(bytes)
    if (decoder.writableLength > this.#options.maxWaitingBytes)
      this.#refuse('the answer is too long')
  }

  end(): void {
    if (this.#decoder) this.#decoder.end()
    else this.#finish()
  }

  fail(failure: UpstreamFailure): void {
    this.#failure = failure
    this.end()
  }

  /** Stops at once and drops all bytes that are not decoded. */
  close(): void {
    this.#options.signal.removeEventListener('abort', this.#abort)
    this.#decoder?.destroy()
  }

  readonly #abort = () => {
    this.#options.queue.fail(abortFault().failure)
    this.close()
  }

  #start(bytes: Uint8Array): Transform {
    const decoder = this.#open(bytes)
    decoder.on('data', (decoded: Uint8Array) => this.#options.queue.push(decoded))
    decoder.on('end', () => this.#finish())
    decoder.on('error', (error) => this.#stop(getErrorReason(error)))
    return decoder
  }

  #finish(): void {
    const { queue } = this.#options
    if (this.#failure) queue.fail(this.#failure)
    else queue.end()
    this.close()
  }

  /** Handles an error of the zlib transform. */
  #stop(reason: string): void {
    if (this.#failure) return this.#finish()
    if (reason !== endOfInput)
      return this.#refuse(`the body is not valid ${this.#coding} (${reason})`)
    this.#failure = { kind: 'network', reason, phase: 'answering' }
    this.#finish()
  }

  #refuse(detail: string): void {
    this.#failure = { kind: 'malformed', detail }
    this.#finish()
    this.#options.giveUp()
  }
}

/** zlib's code for a body that ends too early. */
const endOfInput = 'Z_BUF_ERROR'
