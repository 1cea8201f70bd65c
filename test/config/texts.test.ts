import { describe, expect, test } from 'vitest'
import { listProblems, loadValid } from './support.ts'

const withWebhooks = 'auth.enabled = true\nwebhooks.url = "https://hooks.example.com"\n'

function named(name: string): string {
  const text = JSON.stringify(name)
  return `[[providers]]\nname = ${text}\nkind = "openai"\n[[providers.models]]\nid = ${text}`
}

describe('model ids and provider names must be valid in response headers', () => {
  const rule = 'must be 1 to 256 printable Latin-1 characters, with no space at either end'

  test.each(['x', 'meta-llama/Llama-3.1:free @ 8 B', 'modèle', 'x'.repeat(256)])(
    '%j is allowed',
    async (name) => {
      const { providers } = await loadValid(named(name))
      expect(providers).toMatchObject([{ name, models: [{ id: name }] }])
    },
  )

  test.each(['', ' x', 'x ', 'a\nb', 'a\rb', 'a\tb', '\u0085', '模型', '🙂', 'x'.repeat(257)])(
    '%j is refused',
    async (name) => {
      expect(await listProblems(named(name))).toEqual([
        `providers[0].name (line 2): ${rule}`,
        `providers[0].models[0].id (line 5): ${rule}`,
      ])
    },
  )
})

function keyedBy(variable: string): string {
  const text = JSON.stringify(variable)
  return (
    `${withWebhooks}webhooks.signing_key_env = ${text}\n` +
    `[[providers]]\nname = "a"\nkind = "openai"\napi_key_env = ${text}`
  )
}

describe('api_key_env and signing_key_env are names of variables', () => {
  test.each(['OPENAI_API_KEY', 'my-key.v2', '_key', 'hf_token', 'GATEWAY_MASTER_KEY'])(
    '%s is allowed',
    async (name) => {
      expect((await loadValid(keyedBy(name))).providers[0]?.api_key_env).toBe(name)
    },
  )

  test.each(['', 'A=B', 'A B', 'A\u0000', 'A\n', '2A', 'ProgramFiles(x86)', '{A}', 'clé'])(
    '%j is refused',
    async (name) => {
      const rule =
        'must be the name of an environment variable: letters, digits, "_", "-" and ".", not a digit first'
      expect(await listProblems(keyedBy(name))).toEqual([
        `webhooks.signing_key_env (line 3): ${rule}`,
        `providers[0].api_key_env (line 7): ${rule}`,
      ])
    },
  )

  test.each([
    ['$OPENAI_API_KEY', '$'],
    ['${OPENAI_API_KEY}', '$'],
    ['%OPENAI_API_KEY%', '%'],
    ['env.OPENAI_API_KEY', 'env.'],
    ['os.environ/OPENAI_API_KEY', 'os.environ/'],
  ])('%s is refused: the name alone is meant, without %s', async (name, prefix) => {
    const rule = `must be the name of an environment variable alone, without the ${prefix}`
    expect(await listProblems(keyedBy(name))).toEqual([
      `webhooks.signing_key_env (line 3): ${rule}`,
      `providers[0].api_key_env (line 7): ${rule}`,
    ])
  })

  test.each(['sk-canary', 'gsk_canaryAAAABBBBCCCCDDDD', 'AIzaSyCcanaryAAAABBBBCCCCDDDD'])(
    'a key in place of the name is refused and not repeated: %s',
    async (key) => {
      const [first = '', second = ''] = await listProblems(keyedBy(key))
      expect(first).toContain('not the key')
      expect(second).toContain('not the key')
      expect(first + second).not.toContain('canary')
    },
  )
})

function labelled(...labels: readonly string[]): string {
  return `[telemetry]\nmetadata_labels = ${JSON.stringify(labels)}`
}

describe('metadata labels', () => {
  test.each(['team', '_private', 'Team_2', 'x'.repeat(64)])('%s is allowed', async (label) => {
    expect((await loadValid(labelled(label))).telemetry.metadata_labels).toEqual([label])
  })

  test.each(['', '2nd', 'cost-centre', 'a.b', 'a:b', 'é', 'x'.repeat(65)])(
    '%j is no legal label name',
    async (label) => {
      expect(await listProblems(labelled('team', label))).toEqual([
        'telemetry.metadata_labels[1] (line 2): must be a legal label name: 1 to 64 letters, digits and "_", not a digit first',
      ])
    },
  )

  test.each([
    'capability',
    'model',
    'provider',
    'direction',
    'estimated',
    'status',
    'le',
    '__name__',
  ])('%s is reserved', async (label) => {
    const [problem] = await listProblems(labelled(label))
    expect(problem).toContain('telemetry.metadata_labels[0] (line 2): is reserved')
  })

  test('a metadata label that is listed twice is refused', async () => {
    expect(await listProblems(labelled('team', 'user', 'team'))).toEqual([
      'telemetry.metadata_labels[2] (line 2): is listed twice',
    ])
  })
})
