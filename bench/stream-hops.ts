/**
 * The cost of each hop of a stream's chain, without sockets: the processor time of streams
 * of 100 frames, four to a network chunk, through the first stages of the chain, one more each time.
 * A separate process that sends the microseconds per chunk of each hop to its parent and exits.
 */
import { nodeStreams } from '../adapters/node/streams/index.ts'
import { GatewayError } from '../src/core/errors.ts'
import type { RequestId } from '../src/core/ids.ts'
import { oneAhead, type Readable, type StreamClasses, unbuffered } from '../src/core/streams.ts'
import { createChatWriter } from '../src/doors/chat/stream.ts'
import { chatChunks } from '../src/providers/openai/chat.ts'
import { createOpenAiDecoder, type OpenAiStreamOptions } from '../src/providers/openai/stream.ts'
import { ClientBytes } from '../src/stream/client-bytes.ts'
import { CommitGate } from '../src/stream/commit-gate.ts'
import { FrameSource } from '../src/stream/frame-source.ts'
import { Heartbeat } from '../src/stream/heartbeat.ts'
import { Terminator } from '../src/stream/terminator.ts'
import { UsageTap } from '../src/stream/usage-tap.ts'
import { webClock, webStreams } from '../src/web/index.ts'
import { Buffers } from '../src/wire/buffers.ts'
import { CancelScope } from '../src/wire/cancel-scope.ts'
import { TimeSlice } from '../src/wire/time-slice.ts'
import { streamedWords } from './scenarios.ts'

/** Microseconds per network chunk, by stream implementation and hop. */
export type HopCosts = Readonly<Record<string, Readonly<Record<string, number>>>>

const warmUps = 300
const runs = 1_500
const framesPerChunk = 4
const chunks = networkChunks()
const share = new Buffers(() => Number.POSITIVE_INFINITY).openAccount(() => {})
const estimated = { promptTokens: 1, completionTokens: 1, totalTokens: 2, estimated: true } as const

process.send?.({
  platform: await hopCosts(webStreams),
  node: await hopCosts(nodeStreams),
} satisfies HopCosts)

async function hopCosts(streams: StreamClasses): Promise<Record<string, number>> {
  const hops = ['frames', 'commit gate', 'heartbeat', 'terminator', 'usage', 'bytes']
  const costs: Record<string, number> = {}
  let before = 0
  for (const [last, name] of hops.entries()) {
    await carry(streams, last, warmUps)
    const cost = await carry(streams, last, runs)
    costs[name] = cost - before
    before = cost
  }
  return costs
}

/** Runs `count` streams up to the hop `last`. Returns the microseconds per chunk. */
async function carry(streams: StreamClasses, last: number, count: number): Promise<number> {
  const start = process.cpuUsage()
  for (let run = 0; run < count; run++) {
    const heartbeat = new Heartbeat(webClock, 15_000)
    const reader = makeChain(streams, heartbeat, last).getReader()
    while (!(await reader.read()).done);
    heartbeat.stop()
  }
  const { user, system } = process.cpuUsage(start)
  return (user + system) / count / chunks.length
}

const openAiStream: OpenAiStreamOptions = {
  form: chatChunks,
  usage: 'not-asked',
}

function makeChain(
  { ReadableStream, TransformStream }: StreamClasses,
  heartbeat: Heartbeat,
  last: number,
): Readable<unknown> {
  const stages = [
    () =>
      new TransformStream(
        new CommitGate({ limit: 1e6, unread: share.openCounter() }),
        undefined,
        oneAhead,
      ),
    () => new TransformStream(heartbeat, undefined, oneAhead),
    () => new TransformStream(terminator()),
    () => new TransformStream(usageTap()),
    () => new TransformStream(clientBytes(), undefined, oneAhead),
  ] as const
  const slice = new TimeSlice(webClock, new CancelScope(webClock))
  const decoder = createOpenAiDecoder(openAiStream)
  const source = new FrameSource({ bytes: upstream(), decoder, kept: share.openCounter(), slice })
  const body: Readable<unknown> = new ReadableStream(source, unbuffered)
  return stages.slice(0, last).reduce((chain, stage) => chain.pipeThrough(stage() as never), body)
}

/** Chunks that arrive one by one, each in its own turn of the event loop. */
function upstream() {
  let next = 0
  return {
    read: () => Promise.resolve(chunks[next++]),
    cancel() {},
    drain() {},
  }
}

function terminator(): Terminator {
  return new Terminator({ streamEnd: 'done', upstream: { drain() {} } })
}

function usageTap(): UsageTap {
  return new UsageTap({ estimate: () => estimated, shouldKeepOutput: false })
}

function clientBytes(): ClientBytes {
  const context = { requestId: 'r' as RequestId, model: 'm', clock: webClock }
  return new ClientBytes({
    end: { onLast() {}, onCancel() {}, onBroken() {} },
    writer: createChatWriter(context, true),
    usage: () => ({ usage: estimated, isInBytes: false }),
    toError: ({ kind }) => new GatewayError('LM-3010', kind),
    pause: () => Promise.resolve(),
  })
}

function networkChunks(): Uint8Array[] {
  const identity = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const frames = streamedWords.map((content) => {
    const choices = [{ index: 0, delta: { content }, finish_reason: null }]
    return `data: ${JSON.stringify({ ...identity, choices })}\n\n`
  })
  frames.push('data: [DONE]\n\n')
  const encoder = new TextEncoder()
  return Array.from({ length: Math.ceil(frames.length / framesPerChunk) }, (_, at) =>
    encoder.encode(frames.slice(at * framesPerChunk, (at + 1) * framesPerChunk).join('')),
  )
}
