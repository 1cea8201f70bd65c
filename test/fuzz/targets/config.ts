import assert from 'node:assert/strict'
import { parse } from 'smol-toml'
import { editToml } from '../../../adapters/node/config/toml-edit.ts'
import { CommandFailure } from '../../../adapters/node/failures/command-failure.ts'
import { convertLitellm } from '../../../adapters/node/import/litellm.ts'
import { loadConfig, renderProblem } from '../../../src/config/index.ts'
import { kinds } from '../../../src/providers/index.ts'
import { isObject, tryParseJson } from '../../../src/wire/json/parse.ts'
import { attempt, textTarget } from '../target.ts'

const toml = {
  seeds: [
    '[[providers]]\nname = "p"\nkind = "openai"\napi_key_env = "KEY"\n[[providers.models]]\nid = "m"\n',
    '[server]\nport = 8080 # comment\r\ncors_origins = ["https://a.test"]\n',
    'providers = [{ name = "p", kind = "vllm", base_url = "http://a/v1", models = [{ id = "m" }] }]',
    '[[routes]]\nid = "r"\nstrategy = "weighted"\ntargets = [{ model = "m", weight = 2 }]\n',
  ],
  words: [
    '[[providers]]\n',
    '[[providers.models]]\n',
    '[server]\n',
    '[auth]\n',
    '\nname = ',
    '\nkind = "bedrock"\n',
    '\nbase_url = "',
    '\nfallbacks = ["m"]\n',
    '\nprices."a.b" = 1\n',
    '{ ',
    ' }',
    '[',
    ']',
    '"""',
    "'",
    '\\u0000',
    'nan',
    '-inf',
    '1e400',
    '9223372036854775808',
    '1979-05-27T07:32:00Z',
    '__proto__',
    '\uFEFF',
    '# ',
    '\r\n',
  ],
}

/** A file is accepted, or refused with at least one problem that has a message and a place. */
export const config = textTarget({
  ...toml,
  async check(text) {
    const result = await loadConfig({ text, env: {}, kinds })
    if (result.ok) return
    assert.ok(result.problems.length > 0)
    for (const problem of result.problems) {
      assert.notEqual(problem.message, '')
      assert.match(renderProblem(problem), /\S: \S/)
      const lines = text.split(/\r\n|\n|\r/).length
      assert.ok(problem.line === undefined || (problem.line >= 1 && problem.line <= lines))
    }
  },
})

/** An edited file has the new value, and otherwise the same values; every line outside stays. */
export const tomlEdit = textTarget({
  ...toml,
  async check(text) {
    const before = parseToml(text)
    if (before === undefined) return
    for (const [path, table] of listTables(before)) {
      const changes = ['id', 'cost'].map((key) => ({ table: path, key, value: '7.5' }))
      const edited = await editToml(text, changes)
      if (edited === undefined) continue
      Object.assign(table, { id: 7.5, cost: 7.5 })
      assert.deepEqual(parse(edited), before)
      return
    }
  },
})

function parseToml(text: string): Record<string, unknown> | undefined {
  const parsed = attempt(
    () => parse(text),
    (error) => error instanceof Error,
  )
  return 'value' in parsed ? parsed.value : undefined
}

/** Lists the tables in arrays of tables, which `gateway prices` edits. */
function* listTables(
  value: unknown,
  path: readonly (string | number)[] = [],
): Generator<[readonly (string | number)[], object]> {
  if (!isObject(value) && !Array.isArray(value)) return
  if (isObject(value) && typeof path.at(-1) === 'number') yield [path, value]
  for (const [key, member] of Object.entries(value)) {
    yield* listTables(member, [...path, Array.isArray(value) ? Number(key) : key])
  }
}

/** The parameters of LiteLLM that are secrets. */
function isSecret(key: string): boolean {
  return key === 'api_key' || key === 'vertex_credentials' || key === 'master_key'
}

/** A document is converted to TOML, or refused with a message. No key of it is copied. */
export const litellm = textTarget({
  seeds: [
    '{"model_list":[{"model_name":"a","litellm_params":{"model":"groq/x","api_key":"sk-secret-1"}}]}',
    '{"model_list":[{"model_name":"a","litellm_params":{"model":"azure/x","api_key":"os.environ/K","api_base":"https://a"},"model_info":{"mode":"rerank","input_cost_per_token":1e-6}}],"router_settings":{"fallbacks":[{"a":["b"]}],"num_retries":2}}',
    '{"model_list":[{"model_name":"a","litellm_params":{"model":"gpt-x"}},{"model_name":"a","litellm_params":{"model":"gpt-y"}}],"litellm_settings":{}}',
  ],
  words: [
    '"model_name":',
    '"litellm_params":',
    '"api_key":"sk-secret-1"',
    '"vertex_credentials":"secret"',
    '"general_settings":{"master_key":"secret"}',
    '"fallbacks":[{"a":["a"]}]',
    '"*"',
    'os.environ/',
    '"\\ud800"',
    '"\\u007f"',
    '"\\u0000"',
    '"__proto__":',
    'null',
    '1e400',
    '1e-400',
    '{}',
    '[]',
  ],
  check(text) {
    const document = tryParseJson(text)
    const converted = attempt(
      () => convertLitellm(document, { name: 'config.yaml', env: {} }),
      (error) => error instanceof CommandFailure && error.message !== '',
    )
    if (!('value' in converted)) return
    const { left, next, toml: written } = converted.value
    assert.ok(isObject(parse(written)))
    const elsewhere = JSON.stringify(document, (key, value) => (isSecret(key) ? '' : value))
    if (!elsewhere?.includes('secret')) {
      assert.doesNotMatch([written, ...left, ...next].join(), /secret/)
    }
  },
})
