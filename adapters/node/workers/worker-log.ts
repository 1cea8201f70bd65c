import type { LogLevel } from '../../../src/index.ts'
import { type LogOptions, type NodeLog, nodeLog } from '../log/log.ts'
import { type LogOutput, standardOutput } from '../log/log-output.ts'
import type { Channel } from './channel.ts'
import type { FromPrimary, FromWorker, WorkerStart } from './messages.ts'

export interface WorkerLogOptions extends Pick<LogOptions, 'format'> {
  readonly channel: Channel<FromWorker, FromPrimary>
  readonly start: WorkerStart
  readonly level: LogLevel
  /** False while only errors are logged. */
  readonly isSpeaking: () => boolean
}

/** The log of a worker. The primary process writes its lines, so that the lines of all arrive whole. */
export function openWorkerLog({
  channel,
  start,
  format,
  level,
  isSpeaking,
}: WorkerLogOptions): NodeLog {
  const { colors, delay } = start.log
  const output = createOutput(channel, delay)
  const log = nodeLog({ format, level, colors, worker: start.number, output })
  return {
    ...log,
    write(wanted, message, fields) {
      if (isSpeaking() || wanted === 'error') log.write(wanted, message, fields)
    },
  }
}

/** Sends lines to the primary process; writes them to standard output once that has ended. */
function createOutput(channel: WorkerLogOptions['channel'], delay: number): LogOutput {
  let own: LogOutput | undefined
  return {
    delay,
    write(text, done) {
      if (channel.isOpen) return channel.notify('log', text, done)
      own ??= standardOutput()
      own.write(text, done)
    },
  }
}
