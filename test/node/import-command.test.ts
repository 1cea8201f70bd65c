import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkConfig } from '../../src/index.ts'
import { runCommand } from './support/cli.ts'

const yaml = `
model_list:
  - model_name: smart
    litellm_params:
      model: anthropic/claude-sonnet-4-5
      api_key: os.environ/ANTHROPIC_API_KEY
      rpm: 10
    model_info:
      supports_vision: true
      input_cost_per_token: 0.000003
      output_cost_per_token: 1.5e-05
      max_output_tokens: 64000
  - model_name: fast
    litellm_params:
      model: azure/my-deployment
      api_base: https://east.openai.azure.com
      api_version: "2024-10-21"
      api_key: os.environ/AZURE_KEY
  - model_name: fast
    litellm_params:
      model: gpt-4o-mini
      api_key: sk-in-the-file
  - model_name: vectors
    litellm_params: { model: hosted_vllm/BAAI/bge-m3, api_base: http://127.0.0.1:8000/v1 }
    model_info: { mode: embedding }
  - model_name: odd
    litellm_params: { model: sagemaker/x }
router_settings:
  num_retries: 2
  fallbacks: [{ smart: [fast, odd] }]
  routing_strategy: usage-based-routing
general_settings:
  master_key: sk-1234
`

function written(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-import-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'config.yaml')
  writeFileSync(path, text)
  return { folder, path }
}

test('import litellm writes a valid configuration, and lists what it leaves out', async () => {
  const { path } = written(yaml)
  const { code, stdout, stderr } = await runCommand('import', 'litellm', path)
  expect(code).toBe(0)
  expect(stdout).toBe(`# Converted from a configuration of LiteLLM.

[resilience]
retry_max_attempts = 3

[[providers]]
name = "anthropic"
kind = "anthropic"
api_key_env = "ANTHROPIC_API_KEY"

[[providers.models]]
id = "smart"
upstream_id = "claude-sonnet-4-5"
modalities = ["text","image"]
max_output_tokens = 64000
cost_per_1m_input = 3
cost_per_1m_output = 15
fallbacks = ["fast-1","fast-2"]

[[providers]]
name = "azure"
kind = "azure"
api_key_env = "AZURE_KEY"
base_url = "https://east.openai.azure.com"
api_version = "2024-10-21"

[[providers.models]]
id = "fast-1"
upstream_id = "my-deployment"

[[providers]]
name = "openai"
kind = "openai"

[[providers.models]]
id = "fast-2"
upstream_id = "gpt-4o-mini"

[[providers]]
name = "vllm"
kind = "vllm"
base_url = "http://127.0.0.1:8000/v1"

[[providers.models]]
id = "vectors"
upstream_id = "BAAI/bge-m3"
capabilities = ["embed"]

[[routes]]
id = "fast"
strategy = "weighted"
targets = [{ model = "fast-1" }, { model = "fast-2" }]
`)
  expect(stderr.split('\n')).toEqual([
    'not converted:',
    'model_list[0] (smart).litellm_params.rpm',
    'model_list[2] (fast).litellm_params.api_key: put this key into a variable, and name it in api_key_env',
    'model_list[4] (odd): no kind for sagemaker/x',
    'router_settings.routing_strategy: no route has usage-based-routing; "weighted" is written',
    'general_settings',
    '',
  ])
  const verdict = await checkConfig(stdout, {})
  expect(verdict.ok ? [] : verdict.problems).toEqual([])
})

test.each([
  ['simple-shuffle', 'weighted'],
  ['latency-based-routing', 'fastest'],
  ['cost-based-routing', 'cheapest'],
  ['least-busy', 'least_busy'],
])('routing_strategy %s becomes the strategy %s, and weights are kept', async (from, to) => {
  const entry = (name: string, weight: string) =>
    `{ model_name: fast, litellm_params: { model: openai/${name}${weight} } }`
  const text = `
model_list: [${entry('a', ', weight: 3')}, ${entry('b', '')}]
router_settings: { routing_strategy: ${from} }
`
  const { stdout, stderr } = await runCommand('import', 'litellm', written(text).path)
  expect(stderr).toBe('')
  expect(stdout).toContain(`strategy = "${to}"
targets = [{ model = "fast-1", weight = 3 }, { model = "fast-2" }]`)
})

test('no secret of the file is copied or printed', async () => {
  const { stdout, stderr } = await runCommand('import', 'litellm', written(yaml).path)
  expect(stdout + stderr).not.toMatch(/sk-/)
})

test('characters that TOML does not take as they are become escapes', async () => {
  const text = JSON.stringify({
    model_list: [{ model_name: 'a\u007f"\\', litellm_params: { model: 'groq/\ud800' } }],
  })
  const { stdout } = await runCommand('import', 'litellm', written(text).path)
  expect(stdout).toContain('id = "a\\u007f\\"\\\\"\nupstream_id = "\ufffd"')
})

test('--out writes a new file and replaces none', async () => {
  const { folder, path } = written(yaml)
  const out = join(folder, 'config.toml')
  const args = ['import', 'litellm', path, '--out', out]
  expect(await runCommand(...args)).toMatchObject({ code: 0, stdout: `wrote ${out}\n` })
  expect(readFileSync(out, 'utf8')).toMatch(/^# Converted/)
  expect(await runCommand(...args)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/exists/),
  })
})

test.each([
  ['a: [', /config\.yaml: /],
  ['model_list: 5', /model_list: .*expected array/],
])('%j is bad usage', async (text, message) => {
  const { code, stderr } = await runCommand('import', 'litellm', written(text).path)
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(message) })
})

test('a missing file is bad usage', async () => {
  expect(await runCommand('import', 'litellm', 'absent.yaml')).toMatchObject({
    code: 2,
    stderr: 'absent.yaml: no such file\n',
  })
})
