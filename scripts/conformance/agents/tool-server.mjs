/**
 * A server of tools over standard input and output, as agents start them: https://modelcontextprotocol.io
 * Its one tool has no parameters and a name that agents make longer than the 64 characters of most vendors.
 */
import { createInterface } from 'node:readline'

const [, , name] = process.argv

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  // Notifications have no id, and no answer.
  if (id === undefined) return
  const result = answer(method, params)
  const reply = result ? { result } : { error: { code: -32601, message: `unknown ${method}` } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`)
})

function answer(method, params) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'records', version: '1.0.0' },
      }
    case 'ping':
      return {}
    case 'tools/list':
      return { tools: [{ name, description: 'Tells the time', inputSchema: { type: 'object' } }] }
    case 'tools/call':
      return { content: [{ type: 'text', text: 'noon' }] }
    default:
      return undefined
  }
}
