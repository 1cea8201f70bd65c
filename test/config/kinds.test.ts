import { describe, expect, test } from 'vitest'
import { loadConfig, renderProblem } from '../../src/config/index.ts'
import { kinds } from '../../src/providers/index.ts'
import { listProblems, loadValid } from './support.ts'

function provider(kind: string, lines = '', model = ''): string {
  return `[[providers]]\nname = "a"\nkind = "${kind}"\n${lines}\n[[providers.models]]\nid = "m"\n${model}\n`
}

describe('kind', () => {
  test.each([
    ['opnai', '; did you mean "openai"?'],
    ['OpenAI', '; did you mean "openai"?'],
    ['vertex', '; did you mean "vertex_ai"?'],
    ['gemni', '; did you mean "gemini"?'],
    ['watson', ''],
    ['toString', ''],
  ])('%s is unknown', async (kind, hint) => {
    expect(await listProblems(provider(kind))).toEqual([
      `providers[0].kind (line 3): unknown kind "${kind}"${hint}`,
    ])
  })

  test('an alias is replaced by the name of its kind', async () => {
    const { providers } = await loadValid(provider('gemini'))
    expect(providers[0]?.kind).toBe('google')
  })

  test('the rules of a kind apply under its alias too', async () => {
    expect(await listProblems(provider('gemini', '', 'capabilities = ["rerank"]'))).toEqual([
      'providers[0].models[0].capabilities (line 7): kind "google" serves "chat", "embed", not "rerank"',
    ])
  })
})

describe('base_url', () => {
  test('base_url is required for a kind without a default address', async () => {
    expect(await listProblems(provider('vllm'))).toEqual([
      'providers[0].base_url (line 1): is required: kind "vllm" has no default address',
    ])
    expect(await listProblems(provider('vllm', 'base_url = "http://localhost:8000"'))).toEqual([])
  })

  test('a malformed base_url is not reported as missing as well', async () => {
    expect(await listProblems(provider('vllm', 'base_url = 1'))).toEqual([
      'providers[0].base_url (line 4): must be a string',
    ])
  })

  test.each([
    ['bedrock', 'us-east-1'],
    ['bedrock', 'us-gov-west-1'],
    ['vertex_ai', 'europe-west4'],
    ['vertex_ai', 'global'],
  ])('base_url may be a bare region of %s: %s', async (kind, region) => {
    const { providers } = await loadValid(provider(kind, `base_url = "${region}"`))
    expect(providers[0]?.base_url).toBe(region)
  })

  test('base_url may be a URL for a kind that accepts regions', async () => {
    expect(await listProblems(provider('bedrock', 'base_url = "http://localhost:4566"'))).toEqual(
      [],
    )
  })

  test.each(['us east', 'us_east_1', 'bedrock.example.com'])(
    'base_url may not be %s',
    async (region) => {
      expect(await listProblems(provider('bedrock', `base_url = "${region}"`))).toEqual([
        'providers[0].base_url (line 4): must be an http or https URL',
      ])
    },
  )

  test('base_url may not be a region for other kinds', async () => {
    expect(await listProblems(provider('vllm', 'base_url = "us-east-1"'))).toEqual([
      'providers[0].base_url (line 4): must be an http or https URL',
    ])
  })
})

describe('health_path', () => {
  test.each(['/health', '/', '/v1/ready?deep=1'])('health_path may be %s', async (path) => {
    const lines = `base_url = "http://a.test/v1"\nhealth_path = "${path}"`
    expect((await loadValid(provider('vllm', lines))).providers[0]?.health_path).toBe(path)
  })

  test.each([
    '',
    'health',
    '//other.test/health',
    '/\\\\other.test',
    '/a b',
    '/a#b',
    'http://a.test/',
  ])('%j is refused', async (path) => {
    const lines = `base_url = "http://a.test/v1"\nhealth_path = "${path}"`
    expect(await listProblems(provider('vllm', lines))).toEqual([
      'providers[0].health_path (line 5): must be a path that begins with one "/", of visible ASCII characters without "#"',
    ])
  })

  test('health_path needs a base_url', async () => {
    expect(await listProblems(provider('openai', 'health_path = "/health"'))).toEqual([
      'providers[0].health_path (line 4): needs a base_url: the built-in addresses of vendors are not probed',
    ])
  })
})

describe('settings of one kind', () => {
  test.each(['', ' ', '2024-10-21 ', ' 2024-10-21', '2024-10-21&x=1'])(
    'an api_version of %j is no version',
    async (version) => {
      const line = `base_url = "https://x.openai.azure.com"\napi_version = "${version}"`
      expect(await listProblems(provider('azure', line))).toEqual([
        expect.stringMatching(/^providers\[0\]\.api_version .*: must be one or more letters/),
      ])
    },
  )

  test('api_version is refused for a kind that does not have it', async () => {
    expect(await listProblems(provider('openai', 'api_version = "2024-10-21"'))).toEqual([
      'providers[0].api_version (line 4): kind "openai" does not have this setting',
    ])
  })

  test.each(['latency_ms = 0', 'tokens_per_second = 0', 'failure_rate = 0'])(
    '%s is refused outside of demo, and accepted there',
    async (line) => {
      const [setting] = line.split(' ')
      expect(await listProblems(provider('openai', line))).toEqual([
        `providers[0].${setting} (line 4): kind "openai" does not have this setting`,
      ])
      expect(await listProblems(provider('demo', line))).toEqual([])
    },
  )

  test.each(['true', 'false', '"auto"'])(
    'stream_usage = %s is refused outside of the kinds that speak the OpenAI format',
    async (value) => {
      const line = `stream_usage = ${value}`
      expect(await listProblems(provider('bedrock', line))).toEqual([
        'providers[0].stream_usage (line 4): kind "bedrock" does not have this setting',
      ])
      expect(await listProblems(provider('openai', line))).toEqual([])
    },
  )

  test('remote_images is refused for any kind but those of Google', async () => {
    const line = 'remote_images = true'
    expect(await listProblems(provider('openai', line))).toEqual([
      'providers[0].remote_images (line 4): kind "openai" does not have this setting',
    ])
    expect(await listProblems(provider('google', line))).toEqual([])
  })

  test('stream_usage accepts nothing but true, false and auto', async () => {
    expect(await listProblems(provider('openai', 'stream_usage = "yes"'))).toEqual([
      'providers[0].stream_usage (line 4): must be true, false or "auto"',
    ])
  })

  test('an unknown kind causes no second problem about its settings', async () => {
    expect(await listProblems(provider('watson', 'api_version = "1"'))).toEqual([
      'providers[0].kind (line 3): unknown kind "watson"',
    ])
  })
})

describe('capabilities', () => {
  test('a model may declare only what its kind serves', async () => {
    const file = provider('jina', '', 'capabilities = ["rerank", "chat", "embed"]')
    expect(await listProblems(file)).toEqual([
      'providers[0].models[0].capabilities (line 7): kind "jina" serves "embed", "rerank", not "chat"',
    ])
  })

  test('the default capabilities are checked like declared ones, at the line of the model', async () => {
    expect(await listProblems(provider('jina'))).toEqual([
      'providers[0].models[0].capabilities (line 5): kind "jina" serves "embed", "rerank", not "chat"',
    ])
  })

  test('a malformed list of capabilities is reported once', async () => {
    const file = provider('openai', '', 'capabilities = ["rerank", "chta"]')
    expect(await listProblems(file)).toEqual([
      'providers[0].models[0].capabilities[1] (line 7): must be "chat", "embed", "rerank", or "decisions"; did you mean "chat"?',
    ])
  })

  test('embed needs a base_url on a kind without an embeddings API', async () => {
    const embed = 'capabilities = ["chat", "embed"]'
    expect(await listProblems(provider('groq', '', embed))).toEqual([
      'providers[0].models[0].capabilities (line 7): kind "groq" has no embeddings API: "embed" needs the base_url of a server that has one',
    ])
    expect(await listProblems(provider('groq', 'base_url = "http://localhost:1"', embed))).toEqual(
      [],
    )
    expect(await listProblems(provider('groq'))).toEqual([])
  })
})

describe('input_type', () => {
  const embed = (kind: string, upstreamId: string, type: string) =>
    provider(
      kind,
      '',
      `upstream_id = "${upstreamId}"\ncapabilities = ["embed"]\ninput_type = "${type}"`,
    )

  test.each([
    ['cohere', 'embed-v4.0'],
    ['bedrock', 'cohere.embed-english-v3'],
  ])('is checked for models of Cohere on %s', async (kind, upstreamId) => {
    const words =
      '"search_document", "search_query", "classification", "clustering", "document", "query"'
    expect(await listProblems(embed(kind, upstreamId, 'clusterin'), {}, kinds)).toEqual([
      `providers[0].models[0].input_type (line 9): must be one of ${words}; did you mean "clustering"?`,
    ])
    expect(await listProblems(embed(kind, upstreamId, 'query'), {}, kinds)).toEqual([])
  })

  test.each([
    ['bedrock', 'amazon.nova-2-multimodal-embeddings-v1:0'],
    ['jina', 'jina-embeddings-v3'],
  ])('may be any text for other models, such as those of %s', async (kind, upstreamId) => {
    expect(await listProblems(embed(kind, upstreamId, 'TEXT_RETRIEVAL'), {}, kinds)).toEqual([])
  })
})

describe('decisions', () => {
  const problemsOf = async (kind: string, model: string) => {
    const base = 'base_url = "https://a.test/v1"'
    const result = await loadConfig({ text: provider(kind, base, model), env: {}, kinds })
    return result.ok ? [] : result.problems.map(renderProblem)
  }

  test.each(
    kinds.map(({ name, capabilities }) => [name, capabilities.includes('decisions')] as const),
  )('the settings of %s are refused unless it serves decisions: %s', async (kind, serves) => {
    const chat = kinds.find(({ name }) => name === kind)?.capabilities[0]
    for (const line of ['decisions = "openai"', 'decisions_path = "/v1/systemone"']) {
      const [setting] = line.split(' ')
      const problem = `providers[0].models[0].${setting} (line 8): kind "${kind}" does not have this setting`
      const model = `capabilities = ["${chat}"]\n${line}`
      expect(await problemsOf(kind, model)).toEqual(serves ? [] : [problem])
    }
  })

  test('the capability is refused for a kind without it', async () => {
    expect(await problemsOf('anthropic', 'capabilities = ["decisions"]')).toEqual([
      'providers[0].models[0].capabilities (line 7): kind "anthropic" serves "chat", not "decisions"',
    ])
  })

  test('another form, and a path that is none, are refused', async () => {
    const [form = ''] = await problemsOf('vllm', 'decisions = "typsafe"')
    expect(form).toContain('models[0].decisions')
    for (const path of ['systemone', '//other.test/v1', 'https://other.test/v1', '/a b']) {
      const [problem = ''] = await problemsOf('vllm', `decisions_path = "${path}"`)
      expect(problem, path).toContain('must be a path that begins with one "/"')
    }
  })

  test('the names that decide the form cannot be set in a body', async () => {
    for (const name of ['state', 'questions', 'images', 'assets']) {
      const body = `capabilities = ["decisions"]\nbody = { drop = ["${name}"] }`
      const [problem = ''] = await problemsOf('typesafe', body)
      expect(problem, name).toContain('cannot be changed')
    }
  })
})
