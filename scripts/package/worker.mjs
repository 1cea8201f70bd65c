// The gateway in an edge runtime: created at the first request, because workerd allows neither timers nor
// random values before it.
import { createGateway } from 'model-gateway'

const config = `
  [[providers]]
  name = "vendor"
  kind = "openai"
  base_url = "{{vendor}}/v1"
  models = [{ id = "m" }]
`

let gateway

export default {
  // The port for Bun; the other runtimes get it on the command line.
  port: Number('{{port}}'),
  async fetch(request) {
    gateway ??= createGateway({ config })
    return (await gateway).fetch(request)
  },
}
