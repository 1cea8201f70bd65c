import { Channel } from './channel.ts'
import type { FromPrimary, FromWorker } from './messages.ts'
import { runWorker } from './run-worker.ts'

// The primary process handles the signals, which a terminal or a supervisor may send to all processes.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})

const channel = new Channel<FromWorker, FromPrimary>(process)
channel.onNotice('start', (start) => void runWorker(channel, start))
