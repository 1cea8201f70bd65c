import { built, finished } from './command.ts'
import { timed } from './servers.ts'
import { configFolder, type ShippedGateway, shippedGateway } from './shipped-gateway.ts'
import { connect } from './store.ts'

const config = `
  [auth]
  enabled = true
  [[providers]]
  name = "demo"
  kind = "demo"
  models = [{ id = "m", cost_per_1m_output = 1000 }]
  [[providers]]
  name = "endless"
  kind = "demo"
  tokens_per_second = 0.001
  models = [{ id = "endless", cost_per_1m_output = 1000 }]
`

/** A gateway whose database nothing else uses yet. */
export function started(options: { readonly blocks?: number } = {}): Promise<ShippedGateway> {
  return shippedGateway(built.executable, configFolder(config).path, options)
}

/** Keeps a lock that nothing can be written under; returns the way to give it back. */
export async function locked({ database }: ShippedGateway): Promise<() => Promise<void>> {
  const transaction = await connect(database).transaction('write')
  return () => transaction.rollback()
}

/** The end of a process: its code, the signal that has killed it, and how long it took. */
export async function stopped(gateway: ShippedGateway) {
  gateway.process.kill('SIGTERM')
  const time = await timed(finished(gateway))
  const { code, stdout, stderr } = await finished(gateway)
  return { code, signal: gateway.process.signalCode, time, stdout, stderr }
}
