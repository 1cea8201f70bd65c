import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type CloudCredentialPort, checkConfig } from '../../../src/index.ts'

const page = readFileSync(new URL('../../../docs/providers/vertex_ai.md', import.meta.url), 'utf8')

test('the examples of docs/providers/vertex_ai.md are valid and give no warnings', async () => {
  const examples = [...page.matchAll(/^```toml\n([^]*?)^```$/gm)].map(([, text = '']) => text)
  expect(examples).toHaveLength(2)
  for (const example of examples) {
    expect(
      await checkConfig(example, { VERTEX_CREDENTIALS: 'x' }, { cloudCredentials }),
    ).toMatchObject({
      ok: true,
      overview: { warnings: [] },
    })
  }
})

const cloudCredentials: CloudCredentialPort = async () => ({
  kind: 'token',
  value: 'ya29.token',
  origin: 'Google metadata server',
  expiresAt: undefined,
})
