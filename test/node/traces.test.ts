import { afterEach, describe, expect, test, vi } from 'vitest'
import { nodeTraces } from '../../adapters/node/ports/traces.ts'
import type { Environment, Gateway, Log } from '../../src/index.ts'
import { completion, data, done, hello, role, wholeStream } from '../support/answers.ts'
import type { LogLine } from '../support/gateway.ts'
import { type Collector, type ExportedSpan, startCollector } from './support/collector.ts'
import { chat, gatewayOver } from './support/gateway-over.ts'
import { testProxy } from './support/proxy.ts'
import { httpServer, tcpServer, timed } from './support/servers.ts'
import { upstream } from './support/upstream.ts'

const canaries = {
  prompt: 'canary-prompt-93af',
  answer: 'canary-answer-51bc',
  secret: 'sk-canary-secret-77de',
  metadata: 'canary-header-08ce',
}

/** The trace and the span in which the client sends its request. */
const parent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const traceparent = `00-${parent.traceId}-${parent.spanId}-01`

interface Vendor {
  readonly url: string
  readonly headers: Readonly<Record<string, unknown>>[]
}

/** A vendor that plays these answers; a text is a stream. */
async function vendor(...answers: readonly (number | object | string)[]): Promise<Vendor> {
  const headers: Vendor['headers'] = []
  const left = [...answers]
  const { url } = await httpServer((incoming, response) => {
    headers.push(incoming.headers)
    incoming.resume()
    incoming.on('end', () => {
      const answer = left.shift() ?? completion(canaries.answer)
      if (typeof answer === 'string') {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        return response.end(answer)
      }
      const status = typeof answer === 'number' ? answer : 200
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer))
    })
  })
  return { url, headers }
}

interface Tracing {
  readonly gateway: Gateway
  readonly log: LogLine[]
}

interface TracingOptions {
  readonly settings?: string
  readonly env?: Environment
  readonly provider?: string
}

async function tracing({ url }: Vendor, options: TracingOptions): Promise<Tracing> {
  const { settings = '', env = {}, provider = '' } = options
  const log: LogLine[] = []
  const readFile = () => Promise.reject(new Error('no such file'))
  const gateway = await gatewayOver(
    `
    [telemetry]
    ${settings}
    [resilience]
    retry_base_ms = 1
    [[providers]]
    name = "p"
    kind = "openai"
    api_key_env = "P_KEY"
    base_url = "${url}"
    ${provider}
    models = [{ id = "m", upstream_id = "upstream-m" }]
    `,
    {
      env: { P_KEY: canaries.secret, ...env },
      log: () => arrayLog(log),
      traces: nodeTraces({ env, send: upstream(env).send, readFile }),
    },
  )
  return { gateway, log }
}

function arrayLog(lines: LogLine[]): Log {
  return {
    enabled: () => true,
    write: (level, message, fields = {}) => void lines.push({ level, message, fields }),
  }
}

const exportTo = ({ url }: Collector) => `otlp_endpoint = "${url}"`

/** Sends a request whose every part holds a canary. */
async function ask(gateway: Gateway, fields: object = {}, headers: object = {}): Promise<string> {
  const messages = [{ role: 'user', content: canaries.prompt }]
  const marked = { authorization: `Bearer ${canaries.secret}`, 'x-custom': canaries.metadata }
  const response = await chat(
    gateway,
    { messages, ...fields },
    { headers: { ...marked, ...headers } },
  )
  return response.text()
}

const byKind = (spans: readonly ExportedSpan[], kind: ExportedSpan['kind']) =>
  spans.filter((span) => span.kind === kind)

/** Ends the gateway, which exports what is left. */
async function exported({ gateway }: Tracing, collector: Collector) {
  await gateway.close()
  return { server: byKind(collector.spans, 'SERVER'), client: byKind(collector.spans, 'CLIENT') }
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('the spans of a request', () => {
  test('continue the trace of the client, and the upstream gets that of its call', async () => {
    const collector = await startCollector()
    const { url, headers } = await vendor()
    const host = await tracing({ url, headers }, { settings: exportTo(collector) })
    await ask(host.gateway, {}, { traceparent, tracestate: 'vendor=1' })
    const { server, client } = await exported(host, collector)
    expect(server).toMatchObject([
      {
        name: 'POST /v1/chat/completions',
        traceId: parent.traceId,
        parentSpanId: parent.spanId,
        traceState: 'vendor=1',
        isError: false,
        resource: { 'service.name': 'model-gateway' },
      },
    ])
    expect(client).toMatchObject([
      {
        name: 'chat upstream-m',
        traceId: parent.traceId,
        parentSpanId: server[0]?.spanId,
        attributes: { 'server.address': '127.0.0.1', 'server.port': Number(new URL(url).port) },
      },
    ])
    expect(headers).toMatchObject([
      {
        traceparent: `00-${parent.traceId}-${client[0]?.spanId}-01`,
        tracestate: 'vendor=1',
      },
    ])
  })

  test.each(['nonsense', '00-0-0-01', `ff-${parent.traceId}-${parent.spanId}-01`, ''])(
    'begin a trace of their own under the header %j',
    async (malformed) => {
      const collector = await startCollector()
      const host = await tracing(await vendor(), { settings: exportTo(collector) })
      await ask(host.gateway, {}, { traceparent: malformed })
      const { server } = await exported(host, collector)
      expect(server).toMatchObject([{ parentSpanId: '' }])
      expect(server[0]?.traceId).not.toBe(parent.traceId)
    },
  )

  test('name every attempt of a retry, and the stream lasts as long as its request', async () => {
    const collector = await startCollector()
    const host = await tracing(await vendor(503, wholeStream), { settings: exportTo(collector) })
    await ask(host.gateway, { stream: true })
    const { server, client } = await exported(host, collector)
    expect(client).toMatchObject([
      { isError: true, attributes: { 'http.response.status_code': 503, 'error.type': '503' } },
      { isError: false, attributes: { 'http.request.resend_count': 1 } },
    ])
    expect(client[1]?.duration).toBeLessThanOrEqual(server[0]?.duration ?? 0)
    expect(server).toMatchObject([{ attributes: { 'gen_ai.request.stream': true } }])
  })

  test.each(['http/protobuf', 'http/json'])(
    'never hold content or keys, as %s',
    async (protocol) => {
      const collector = await startCollector()
      const echo = { error: { message: `${canaries.prompt} ${canaries.secret}`, code: 'bad' } }
      const broken = role + hello + data(echo) + done
      const answers = [500, completion(canaries.answer), wholeStream, broken, echo]
      const host = await tracing(await vendor(...answers), {
        settings: exportTo(collector),
        env: { OTEL_EXPORTER_OTLP_PROTOCOL: protocol },
      })
      await ask(host.gateway)
      await ask(host.gateway, { stream: true })
      await ask(host.gateway, { stream: true })
      await ask(host.gateway, { user: canaries.metadata })
      await ask(host.gateway, { model: canaries.prompt })
      await host.gateway.close()
      expect(byKind(collector.spans, 'SERVER')).toHaveLength(5)
      for (const canary of Object.values(canaries)) expect(collector.text).not.toContain(canary)
    },
  )
})

describe('sampling', () => {
  test('a ratio of 0 records no new trace, and the upstream gets a header that says so', async () => {
    const collector = await startCollector()
    const { url, headers } = await vendor()
    const settings = `${exportTo(collector)}\ntrace_sample_ratio = 0`
    const host = await tracing({ url, headers }, { settings })
    await ask(host.gateway)
    await host.gateway.close()
    expect(collector.spans).toEqual([])
    expect(headers[0]?.['traceparent']).toMatch(/-00$/)
  })

  test('a client that samples its trace is followed, and so is one that does not', async () => {
    const collector = await startCollector()
    const settings = `${exportTo(collector)}\ntrace_sample_ratio = 0`
    const sampled = await tracing(await vendor(), { settings })
    await ask(sampled.gateway, {}, { traceparent })
    const always = await tracing(await vendor(), { settings: exportTo(collector) })
    await ask(always.gateway, {}, { traceparent: traceparent.replace(/01$/, '00') })
    const { server } = await exported(sampled, collector)
    await always.gateway.close()
    expect(collector.spans).toHaveLength(2)
    expect(server).toHaveLength(1)
  })
})

describe('the variables of OpenTelemetry', () => {
  test('name the collector, its headers and the service', async () => {
    vi.stubEnv('OTEL_SERVICE_NAME', 'llm-edge')
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=test')
    const collector = await startCollector()
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/otlp/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20abc,x-scope=1',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-scope=2',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    }
    const host = await tracing(await vendor(), { env })
    await ask(host.gateway)
    const { server } = await exported(host, collector)
    expect(collector.requests).toMatchObject([
      {
        path: '/otlp/v1/traces',
        headers: {
          authorization: 'Basic abc',
          'x-scope': '2',
          'content-type': 'application/x-protobuf',
          'content-encoding': 'gzip',
        },
      },
    ])
    expect(server).toMatchObject([
      { resource: { 'service.name': 'llm-edge', 'deployment.environment.name': 'test' } },
    ])
  })

  test('an address for traces alone is used as it is, and the setting wins over both', async () => {
    const collector = await startCollector()
    const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = `${collector.url}/own`
    const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:1'
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT }
    const byVariable = await tracing(await vendor(), { env })
    await ask(byVariable.gateway)
    await byVariable.gateway.close()
    const bySetting = await tracing(await vendor(), { env, settings: exportTo(collector) })
    await ask(bySetting.gateway)
    await bySetting.gateway.close()
    expect(collector.requests.map(({ path }) => path)).toEqual(['/own', '/v1/traces'])
  })

  test.each([
    ['OTEL_SDK_DISABLED', 'true'],
    ['OTEL_TRACES_EXPORTER', 'none'],
  ])('%s=%s turns traces off', async (name, value) => {
    const collector = await startCollector()
    const { url, headers } = await vendor()
    const settings = exportTo(collector)
    const host = await tracing({ url, headers }, { settings, env: { [name]: value } })
    await ask(host.gateway, {}, { traceparent })
    await host.gateway.close()
    expect(collector.requests).toEqual([])
    expect(headers[0]).not.toHaveProperty('traceparent')
  })

  test('an address that is not a URL is reported by its name, and the gateway serves', async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }
    const { gateway, log } = await tracing(await vendor(), { env })
    expect(log).toContainEqual({
      level: 'error',
      message: 'traces are off: the endpoint must be an http or https URL',
      fields: { name: 'OTEL_EXPORTER_OTLP_ENDPOINT' },
    })
    expect(await ask(gateway)).toContain(canaries.answer)
  })

  test('a protocol that the gateway does not speak is reported', async () => {
    const collector = await startCollector()
    const env = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }
    const { log } = await tracing(await vendor(), { env, settings: exportTo(collector) })
    expect(log).toContainEqual({
      level: 'warn',
      message: 'OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json',
      fields: { used: 'http/protobuf' },
    })
  })

  test('a certificate that cannot be read turns traces off', async () => {
    const collector = await startCollector()
    const env = { OTEL_EXPORTER_OTLP_CERTIFICATE: '/nowhere.pem' }
    const host = await tracing(await vendor(), { env, settings: exportTo(collector) })
    expect(host.log.map(({ message }) => message).join()).toContain('cannot be read')
    await ask(host.gateway)
    await host.gateway.close()
    expect(collector.requests).toEqual([])
  })
})

describe('the collector', () => {
  test('is called through the proxy of the host', async () => {
    const proxy = await testProxy()
    const collector = await startCollector()
    const endpoint = `http://collector.test:${collector.port}`
    const env = { HTTP_PROXY: proxy.url }
    const host = await tracing(await vendor(), { env, settings: `otlp_endpoint = "${endpoint}"` })
    await ask(host.gateway)
    await host.gateway.close()
    expect(proxy.asked).toEqual([`POST ${endpoint}/v1/traces`])
    expect(collector.spans).toHaveLength(2)
  })

  test('that is overloaded gets the same spans again', async () => {
    vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '10')
    const collector = await startCollector([503])
    const host = await tracing(await vendor(), { settings: exportTo(collector) })
    await ask(host.gateway)
    expect(await collector.waitFor(2)).toHaveLength(2)
    expect(collector.requests).toHaveLength(2)
    expect(host.log.filter(({ level }) => level === 'warn')).toEqual([])
  })

  test('that refuses spans is reported once, with their number', async () => {
    vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '10')
    const collector = await startCollector([400, 400])
    const host = await tracing(await vendor(), { settings: exportTo(collector) })
    for (const count of [1, 2]) {
      await ask(host.gateway)
      await expect.poll(() => collector.requests.length).toBe(count)
    }
    const warnings = () => host.log.filter(({ level }) => level === 'warn')
    await expect.poll(warnings).toEqual([
      {
        level: 'warn',
        message: 'spans are lost: the collector of traces does not take them',
        fields: { collector: new URL(collector.url).host, reason: 'status 400', spans: 2 },
      },
    ])
  })

  test('that is down delays neither a request nor the end of the gateway', async () => {
    const { gateway, log } = await tracing(await vendor(), {
      settings: 'otlp_endpoint = "http://127.0.0.1:1"',
    })
    expect(await ask(gateway)).toContain(canaries.answer)
    expect(await timed(gateway.close())).toBeLessThan(2_000)
    expect(log.at(-1)).toMatchObject({
      level: 'warn',
      fields: { reason: 'ECONNREFUSED', spans: 2 },
    })
  })

  test('that never answers is given up at the deadline of the gateway', async () => {
    const silent = await tcpServer(() => {})
    const { gateway } = await tracing(await vendor(), {
      settings: `otlp_endpoint = "${silent.url}"`,
    })
    await ask(gateway)
    expect(await timed(gateway.close(300))).toBeLessThan(2_000)
  })
})
