import { expect, onTestFinished, test } from 'vitest'
import { completion, hello, wholeStream } from '../support/answers.ts'
import { samples } from '../support/exposition.ts'
import { oneProvider } from '../support/gateway.ts'
import { json, LiveUpstream } from '../support/scripted-upstream.ts'
import { StreamReader, streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

/** A gateway with an open stream; `run` sends further requests and waits for their end. */
async function busyGateway() {
  const gateway = await watchedGateway()
  const live = new LiveUpstream()
  gateway.upstream.next(live.responder)
  live.push(hello)
  const reader = new StreamReader(await gateway.chat(streamed()))
  await reader.next()
  onTestFinished(async () => {
    live.push(wholeStream)
    await reader.rest()
  })
  const run = async (times: number) => {
    for (let time = 0; time < times; time++) {
      gateway.upstream.next(json(completion()))
      await (await gateway.chat(request)).text()
    }
  }
  const lines = () => gateway.log.filter(({ message }) => message === 'request').length
  return { gateway, run, lines }
}

test('the line of a request is written at once when nothing else runs', async () => {
  const gateway = await watchedGateway()
  gateway.upstream.next(json(completion()))
  await (await gateway.chat(request)).text()
  expect(gateway.log.filter(({ message }) => message === 'request')).toHaveLength(1)
  expect(gateway.clock.pending).toBe(0)
})

test('a host can send the response before the line is written', async () => {
  const tasks: (() => void)[] = []
  const gateway = await watchedGateway(oneProvider, { afterTurn: (run) => tasks.push(run) })
  gateway.upstream.next(json(completion()))
  await (await gateway.chat(request)).text()
  expect(gateway.log).toEqual([])
  for (const run of tasks) run()
  expect(gateway.log.map(({ message }) => message)).toEqual(['request'])
})

test('the line of a request is written within 10 ms while others run', async () => {
  const { gateway, run, lines } = await busyGateway()
  await run(1)
  await gateway.clock.advance(9)
  expect(lines()).toBe(0)
  await gateway.clock.advance(1)
  expect(lines()).toBe(1)
})

test('a full batch of lines is written without waiting for the clock', async () => {
  const { run, lines } = await busyGateway()
  await run(33)
  expect(lines()).toBe(32)
})

test('the metrics count every finished request', async () => {
  const { gateway, run } = await busyGateway()
  await run(3)
  const text = await (await gateway.get('/metrics')).text()
  const counts = samples(text).filter(
    ({ name }) => name === 'gateway_request_duration_seconds_count',
  )
  expect(counts.map(({ value }) => value)).toEqual([3])
})

test('closing the gateway records everything that has finished', async () => {
  const { gateway, run, lines } = await busyGateway()
  await run(2)
  await gateway.gateway.close()
  expect(lines()).toBe(3)
  expect(gateway.clock.pending).toBe(0)
})
