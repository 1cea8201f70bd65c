// The gateway as an edge runtime hosts it: built at the first request, since workerd allows neither
// timers nor random values before.
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
  // Bun's port; the others get theirs on the command line.
  port: Number('{{port}}'),
  async fetch(request) {
    gateway ??= createGateway({ config })
    return (await gateway).fetch(request)
  },
}
