import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { Ajv } from 'ajv'
import { parse as parseToml } from 'smol-toml'
import { expect } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { operations } from '../../scripts/openapi/document.ts'
import { checkConfig } from '../../src/index.ts'
import { masterKey } from '../support/keyed-gateway.ts'

/** Reads a file of deploy/. */
export const readDeployed = (path: string) => readFileSync(`deploy/${path}`, 'utf8')

const isValid = new Ajv({ strictTypes: false }).compile(
  JSON.parse(readFileSync('gateway.schema.json', 'utf8')),
)

/** Checks a configuration as a start would, with a credential for each variable that it names. */
export async function expectToStart(text: string): Promise<void> {
  isValid(parseToml(text))
  expect(isValid.errors).toBeNull()
  const names = [...text.matchAll(/api_key_env = "(\w+)"/g)].map(([, name = '']) => name)
  const env = Object.fromEntries(names.map((name) => [name, `key-of-${name}`]))
  const verdict = await checkConfig(text, { ...env, GATEWAY_MASTER_KEY: masterKey })
  expect(verdict).toMatchObject({ ok: true, startProblems: [], overview: { warnings: [] } })
}

/** The seconds that a supervisor must allow: the delay before the drain, and 30 s for requests. */
export function secondsToStop(text: string): number {
  const { server } = parseToml(text) as { server?: { drain_delay_ms?: number } }
  return (server?.drain_delay_ms ?? 0) / 1000 + 30
}

export function isServed(path: string): boolean {
  return operations[path]?.['get'] !== undefined
}

/** Checks the Deployment of a list of manifests together with the objects that it names. */
export async function expectToFit(manifests: string): Promise<void> {
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
