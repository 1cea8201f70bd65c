import { afterEach, expect, test, vi } from 'vitest'
import { nodePorts, serve } from '../../adapters/node/index.ts'
import { createGateway } from '../../src/index.ts'

const streams = 1000

const config = `
  [[providers]]
  name = "demo"
  kind = "demo"
  tokens_per_second = 200
  [[providers.models]]
  id = "demo"
`

const warnings: string[] = []
const onWarning = (warning: Error) => warnings.push(warning.name)
process.on('warning', onWarning)

afterEach(() => {
  process.off('warning', onWarning)
})

test('1,000 concurrent streams complete separately and leave nothing behind', async () => {
  const gateway = await createGateway({ ...nodePorts(), env: {}, config })
  const host = await serve(gateway, { port: 0 })
  const ask = async (index: number) => {
    const response = await fetch(`${host.address}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({
        model: 'demo',
        stream: true,
        messages: [{ role: 'user', content: `number ${index} please` }],
      }),
    })
    const text = readText(await response.text())
    return text.endsWith(`You said: number ${index} please`)
  }
  const answers = await Promise.all(Array.from({ length: streams }, (_, index) => ask(index)))
  expect(answers.filter(Boolean)).toHaveLength(streams)
  await vi.waitFor(() => expect(gateway.inFlight).toBe(0))
  await host.close()
  expect(warnings).toEqual([])
}, 60_000)

/** The text of a complete stream; empty when it has no terminator. */
function readText(stream: string): string {
  const events = stream.split('\n\n').filter((event) => event.startsWith('data: '))
  if (events.pop() !== 'data: [DONE]') return ''
  return events
    .map((event) => JSON.parse(event.slice('data: '.length)).choices[0]?.delta.content ?? '')
    .join('')
}
