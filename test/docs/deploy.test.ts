import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { Ajv } from 'ajv'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { nodeMetrics } from '../../adapters/node/ports/metrics.ts'
import { operations } from '../../scripts/openapi/document.ts'
import { checkConfig, version } from '../../src/index.ts'
import { seriesTable } from '../../src/metrics/table.ts'
import { isInstalled } from '../node/support/daemon.ts'
import { masterKey } from '../support/keyed-gateway.ts'
import { blocksOf } from './shell.ts'

/*
 * The files of deploy/, against what the gateway really serves and accepts.
 */

const read = (path: string) => readFileSync(`deploy/${path}`, 'utf8')
const isValid = new Ajv({ strictTypes: false }).compile(
  JSON.parse(readFileSync('gateway.schema.json', 'utf8')),
)

/** Checks a configuration as a start would, with a credential for each variable that it names. */
async function expectToStart(text: string): Promise<void> {
  isValid(parseToml(text))
  expect(isValid.errors).toBeNull()
  const names = [...text.matchAll(/api_key_env = "(\w+)"/g)].map(([, name = '']) => name)
  const env = Object.fromEntries(names.map((name) => [name, `key-of-${name}`]))
  const verdict = await checkConfig(text, { ...env, GATEWAY_MASTER_KEY: masterKey })
  expect(verdict).toMatchObject({ ok: true, startProblems: [], overview: { warnings: [] } })
}

/** The seconds that a supervisor must allow: the delay before the drain, and 30 s for requests. */
function secondsToStop(text: string): number {
  const { server } = parseToml(text) as { server?: { drain_delay_ms?: number } }
  return (server?.drain_delay_ms ?? 0) / 1000 + 30
}

function isServed(path: string): boolean {
  return operations[path]?.['get'] !== undefined
}

describe('the dashboard and the alert rules', () => {
  interface Panel {
    readonly title: string
    readonly targets?: readonly { readonly expr: string }[]
  }
  const board: { panels: Panel[] } = JSON.parse(read('grafana/dashboards/gateway.json'))
  const rules: { groups: { rules: { alert: string; expr: string }[] }[] } = parse(
    read('prometheus/rules.yml'),
  )
  const expressions = [
    ...board.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr])),
    ...rules.groups.flatMap((group) => group.rules.map(({ alert, expr }) => [alert, expr])),
  ]

  /** The labels of every series by its name; of `process_` and `nodejs_` series they are open. */
  async function listSeries(): Promise<Map<string, readonly string[] | undefined>> {
    const exposition = await nodeMetrics().exposition()
    const ofNode = [...exposition.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name)
    const known = new Map<string, readonly string[] | undefined>(
      ofNode.map((name) => [name, undefined]),
    )
    for (const spec of Object.values(seriesTable)) {
      const labels: readonly string[] = 'labelNames' in spec ? spec.labelNames : []
      const suffixes = spec.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      for (const suffix of suffixes) known.set(spec.name + suffix, labels)
    }
    return known
  }

  test.each(expressions)('%s uses series and labels that exist', async (_, expr = '') => {
    const known = await listSeries()
    const used = [...expr.matchAll(/\b((?:gateway|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)]
    expect(used.length + Number(expr.startsWith('up{'))).toBeGreaterThan(0)
    for (const [, name = '', selector = ''] of used) {
      expect([...known.keys()]).toContain(name)
      const labels = [...selector.matchAll(/(\w+)(?==|!=|=~|!~)/g)].map(([, label]) => label)
      const own = known.get(name) ?? []
      expect([...own, 'job', 'instance']).toEqual(expect.arrayContaining(labels))
      const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, by = '']) => by.split(', '))
      expect([...own, 'le', 'job', 'instance']).toEqual(expect.arrayContaining(grouped))
    }
  })

  test('the scrape of compose names its service, and the default path of Prometheus is served', () => {
    const scrape = read('prometheus/prometheus.yml')
    const { services } = parse(read('compose/compose.yaml'))
    const [, host = ''] = /targets: \[(\w+):8080\]/.exec(scrape) ?? []
    expect(Object.keys(services)).toContain(host)
    expect(isServed('/metrics')).toBe(true)
  })

  const hasPromtool = isInstalled('promtool', '--version')
  if (!hasPromtool) console.warn('SKIPPED: promtool is not installed, so no alert rule is tested')

  test.skipIf(!hasPromtool).each([
    ['check', 'rules', 'rules.yml'],
    ['test', 'rules', 'rules.test.yml'],
    ['check', 'config', 'prometheus.yml'],
  ])('promtool %s %s %s', (...args) => {
    const { status, stderr } = spawnSync('promtool', args, { cwd: 'deploy/prometheus' })
    expect(status, String(stderr)).toBe(0)
  })
})

describe('compose', () => {
  const { services, volumes } = parse(read('compose/compose.yaml'))

  test('its files and volumes exist', () => {
    const mounts: string[] = Object.values<{ volumes?: string[] }>(services).flatMap(
      (service) => service.volumes ?? [],
    )
    for (const [from = ''] of mounts.map((mount) => mount.split(':'))) {
      if (from.startsWith('.')) expect(existsSync(resolve('deploy/compose', from)), from).toBe(true)
      else expect(Object.keys(volumes)).toContain(from)
    }
    expect(existsSync(resolve('deploy/compose', services.gateway.build, 'Dockerfile'))).toBe(true)
  })

  test('the gateway has the port and the files of the image, and time to stop', async () => {
    const image = readFileSync('Dockerfile', 'utf8')
    expect(image).toContain('EXPOSE 8080')
    expect(image).toContain('"--config", "/config.toml"')
    expect(services.gateway.ports).toEqual(['127.0.0.1:8080:8080'])
    const config = read('config.toml')
    await expectToStart(config)
    expect(parseToml(config)).toMatchObject({ auth: { db_path: '/data/gateway.db' } })
    expect(parseInt(services.gateway.stop_grace_period, 10)).toBeGreaterThan(secondsToStop(config))
    expect(services.gateway.environment).toHaveProperty('GATEWAY_MASTER_KEY')
  })
})

describe('the image', () => {
  const image = readFileSync('Dockerfile', 'utf8')
  const [malloc = ''] = /MALLOC_\w+=\d+/.exec(image) ?? []

  test('scripts/image.sh starts the gateway with the same options of Node', () => {
    const [, entry = ''] = /^ENTRYPOINT (.+)$/m.exec(image) ?? []
    const [node, ...args]: string[] = JSON.parse(entry)
    const options = args.filter((arg) => arg.startsWith('--'))
    expect(options).not.toEqual([])
    const started = `${[node, ...options].join(' ')} "$work/app/dist/gateway.js" --config`
    expect(readFileSync('scripts/image.sh', 'utf8')).toContain(started)
    expect(spawnSync(process.execPath, [...options, '--eval', '']).status).toBe(0)
  })

  test('scripts/image-build.sh makes its base image where no registry can be reached', () => {
    const bases = new Set(Array.from(image.matchAll(/^FROM (\S+)/gm), ([, name]) => name))
    expect([...bases]).toHaveLength(1)
    const script = readFileSync('scripts/image-build.sh', 'utf8')
    expect(script).toContain(`base=docker.io/library/${[...bases][0]}\n`)
    expect(script).toContain('--format docker')
  })

  test('scripts/image.sh and the systemd unit have its setting of malloc', () => {
    expect(malloc).not.toBe('')
    expect(readFileSync('scripts/image.sh', 'utf8')).toContain(` ${malloc} `)
    const unit = readFileSync('deploy/systemd/gateway.service', 'utf8')
    expect(unit).toContain(`\nEnvironment=${malloc}\n`)
  })
})

/** Checks the Deployment of a list of manifests together with the objects that it names. */
async function expectToFit(manifests: string): Promise<void> {
  const documents = parseAllDocuments(manifests).map((document) => document.toJS())
  const objects = documents.filter((each) => each !== null)
  const find = (kind: string) => objects.find((each) => each.kind === kind)
  const { spec } = find('Deployment').spec.template
  const [container] = spec.containers
  const config: string = find('ConfigMap').data['config.toml']
  await expectToStart(config)
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(secondsToStop(config))
  expect(container.readinessProbe.httpGet.path).toBe('/health/ready')
  expect(container.livenessProbe.httpGet.path).toBe('/health')
  expect(isServed('/health/ready') && isServed('/health')).toBe(true)
  expect(container.ports).toEqual([{ name: 'http', containerPort: 8080 }])
  expect(find('Service').spec.ports[0].targetPort).toBe('http')
  expect(find('Deployment').spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
  // The file and the database are in mounted volumes.
  const mounts: { name: string; mountPath: string }[] = container.volumeMounts
  const volumes: { name: string }[] = spec.volumes
  expect(mounts.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name))
  const paths = mounts.map(({ mountPath }) => mountPath)
  const { auth } = parseToml(config) as { auth?: { db_path: string } }
  expect(paths).toContain(dirname(auth?.db_path ?? ''))
  expect(paths).toContain(dirname(container.args[1]))
  const names = [find('ConfigMap').metadata.name, find('PersistentVolumeClaim').metadata.name]
  expect(spec.volumes[0].configMap.name).toBe(names[0])
  expect(spec.volumes[1].persistentVolumeClaim.claimName).toBe(names[1])
}

describe('the Kubernetes manifest', () => {
  test('its objects fit together', async () => {
    await expectToFit(read('kubernetes/gateway.yaml'))
  })

  test('it names the image of this version', () => {
    expect(read('kubernetes/gateway.yaml')).toContain(`/model-gateway:${version}\n`)
  })
})

interface HelmSchema {
  readonly properties?: Readonly<Record<string, HelmSchema>>
}

/** Returns the tables of the values whose members the schema names, each with its part of the schema. */
function listTables(
  values: Readonly<Record<string, object>>,
  known: Readonly<Record<string, HelmSchema>>,
): (readonly [object, HelmSchema])[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const { [name]: node = {} } = known
    // Those of Kubernetes itself are not ours.
    return node.properties && name !== 'resources' ? [[value, node] as const] : []
  })
}

describe('the Helm chart', () => {
  const chart = 'helm/model-gateway'
  const values = parse(read(`${chart}/values.yaml`))
  const hasHelm = isInstalled('helm', 'version')
  // go install helm.sh/helm/v3/cmd/helm@v3.16.4
  if (!hasHelm) console.warn('SKIPPED: helm is not installed, so the chart is not rendered')

  function helm(...args: readonly string[]) {
    const required = '--set=image.repository=registry.example.com/gateway,existingSecret=keys'
    return spawnSync('helm', [...args, required], { cwd: `deploy/${chart}`, encoding: 'utf8' })
  }

  test('the configuration in its values is valid', async () => {
    await expectToStart(values.config)
  })

  test('it has the version of the gateway', () => {
    expect(parse(read(`${chart}/Chart.yaml`))).toMatchObject({ version, appVersion: version })
  })

  test('its templates use exactly the values that it has', () => {
    const files = readdirSync(`deploy/${chart}/templates`)
    const text = files.map((file) => read(`${chart}/templates/${file}`)).join('')
    const used = [...text.matchAll(/\.Values((?:\.\w+)+)/g)].map(([, path = '']) => path.slice(1))
    for (const path of used) {
      const value = path.split('.').reduce((at, name) => at?.[name], values)
      expect(value, path).toBeDefined()
    }
    const tops = used.map((path) => path.split('.')[0])
    expect(Object.keys(values).toSorted()).toEqual([...new Set(tops)].toSorted())
  })

  test('its schema accepts its values, and has exactly these', () => {
    const schema: HelmSchema = JSON.parse(read(`${chart}/values.schema.json`))
    const accepts = new Ajv({ allowUnionTypes: true }).compile(schema)
    accepts(values)
    expect(accepts.errors).toBeNull()
    const { global: _, ...known } = schema.properties ?? {}
    for (const [part, node] of [[values, { properties: known }], ...listTables(values, known)]) {
      expect(Object.keys(node.properties ?? {}).toSorted()).toEqual(Object.keys(part).toSorted())
    }
  })

  test.each([
    ['a misspelt value', { replica: 2 }],
    ['a misspelt value of a table', { ingress: { hostname: 'llm.example.com' } }],
    ['a number where a text belongs', { image: { tag: 0.1 } }],
    ['a text where a switch belongs', { persistence: { enabled: 'no' } }],
    ['a path without a slash', { ingress: { paths: ['v1'] } }],
  ])('its schema refuses %s', (_, changed) => {
    const accepts = new Ajv({ allowUnionTypes: true }).compile(
      JSON.parse(read(`${chart}/values.schema.json`)),
    )
    expect(accepts({ ...values, ...changed })).toBe(false)
  })

  test('its ingress passes on every route for clients, and none for operators', () => {
    const isPassed = (route: string) =>
      values.ingress.paths.some((path: string) => `${route}/`.startsWith(`${path}/`))
    const routes = Object.entries(operations).map(([path, methods]) => ({
      path,
      isForClients: Object.values(methods).some(({ key }) => key === 'client'),
    }))
    for (const { path, isForClients } of routes) expect(isPassed(path), path).toBe(isForClients)
  })

  test.skipIf(!hasHelm)('it renders an ingress, a disruption budget and notes', () => {
    const { stdout } = helm(
      'template',
      'gateway',
      '.',
      '--set=ingress.enabled=true,ingress.host=llm.example.com,ingress.tlsSecret=tls',
      '--set=podDisruptionBudget.enabled=true',
    )
    const objects = parseAllDocuments(stdout).map((document) => document.toJS())
    const find = (kind: string) => objects.find((each) => each?.kind === kind)
    const { rules, tls } = find('Ingress').spec
    expect(tls).toEqual([{ secretName: 'tls', hosts: ['llm.example.com'] }])
    const [{ backend }] = rules[0].http.paths
    expect(backend.service.name).toBe(find('Service').metadata.name)
    const { matchLabels } = find('PodDisruptionBudget').spec.selector
    expect(find('Deployment').spec.selector.matchLabels).toEqual(matchLabels)
    const { stdout: notes } = helm('install', 'gateway', '.', '--dry-run=client')
    expect(notes).toContain('http://gateway.default.svc/v1')
  })

  test.skipIf(!hasHelm)('a misspelt value is refused', () => {
    const { status, stderr } = helm('template', 'gateway', '.', '--set=replica=2')
    expect(status).toBe(1)
    expect(stderr).toContain('replica')
  })

  test.skipIf(!hasHelm)('it renders objects that fit together', async () => {
    expect(helm('lint', '.', '--strict')).toMatchObject({ status: 0 })
    const { stdout } = helm('template', 'gateway', '.', '--set=serviceMonitor.enabled=true')
    await expectToFit(stdout)
  })

  test.skipIf(!hasHelm)('several replicas on one database are refused', () => {
    const { status, stderr } = helm('template', 'gateway', '.', '--set=replicas=2')
    expect(status).toBe(1)
    expect(stderr).toContain('a database has one gateway')
  })
})

describe('the systemd unit', () => {
  const unit = read('systemd/gateway.service')

  test('it runs commands of the gateway, and leaves time to stop', () => {
    const commands = [...unit.matchAll(/^ExecStart(?:Pre)?=.* (\S+gateway\.js) (.*)$/gm)]
    const config = '--config /etc/gateway/config.toml'
    expect(commands.map(([, , options]) => options)).toEqual([`--check-config ${config}`, config])
    const [, seconds = ''] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? []
    expect(Number(seconds)).toBeGreaterThan(secondsToStop(read('config.toml')))
  })

  test('its script runs commands as the service runs', () => {
    const script = read('systemd/gateway.sh')
    for (const name of [
      'DynamicUser',
      'User',
      'StateDirectory',
      'StateDirectoryMode',
      'WorkingDirectory',
      'EnvironmentFile',
      'UMask',
    ]) {
      const [setting] = new RegExp(`^${name}=.+$`, 'm').exec(unit) ?? []
      expect(script).toContain(`--property=${setting} `)
    }
    const [, command = ''] = /^ExecStart=(.* )--config/m.exec(unit) ?? []
    expect(script).toContain(`  ${command}"$@" --config /etc/gateway/config.toml\n`)
    expect(spawnSync('sh', ['-n', 'deploy/systemd/gateway.sh']).status).toBe(0)
  })

  test('the documented database is in the folder of the service', () => {
    const [, folder] = /^WorkingDirectory=(.+)$/m.exec(unit) ?? []
    const block = blocksOf('docs/deploy.md').find(({ info }) => info === 'toml')
    expect(parseToml(block?.text ?? '')).toEqual({
      auth: { enabled: true, db_path: `${folder}/gateway.db` },
    })
  })

  const hasSystemd = isInstalled('systemd-analyze', '--version')
  if (!hasSystemd) console.warn('SKIPPED: systemd-analyze is not installed, so no unit is verified')

  test.skipIf(!hasSystemd)('systemd-analyze verify', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'unit-')), 'gateway.service')
    writeFileSync(file, unit.replaceAll('/usr/bin/node', process.execPath))
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    expect(stderr.split('\n').filter((line) => line.includes('gateway.service'))).toEqual([])
    expect(status).toBe(0)
  })
})

test.each([
  ['nginx', 'nginx/gateway.conf'],
  ['haproxy', 'haproxy/haproxy.cfg'],
  ['caddyfile', 'caddy/Caddyfile'],
])('the file for %s is the block that is tested behind it', (language, path) => {
  const block = blocksOf('docs/reverse-proxies.md').find(({ info }) => info === language)
  expect(read(path)).toBe(block?.text)
})
