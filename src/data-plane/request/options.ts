import type { AnswerCache } from '../../cache/index.ts'
import type { Authenticator } from '../../core/admission.ts'
import type { Api } from '../../core/capability.ts'
import type { RequestEvents } from '../../core/gateway-events.ts'
import type { RequestOrigin } from '../../core/origin.ts'
import type { Clock, ImageFetchPort, IsUtf8, Log } from '../../core/ports.ts'
import type { StreamClasses } from '../../core/streams.ts'
import type { Resilience } from '../../resilience/index.ts'
import type { Rooms } from '../../rooms/index.ts'
import type { Affinity, Draws, Traffic } from '../../routing/index.ts'
import type { Snapshot } from '../../snapshot/index.ts'
import type { RequestTrace } from '../../traces/index.ts'
import type { BodySlot } from '../../wire/body-limiter.ts'
import type { BufferAccount, Buffers } from '../../wire/buffers.ts'
import type { CancelScope } from '../../wire/cancel-scope.ts'
import type { RecordBuilder } from './record-builder.ts'

/** The ports that every request uses. */
export interface RequestPorts {
  readonly authenticator: Authenticator
  readonly clock: Clock
  readonly isUtf8: IsUtf8
  readonly log: Log
  readonly streams: StreamClasses
  readonly traffic: Traffic
  readonly rooms: Rooms
  /** Absent where the host cannot fetch images. */
  readonly imageFetch: ImageFetchPort | undefined
  readonly affinity: Affinity
  readonly cache: AnswerCache
  readonly events: RequestEvents
}

export interface RequestContextOptions {
  readonly ports: RequestPorts
  readonly origin: RequestOrigin
  /** The model that the path names, which counts instead of the body's. */
  readonly modelInPath: string | undefined
  readonly api: Api
  readonly snapshot: Snapshot
  readonly scope: CancelScope
  readonly resilience: Resilience
  /** For the order of targets. */
  readonly draws: Draws
  readonly buffers: Buffers
  readonly bufferAccount: BufferAccount
  readonly slot: BodySlot
  readonly record: RecordBuilder
  readonly trace: RequestTrace
  /** The host has a tokenizer. */
  readonly canCount: boolean
}
