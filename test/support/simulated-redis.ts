import { readFunctions } from '../../adapters/node/shared/library.ts'
import { openRedisState } from '../../adapters/node/shared/redis-state.ts'
import type { Log } from '../../src/core/ports.ts'
import type { SharedState } from '../../src/core/shared-state.ts'
import type { RedisServer } from './redis.ts'

/** The functions with a clock that a test sets. */
const functions = readFunctions()
  .replace(
    /local function now_ms\(\)[^]*?\nend\n/,
    "local function now_ms()\n  return tonumber(redis.call('GET', 'time') or '0')\nend\n",
  )
  .concat(`
register('set_time', function(_, args)
  redis.call('SET', 'time', args[1])
  return args
end)
`)

/** The shared state of several simulated processes, over one connection. */
export interface SimulatedState extends SharedState {
  setTime(now: number): Promise<void>
  /** Calls the listeners that wait for the server, as after an outage. */
  rejoin(): void
}

/** Connects to a server, as a gateway does. */
export async function openSimulatedState(
  redis: RedisServer,
  prefix: string,
  log: Log,
): Promise<SimulatedState> {
  const state = await openRedisState({ url: redis.url, prefix, log }, functions)
  const listeners: (() => void)[] = []
  return {
    get isUp() {
      return state.isUp
    },
    call: (name, args) => state.call(name, args),
    batch: (call) => state.batch(call),
    flush: () => state.flush(),
    publish: (channel, message) => state.publish(channel, message),
    // Every process notices a new epoch by its next reply.
    subscribe() {},
    onUp: (listener) => listeners.push(listener),
    close: () => state.close(),
    async setTime(now) {
      await state.call('set_time', [String(now)])
    },
    rejoin() {
      for (const listener of listeners) listener()
    },
  }
}
