/** The gateway for embeddings: a separate process that reports its vitals. */
import { parseArgs } from 'node:util'
import { nodePorts, serve } from '../adapters/node/index.ts'
import { createGateway } from '../src/index.ts'
import { tellVitals } from './vitals.ts'

const { values: options } = parseArgs({ options: { upstream: { type: 'string' } } })

process.once('disconnect', () => process.exit())
const gateway = await createGateway({
  ...nodePorts({ GATEWAY_LOG_LEVEL: 'error' }),
  config: `
[[providers]]
name = "upstream"
kind = "openai"
base_url = "http://127.0.0.1:${options.upstream}/v1"
[[providers.models]]
id = "m"
capabilities = ["embed"]
`,
})
const host = await serve(gateway, { port: 0 })
tellVitals()
process.send?.(Number(new URL(host.address).port))
