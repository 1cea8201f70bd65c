import type { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import type { UpstreamFailure } from '../../../src/core/failure.ts'
import type { CancelSignal } from '../../../src/index.ts'
import type { BoundedQueue } from '../../../src/wire/bounded-queue.ts'
import { abortFault, getErrorReason } from './errors.ts'

/** What a body is written to while it arrives. */
export interface BodySink {
  push(bytes: Uint8Array): void
  /** The body is complete. */
  end(): void
  /** The body has broken off. What has arrived of it is still read. */
  fail(failure: UpstreamFailure): void
}

/** Makes a decoder for a body that begins with these bytes. */
type CreateTransform = (first: Uint8Array) => Transform

const createZstd: unknown = Reflect.get(zlib, 'createZstdDecompress')

const transforms = new Map<string, CreateTransform>([
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  // By its name a zlib stream; many servers leave out its header.
  [
    'deflate',
    ([first = 0]) => ((first & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw()),
  ],
  ['br', () => zlib.createBrotliDecompress()],
])
// Since Node.js 22.15.
if (typeof createZstd === 'function') transforms.set('zstd', () => createZstd())

export interface BodyDecoderOptions {
  readonly queue: BoundedQueue
  /** Bytes that may wait to be decoded. */
  readonly maxWaitingBytes: number
  /** Ends the decoding at once. */
  readonly signal: CancelSignal
  /** Called when the bytes cannot be decoded, so that no more of them are needed. */
  readonly giveUp: () => void
}

/** A decoding of this coding, in lower case; undefined when it is not known. */
export function createBodyDecoder(
  coding: string,
  options: BodyDecoderOptions,
): BodyDecoder | undefined {
  const open = transforms.get(coding)
  return open && new BodyDecoder(coding, open, options)
}

/**
 * Decodes a body into `queue` while it arrives, piece by piece, off the event loop. It ends as
 * malformed when the bytes are not of the coding.
 */
export class BodyDecoder implements BodySink {
  readonly #coding: string
  readonly #options: BodyDecoderOptions
  readonly #open: CreateTransform
  #decoder: Transform | undefined
  /** Why the body has broken off, while what has arrived of it is being decoded. */
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

  /** Ends at once: what has not been decoded is dropped. */
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

  /** The decoder has met an error. */
  #stop(reason: string): void {
    if (this.#failure) return this.#finish()
    if (reason !== endOfInput) return this.#refuse(`it is not valid ${this.#coding} (${reason})`)
    this.#failure = { kind: 'network', reason, phase: 'answering' }
    this.#finish()
  }

  #refuse(detail: string): void {
    this.#failure = { kind: 'malformed', detail }
    this.#finish()
    this.#options.giveUp()
  }
}

/** The upstream has not sent all of it. */
const endOfInput = 'Z_BUF_ERROR'
