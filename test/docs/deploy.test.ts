import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { nodeMetrics } from '../../adapters/node/ports/metrics.ts'
import { version } from '../../src/index.ts'
import { seriesTable } from '../../src/metrics/table.ts'
import { isInstalled } from '../node/support/daemon.ts'
import {
  expectToFit,
  expectToStart,
  isServed,
  readDeployed as read,
  secondsToStop,
} from './manifests.ts'
import { blocksOf } from './shell.ts'

/*
 * The files of deploy/, against what the gateway really serves and accepts.
 */

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

describe('the Kubernetes manifest', () => {
  test('its objects fit together', async () => {
    await expectToFit(read('kubernetes/gateway.yaml'))
  })

  test('it names the image of this version', () => {
    expect(read('kubernetes/gateway.yaml')).toContain(`/model-gateway:${version}\n`)
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
