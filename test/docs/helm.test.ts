import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { operations } from '../../scripts/openapi/document.ts'
import { version } from '../../src/index.ts'
import { isInstalled } from '../node/support/daemon.ts'
import { expectToFit, expectToStart, readDeployed as read } from './manifests.ts'

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
  })

  test.skipIf(!hasHelm)('its notes have the address of clients and commands to copy', () => {
    // Helm shows them only after it has reached a cluster.
    const folder = mkdtempSync(join(tmpdir(), 'chart-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    cpSync(`deploy/${chart}`, folder, { recursive: true })
    renameSync(join(folder, 'templates/NOTES.txt'), join(folder, 'notes.txt'))
    writeFileSync(
      join(folder, 'templates/notes.yaml'),
      'notes: {{ tpl (.Files.Get "notes.txt") . | quote }}',
    )
    const render = (...args: readonly string[]) => {
      const { stdout } = helm('template', 'gw', folder, '--show-only=templates/notes.yaml', ...args)
      return parse(stdout).notes
    }
    expect(render()).toContain('http://gw.default.svc/v1\n')
    expect(render()).toContain('deploy/gw -- node /app/dist/gateway.js keys create --config')
    const open = '--set=ingress.enabled=true,ingress.host=llm.example.com,ingress.tlsSecret=tls'
    expect(render(open, '--set=persistence.enabled=false')).toMatch(
      /https:\/\/llm\.example\.com\/v1\n[^]*There is no volume/,
    )
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
