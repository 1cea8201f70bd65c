import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/index.ts'
import { renderProblem } from '../../src/config/problem.ts'
import { kinds } from '../../src/providers/index.ts'

/** Returns the problems of a file with these settings of a provider and of its model. */
async function check(kind: string, provider: string, model = ''): Promise<readonly string[]> {
  const text = `[[providers]]
name = "p"
kind = "${kind}"
base_url = "http://gpu/v1"
${provider}
[[providers.models]]
id = "m"
${model}`
  const result = await loadConfig({ text, env: {}, kinds })
  return result.ok ? [] : result.problems.map(renderProblem)
}

describe('the setting profile', () => {
  test('is the name of a row, or none, or a table', async () => {
    expect(await check('openai', 'profile = "deepseek"', 'profile = "none"')).toEqual([])
    expect(
      await check('vllm', '[providers.profile]\nstream_end = "finish"\nextra_body = { a = 1 }'),
    ).toEqual([])
  })

  test('must name a profile that exists', async () => {
    expect(await check('openai', 'profile = "deepsek"')).toEqual([
      'providers[0].profile (line 5): no profile has the name "deepsek"; did you mean "deepseek"?',
    ])
    expect(await check('openai', '', '[providers.models.profile]\nbase = "kimmi"')).toEqual([
      'providers[0].models[0].profile.base (line 9): no profile has the name "kimmi"; did you mean "kimi"?',
    ])
  })

  test('is refused for kinds with an API of their own', async () => {
    expect(await check('anthropic', 'profile = "claude"')).toEqual([
      'providers[0].profile (line 5): kind "anthropic" does not have this setting',
    ])
  })

  test('is a table of known fields and values', async () => {
    expect(await check('openai', '[providers.profile]\nstream_ends = "done"')).toEqual([
      'providers[0].profile.stream_ends (line 6): unknown setting; did you mean "stream_end"?',
    ])
    expect(await check('openai', '[providers.profile]\nstream_end = "never"')).toEqual([
      'providers[0].profile.stream_end (line 6): must be "finish" or "done"',
    ])
    expect(await check('openai', '[providers.profile]\nextra_body = { model = "x" }')).toEqual([
      'providers[0].profile.extra_body (line 6): must not name model, messages or stream',
    ])
  })
})
